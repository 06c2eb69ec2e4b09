#include "plain_loops.h"

namespace plain::ASMEVO_ISA {

namespace {

// Between two instructions everything is in memory.
#define INSTRUCTION(expression)                                                                                        \
  for (int i = 0; i < 64; ++i) expression;                                                                             \
  asm volatile("" ::: "memory")

void integer(Rows& r) {
  auto& v = r.row;
  INSTRUCTION(v[2][i] = v[3][i] + v[4][i]);
  INSTRUCTION(v[3][i] = v[2][i] ^ v[5][i]);
  INSTRUCTION(v[4][i] = v[2][i] << 3);
  INSTRUCTION(v[5][i] = v[2][i] & v[3][i]);
}

void single(Singles& r) {
  auto& v = r.row;
  INSTRUCTION(v[2][i] = __builtin_fmaf(v[3][i], v[4][i], v[5][i]));
  INSTRUCTION(v[3][i] = v[2][i] * v[5][i]);
  INSTRUCTION(v[4][i] = v[2][i] + v[3][i]);
  INSTRUCTION(v[5][i] = __builtin_fmaf(v[2][i], v[3][i], v[5][i]));
}

void copy(Rows& r, Block& block) {
  INSTRUCTION(r.row[2][i] = block.dword[i]);
  INSTRUCTION(block.dword[i + 64] = r.row[3][i]);
}

void transpose(Rows& r, Block& block) {
  auto& v = r.row;
  INSTRUCTION((v[0][i] = block.dword[4 * i], v[1][i] = block.dword[4 * i + 1], v[2][i] = block.dword[4 * i + 2],
               v[3][i] = block.dword[4 * i + 3]));
  INSTRUCTION((block.dword[4 * i] = v[4][i], block.dword[4 * i + 1] = v[5][i], block.dword[4 * i + 2] = v[6][i],
               block.dword[4 * i + 3] = v[7][i]));
}

// As many sums as hide the latency of fma in the registers there are.
float multiply_adds(float seed) {
#if defined(__AVX512F__)
  constexpr int width = 16, sums = 16;
#elif defined(__AVX2__)
  constexpr int width = 8, sums = 12;
#else
  constexpr int width = 4, sums = 8;
#endif
  typedef float Vector __attribute__((vector_size(4 * width)));
  Vector sum[sums], factor = Vector{} + seed;
  for (int k = 0; k < sums; ++k) sum[k] = Vector{} + seed * float(k);
  for (int left = 64 * 64 / width; left > 0; left -= sums) {
#pragma GCC unroll 16
    for (int k = 0; k < sums; ++k) sum[k] = sum[k] * factor + factor; // contracted to fma
  }
  Vector total = sum[0];
  for (int k = 1; k < sums; ++k) total += sum[k];
  return total[0];
}

} // namespace

extern const Loops loops;
const Loops loops = {"x86-64-" ASMEVO_LEVEL_NAME, &integer, &single, &copy, &transpose, &multiply_adds};

} // namespace plain::ASMEVO_ISA
