// What a run has left in a buffer, where it lies: results of 64 MiB are looked at once or twice and need no copy.
#pragma once

#include "support/file.h"

#include <algorithm>
#include <memory>
#include <span>

namespace asmevo::device {

/// Bytes that stay as long as a copy of this does.
class Contents {
public:
  Contents() = default;
  Contents(Bytes bytes) {
    auto held = std::make_shared<const Bytes>(std::move(bytes));
    bytes_ = *held;
    keeper_ = std::move(held);
  }
  Contents(std::shared_ptr<const void> keeper, std::span<const uint8_t> bytes)
      : keeper_(std::move(keeper)), bytes_(bytes) {}

  const uint8_t* data() const { return bytes_.data(); }
  size_t size() const { return bytes_.size(); }
  const uint8_t* begin() const { return data(); }
  const uint8_t* end() const { return data() + size(); }
  const uint8_t& operator[](size_t i) const { return bytes_[i]; }
  friend bool operator==(const Contents& a, const Contents& b) { return std::ranges::equal(a, b); }

private:
  std::shared_ptr<const void> keeper_;
  std::span<const uint8_t> bytes_;
};

} // namespace asmevo::device
