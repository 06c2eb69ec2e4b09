// Host memory of buffers that are gone, for those that come: a search runs the same launch again and again, and getting
// fresh pages from the kernel, which clears them, takes as long as a kernel that streams through them.
#pragma once

#include <cstdint>

namespace asmevo::machine {

/// Bytes that may be read, and are dropped, behind the end of a block.
inline constexpr uint64_t block_slack = 64;

/// Zero-filled memory; null where there is none. It costs nothing until touched.
uint8_t* fresh_block(uint64_t size);
/// The same with any content: one that was given back, where there is one of this size.
uint8_t* any_block(uint64_t size);
/// All but the smallest blocks are kept, those that were given back last: 256, and up to half a gibibyte in all.
void give_back_block(uint8_t* data, uint64_t size);

/// Owner of a block of any content. Throws std::bad_alloc.
class HostBlock {
public:
  HostBlock() = default;
  explicit HostBlock(uint64_t size);
  HostBlock(HostBlock&& other) noexcept;
  HostBlock& operator=(HostBlock&& other) noexcept;
  ~HostBlock();
  uint8_t* data() const { return data_; }

private:
  uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

} // namespace asmevo::machine
