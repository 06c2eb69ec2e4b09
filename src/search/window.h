// The parts of a listing that time goes to.
//
// The profile speaks of instructions at addresses, edits of items of a listing; a hot window is both. What was tried in
// one is remembered by what it looked like: as long as its code is the same, the same changes of it will fail.
#pragma once

#include "profile/windows.h"
#include "recover/program.h"

namespace asmevo::search {

/// A part of a listing: items [first, last).
struct Range {
  size_t first = 0, last = 0;

  bool operator==(const Range&) const = default;
  size_t size() const { return last - first; }
  bool contains(size_t item) const { return first <= item && item < last; }
  bool contains(const recover::Edit& edit) const { return first <= edit.first && edit.last <= last; }
  /// Whether the edit replaces an item of it or puts something between two of them.
  bool meets(const recover::Edit& edit) const {
    return edit.first < last && first < std::max(edit.last, edit.first + 1);
  }
};

struct HotWindow {
  Range range;
  profile::Window window;
  uint64_t key = 0; // of its code, without numbers of labels
};

/// Windows whose instructions are items of `function`, the hottest first; those of other kernels of the object are left
/// out. `code` is what `profile` was made from.
std::vector<HotWindow> hot_windows(const recover::Program& program, const recover::Function& function,
                                   const profile::Profile& profile, std::span<const isa::Instruction> code);

/// The hottest of them that an edit changes; null where none does.
const HotWindow* window_of(std::span<const HotWindow> windows, std::span<const recover::Edit> edits);

} // namespace asmevo::search
