#include "machine/host_blocks.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace asmevo::machine {

namespace {

// Blocks of such sizes are touched all over, and large pages make that several times faster.
constexpr uint64_t densest = uint64_t{4} << 20, sparsest = uint64_t{512} << 20;
// Smaller ones are not worth keeping.
constexpr uint64_t least_kept = uint64_t{16} << 10;

void release(uint8_t* data, uint64_t size) { munmap(data, size + block_slack); }

class SpareBlocks {
public:
  uint8_t* take(uint64_t size) {
    std::lock_guard lock(mutex_);
    // The one that was given back last may still be in a cache.
    const auto found = std::ranges::find(blocks_.rbegin(), blocks_.rend(), size, &Block::size);
    if (found == blocks_.rend()) return nullptr;
    uint8_t* data = found->data;
    blocks_.erase(std::prev(found.base()));
    held_ -= size;
    return data;
  }
  void give(uint8_t* data, uint64_t size) {
    if (size < least_kept || size > most) return release(data, size);
    std::lock_guard lock(mutex_);
    blocks_.push_back({data, size});
    for (held_ += size; held_ > most || blocks_.size() > most_blocks; blocks_.erase(blocks_.begin())) {
      held_ -= blocks_.front().size;
      release(blocks_.front().data, blocks_.front().size);
    }
  }

private:
  struct Block {
    uint8_t* data;
    uint64_t size;
  };
  static constexpr uint64_t most = uint64_t{512} << 20; // bytes
  static constexpr size_t most_blocks = 256;

  std::mutex mutex_;
  std::vector<Block> blocks_; // the oldest first
  uint64_t held_ = 0;
};

SpareBlocks& spare_blocks() {
  static SpareBlocks blocks;
  return blocks;
}

} // namespace

uint8_t* fresh_block(uint64_t size) {
  void* at =
      mmap(nullptr, size + block_slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  if (size >= densest && size <= sparsest) madvise(at, size + block_slack, MADV_HUGEPAGE);
  return static_cast<uint8_t*>(at);
}

uint8_t* any_block(uint64_t size) {
  uint8_t* data = spare_blocks().take(size);
  return data ? data : fresh_block(size);
}

void give_back_block(uint8_t* data, uint64_t size) { spare_blocks().give(data, size); }

HostBlock::HostBlock(uint64_t size) : data_(any_block(size)), size_(size) {
  if (!data_) throw std::bad_alloc();
}
HostBlock::HostBlock(HostBlock&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
HostBlock& HostBlock::operator=(HostBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}
HostBlock::~HostBlock() {
  if (data_) give_back_block(data_, size_);
}

} // namespace asmevo::machine
