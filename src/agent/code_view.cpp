#include "agent/code_view.h"

#include "agent/paging.h"
#include "recover/recover.h"

namespace asmevo::agent {

CodeView view_code(const recover::Program& program, const recover::Function& function, const timing::Estimate& estimate,
                   std::span<const isa::Instruction> code, std::string source) {
  CodeView view{.program = &program, .function = &function};
  view.graph = analysis::control_flow(program, function);
  view.profile = profile::from_estimate(estimate, code, std::move(source));
  view.windows = search::hot_windows(program, function, view.profile, code);
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
