// The descriptor of private memory that the dispatcher hands to a kernel (before gfx942), and where it gets to.
//
// It has four dwords in scalar registers. Kernels add the wave's offset to the first two and copy them about; anything
// else that is done with them is not followed, and then any buffer access may be one of private memory.
#pragma once

#include "search/drivers/rewrite/rule.h"

#include <array>

namespace asmevo::search::rewrite {

class PrivateBuffer {
public:
  explicit PrivateBuffer(const Facts& facts);

  /// Whether something else happens to it than that buffer instructions use all of it, with one base for all of them.
  bool escapes() const { return escapes_; }
  bool may_be_used_by(size_t item) const;

private:
  /// What a scalar register may hold of it.
  enum class Part : uint8_t { nothing, low, high, size, format, moved_low, moved_high, mixed };
  static constexpr uint16_t scalars = 128;
  using Parts = std::array<Part, scalars>;

  static bool merge(std::optional<Parts>& into, const Parts& from);
  void settle();
  bool step(size_t item, Parts& parts) const;
  void look_at(uint32_t block);
  void look_at(size_t item, const isa::Instruction& i, const Parts& parts);

  const Facts& facts_;
  std::vector<std::optional<Parts>> in_; // by block
  std::vector<size_t> accesses_;
  bool escapes_ = false, moved_ = false, unmoved_ = false;
  std::array<unsigned, 2> moves_{}; // additions to the lower and to the upper half
};

} // namespace asmevo::search::rewrite
