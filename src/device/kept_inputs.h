// Random inputs that are asked for again and again.
//
// A search runs one candidate after another on the same cases with the same seeds, and each new seed for K0 and for a
// candidate. An input that kernels cannot write to is made once, with the poison around it, and mapped wherever it is
// asked for. Of one that they can each launch needs a copy, which is several times cheaper than making it; what is
// copied once only, such as a seed that nobody has seen, is not kept.
#pragma once

#include "launch/launch.h"
#include "machine/host_blocks.h"

#include <memory>
#include <mutex>
#include <tuple>

namespace asmevo::device {

/// Guard bytes on each side of a buffer; fewer where captured buffers lie closer.
inline constexpr uint64_t guard_bytes = 4096;

/// What their poison is made from.
std::string guard_name(const launch::Buffer& buffer);

/// The poison at both ends of a region that holds a buffer.
void fill_guards(const launch::Buffer& buffer, uint64_t poison_seed, std::span<uint8_t> region, uint64_t before,
                 uint64_t after);

/// Safe to use from several threads.
class KeptInputs {
public:
  /// launch::fill_bytes. Keeps random inputs of up to 16 MiB that are asked for a second time, 128 MiB in all; those
  /// that nobody has asked for longest make room.
  Result<void> fill(const launch::Case& c, const launch::Buffer& buffer, uint64_t poison_seed, std::span<uint8_t> into);
  /// Likewise with poison before and after it, for all who ask with the same poison: null for what is not random, is
  /// larger than 16 MiB or may be written to. 128 MiB of these are kept too.
  Result<std::shared_ptr<const machine::HostBlock>> region(const launch::Case& c, const launch::Buffer& buffer,
                                                           uint64_t poison_seed, uint64_t before, uint64_t after);
  uint64_t bytes() const; // of what fill() keeps

private:
  /// All that a random fill depends on: name, type, shape, kind and bits of its numbers, seed.
  using Key =
      std::tuple<std::string, launch::DType, std::vector<uint64_t>, launch::FillKind, uint64_t, uint64_t, uint64_t>;
  struct Kept {
    std::shared_ptr<const Bytes> content; // null after the first request
    uint64_t last = 0;                    // request
  };

  using RegionKey = std::tuple<Key, uint64_t, uint64_t, uint64_t>; // and poison, bytes before and after
  struct Region {
    std::shared_ptr<const machine::HostBlock> block;
    uint64_t size = 0;
    uint64_t last = 0; // request
  };

  static Key key_of(const launch::Case& c, const launch::Buffer& buffer);
  std::shared_ptr<const Bytes> find(const Key& key, bool& again);
  void keep(const Key& key, std::span<const uint8_t> content);
  void drop_oldest();

  mutable std::mutex mutex_;
  std::map<Key, Kept> inputs_;
  std::map<RegionKey, Region> regions_;
  uint64_t requests_ = 0, bytes_ = 0, region_bytes_ = 0;
};

} // namespace asmevo::device
