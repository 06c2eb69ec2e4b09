#include "search/window.h"

#include "gate/duplicates.h"

#include <map>

namespace asmevo::search {
namespace {

uint64_t key_of(const recover::Program& program, Range range) {
  std::string text;
  for (size_t i = range.first; i < range.last; ++i) {
    const recover::Item& item = program.items[i];
    text += item.kind == recover::ItemKind::label ? item.text + ":\n" : item.text + "\n";
  }
  uint64_t hash = 14695981039346656037u; // FNV-1a: the same on every machine
  for (char c : gate::normalised_text(text)) hash = (hash ^ uint8_t(c)) * 1099511628211u;
  return hash;
}

} // namespace

std::vector<HotWindow> hot_windows(const recover::Program& program, const recover::Function& function,
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
    const Range range{begin, last->second + 1};
    windows.push_back({range, window, key_of(program, range)});
  }
  return windows;
}

const HotWindow* window_of(std::span<const HotWindow> windows, std::span<const recover::Edit> edits) {
  for (const HotWindow& window : windows)
    for (const recover::Edit& edit : edits)
      if (window.range.meets(edit)) return &window;
  return nullptr;
}

} // namespace asmevo::search
