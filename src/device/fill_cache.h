// Random content of buffers, kept.
//
// A candidate meets each case in several ways, and most of them have the same input. Drawing 16 million normal numbers
// takes as long as a kernel takes to read them, so what was drawn lately is kept and copied.
#pragma once

#include "launch/launch.h"

#include <list>

namespace asmevo::device {

class FillCache {
public:
  /// launch::fill_bytes, from memory where possible.
  Result<void> fill(const launch::Case& c, const launch::Buffer& buffer, uint64_t poison_seed, std::span<uint8_t> into);

private:
  struct Entry {
    std::string key;
    Bytes content;
  };
  static constexpr uint64_t capacity = uint64_t{512} << 20, smallest = 64 << 10; // bytes

  std::list<Entry> entries_; // the latest first
  uint64_t size_ = 0;
};

} // namespace asmevo::device
