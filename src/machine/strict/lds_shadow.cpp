#include "machine/strict/lds_shadow.h"

namespace asmevo::machine::strict {

LdsShadow::LdsShadow(uint32_t bytes, unsigned shift, uint32_t waves) : bytes_(bytes), waves_(waves), shift_(shift) {
  split(shift);
}

void LdsShadow::split(unsigned shift) {
  const size_t parts = 2 + waves_, count = (bytes_ >> shift) + 1;
  std::vector<uint32_t> memory(parts * count);
  for (size_t part = 0; part < parts && count_; ++part)
    for (size_t k = 0; k < count; ++k) memory[part * count + k] = memory_[part * count_ + (k >> (shift_ - shift))];
  memory_ = std::move(memory);
  count_ = count;
  shift_ = shift;
  uint32_t* const first = memory_.data();
  cells_ = {first, first + count};
}

void LdsShadow::pass_barrier() {
  const uint32_t now = base_ + uint32_t(events_.size());
  if (flight_ != Flight::old) {
    const uint32_t start = flight_ == Flight::none ? now : epoch_start_;
    events_.erase(events_.begin(), events_.begin() + (start - base_));
    base_ = start;
    floor_ = start << owner_bits;
  }
  epoch_start_ = now;
  flight_ = Flight::none;
}

} // namespace asmevo::machine::strict
