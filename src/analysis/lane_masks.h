// Sets of lanes: what EXEC has been, and which of its values lie within which.
//
// A vector instruction writes the lanes that EXEC selects and leaves the others as they were. So a fact about a vector
// register holds in some lanes only, and may be used where no other lane is active. Which lanes those are nobody knows
// before the kernel runs; what can be known is that one set lies within another: `s_and_b64 exec, exec, vcc` narrows,
// and writing back a mask that was saved widens to exactly that mask.
//
// A mask is named by where it was made and has at most one parent that it is known to lie within; the way up through
// the parents is all that is compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace asmevo::analysis {

using MaskId = uint32_t;

class LaneMasks {
public:
  static constexpr MaskId all = 0;   // all 64 lanes
  static constexpr MaskId entry = 1; // those that are active when the function begins
  static constexpr MaskId none = 2;  // within every other

  LaneMasks();

  /// The result of an item, which lies within `parent`; where `without` is a mask, it is parent & ~without.
  MaskId made(uint32_t item, MaskId parent, MaskId without = all);
  /// What scalar register `unit` and the next, or EXEC, hold when a block was last reached.
  MaskId arrived(uint32_t block, size_t unit, MaskId parent);
  bool within(MaskId inner, MaskId outer) const;
  /// The smallest known mask that both lie within.
  MaskId around(MaskId a, MaskId b) const;
  MaskId join(uint32_t item, MaskId a, MaskId b);      // a | b
  MaskId intersect(uint32_t item, MaskId a, MaskId b); // a & b
  MaskId remove(uint32_t item, MaskId a, MaskId b);    // a & ~b
  MaskId exchange(uint32_t item, MaskId a, MaskId b);  // a ^ b

private:
  MaskId named(uint64_t where, MaskId parent, MaskId without);

  struct Mask {
    MaskId parent = all;
    MaskId without = all; // `all`: nothing known; else it is parent & ~without
    auto operator<=>(const Mask&) const = default;
  };
  struct Key {
    uint64_t where; // items and blocks apart
    Mask mask;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<Mask> masks_;
  std::map<Key, MaskId> ids_;
};

} // namespace asmevo::analysis
