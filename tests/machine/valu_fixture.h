// One vector instruction on a wave made by hand: no code object, no decoder, no stages. Tests put operands into rows,
// call the handler that the registry names, and look at the destination.
#pragma once

#include "machine/registry.h"
#include "tested.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <vector>

namespace asmevo::machine {

inline constexpr uint32_t usual_mode = 0xf0 | mode::dx10_clamp | mode::ieee; // nearest even, denormals kept

class Lanes {
public:
  Wave wave;
  Op op;
  static constexpr uint32_t destination = 0, first_source = 64; // rows; source k starts at first_source + 64 * k
  static constexpr uint32_t mask_result = 20, mask_source = 30; // SGPRs; source k has mask_source + 2 * k

  Lanes() : vgprs_(320) {
    wave.spaces[unsigned(RowSpace::vgpr)] = vgprs_.data();
    wave.spaces[unsigned(RowSpace::agpr)] = vgprs_.data();
    wave.spaces[unsigned(RowSpace::staging)] = wave.staging;
    wave.scalars[0] = wave.sgpr;
    wave.set_exec(all_lanes);
    wave.mode = usual_mode;
    for (auto& lane : wave.lane_mask.lane) lane = ~0u;
    op.dst = RowRef::of(RowSpace::vgpr, destination);
    for (unsigned k = 0; k < 3; ++k) {
      op.src[k] = RowRef::of(RowSpace::vgpr, first_source + 64 * k);
      op.ssrc[k] = ScalarRef::sgpr(mask_source + 2 * k);
    }
    op.sdst = mask_result;
  }

  Row& vgpr(uint32_t number) { return vgprs_[number]; }
  Row& source(unsigned k, unsigned part = 0) { return vgprs_[first_source + 64 * k + part]; }
  Row& result(unsigned part = 0) { return vgprs_[destination + part]; }
  void set(unsigned k, unsigned lane, uint64_t value) {
    source(k, 0).lane[lane] = uint32_t(value);
    source(k, 1).lane[lane] = uint32_t(value >> 32);
  }
  uint64_t result64(unsigned lane) { return uint64_t{result(1).lane[lane]} << 32 | result(0).lane[lane]; }
  uint64_t mask() const { return wave.read64(mask_result); }

  /// Executes `mnemonic` as `processor` does. Who compares all of the result with a model notes that (tested.h).
  void run(std::string_view mnemonic, isa::Processor processor = isa::Processor::gfx942) {
    const InstructionRow* row = find_row(mnemonic, processor);
    ASSERT_NE(row, nullptr) << mnemonic;
    op.width = row->width;
    row->handler(wave, op);
  }

private:
  std::vector<Row> vgprs_;
};

/// Values where integer instructions go wrong, and random ones between them.
inline uint32_t interesting_word(std::mt19937& random) {
  static constexpr uint32_t edges[] = {0,          1,          2,          31,         32,         0x7f,
                                       0x80,       0xff,       0x7fff,     0x8000,     0xffff,     0x10000,
                                       0x7fffff,   0x800000,   0xffffff,   0x7fffffff, 0x80000000, 0x80000001,
                                       0xfffffffe, 0xffffffff, 0x80008000, 0x7fff7fff, 0x00ff00ff, 0x12345678};
  const uint32_t r = uint32_t(random());
  return random() % 3 ? edges[r % std::size(edges)] : r;
}

} // namespace asmevo::machine
