// f16 GEMM on the matrix units, row major: C[M×N] = A[M×K]·B[K×N], f32 sums. A workgroup of four waves makes 64×64 of C,
// a wave 32×32, in steps of 16 of K through LDS. M and N are multiples of 64, K of 16.
#include "device.h"

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));

extern "C" __global__ __launch_bounds__(256) void gemm_mfma(_Float16* c, const _Float16* a, const _Float16* b, int m, int n,
                                                            int k) {
  __shared__ _Float16 tile_a[64][16], tile_b[16][64];
  int t = thread_x(), lane = t & 63, wave = t >> 6;
  int row = block_y() * 64, column = block_x() * 64;
  int wave_row = (wave >> 1) * 32, wave_column = (wave & 1) * 32;
  float4 sums[2][2] = {};
  for (int step = 0; step < k; step += 16) {
    for (int i = t; i < 64 * 16; i += 256) {
      tile_a[i >> 4][i & 15] = a[(row + (i >> 4)) * k + step + (i & 15)];
      tile_b[i >> 6][i & 63] = b[(step + (i >> 6)) * n + column + (i & 63)];
    }
    barrier();
    half4 x[2], y[2];
    for (int tile = 0; tile < 2; ++tile)
      for (int j = 0; j < 4; ++j) {
        x[tile][j] = tile_a[wave_row + tile * 16 + (lane & 15)][(lane >> 4) * 4 + j];
        y[tile][j] = tile_b[(lane >> 4) * 4 + j][wave_column + tile * 16 + (lane & 15)];
      }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) sums[i][j] = __builtin_amdgcn_mfma_f32_16x16x16f16(x[i], y[j], sums[i][j], 0, 0, 0);
    barrier();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      for (int r = 0; r < 4; ++r)
        c[(row + wave_row + i * 16 + (lane >> 4) * 4 + r) * n + column + wave_column + j * 16 + (lane & 15)] =
            (_Float16)sums[i][j][r];
}
