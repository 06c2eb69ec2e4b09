// Random inputs that are asked for again and again.
//
// A search runs one candidate after another on the same cases with the same seeds; copying an input is several times
// cheaper than making it. What is asked for once, such as a seed that nobody has seen, is made and not kept.
#pragma once

#include "launch/launch.h"

#include <memory>
#include <mutex>
#include <tuple>

namespace asmevo::device {

/// Safe to use from several threads.
class KeptInputs {
public:
  /// launch::fill_bytes. Keeps random inputs of up to 16 MiB that are asked for a second time, 128 MiB in all; those
  /// that nobody has asked for longest make room.
  Result<void> fill(const launch::Case& c, const launch::Buffer& buffer, uint64_t poison_seed, std::span<uint8_t> into);
  uint64_t bytes() const;

private:
  /// All that a random fill depends on: name, type, shape, kind and bits of its numbers, seed.
  using Key =
      std::tuple<std::string, launch::DType, std::vector<uint64_t>, launch::FillKind, uint64_t, uint64_t, uint64_t>;
  struct Kept {
    std::shared_ptr<const Bytes> content; // null after the first request
    uint64_t last = 0;                    // request
  };

  static Key key_of(const launch::Case& c, const launch::Buffer& buffer);
  std::shared_ptr<const Bytes> find(const Key& key, bool& again);
  void keep(const Key& key, std::span<const uint8_t> content);
  void drop_oldest();

  mutable std::mutex mutex_;
  std::map<Key, Kept> inputs_;
  uint64_t requests_ = 0, bytes_ = 0;
};

} // namespace asmevo::device
