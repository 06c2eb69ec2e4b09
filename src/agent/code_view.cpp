#include "agent/code_view.h"

#include "agent/paging.h"
#include "recover/recover.h"

#include <map>

namespace asmevo::agent {
namespace {

/// Windows whose instructions are items of `function`; those of other kernels of the object are left out.
std::vector<HotWindow> windows_of(const recover::Program& program, const recover::Function& function,
                                  const profile::Profile& profile, std::span<const isa::Instruction> code) {
  std::map<uint64_t, size_t> items; // by address
  for (size_t i = function.first; i < function.last; ++i)
    if (program.items[i].kind == recover::ItemKind::instruction) items.emplace(program.items[i].origin, i);
  std::vector<HotWindow> windows;
  for (const profile::Window& window : profile::hot_windows(profile, code)) {
    const auto first = items.find(window.first), last = items.find(code[window.end - 1].address);
    if (first == items.end() || last == items.end()) continue;
    // A loop is easier to rewrite with the label that it branches to. The kernel's own label stays where it is.
    size_t begin = first->second;
    while (begin > function.first + 1 && program.items[begin - 1].kind == recover::ItemKind::label) --begin;
    windows.push_back({{begin, last->second + 1}, window});
  }
  return windows;
}

} // namespace

CodeView view_code(const recover::Program& program, const recover::Function& function, const timing::Estimate& estimate,
                   std::span<const isa::Instruction> code, std::string source) {
  CodeView view{.program = &program, .function = &function};
  view.graph = analysis::control_flow(program, function);
  view.profile = profile::from_estimate(estimate, code, std::move(source));
  view.windows = windows_of(program, function, view.profile, code);
  return view;
}

Line line_of(const CodeView& view, size_t at) {
  const recover::Item& item = view.program->items[at];
  std::string text = recover::print_items(*view.program, at, at + 1);
  while (text.ends_with('\n')) text.pop_back();
  text.erase(0, text.find_first_not_of(" \t"));
  Line line{.text = bounded(text)};
  const profile::Row* row =
      item.kind == recover::ItemKind::instruction ? view.profile.at(uint64_t(item.origin)) : nullptr;
  const double total = view.profile.total();
  if (!row || total <= 0) return line;
  line.timed = true;
  line.share = view.profile.cost(*row) / total;
  if (const profile::Reason reason = profile::largest(view.profile.costs(*row)); reason != profile::Reason::count_)
    line.stall = profile::reason_name(reason);
  return line;
}

} // namespace asmevo::agent
