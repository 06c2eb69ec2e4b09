// RMSNorm over the last dimension: y = x / √(mean(x²) + ε) · w. One workgroup of 256 a row, columns strided by 256.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void rmsnorm(float* y, const float* x, const float* w, int columns, float epsilon) {
  __shared__ float partial[4];
  const float* row = x + (long)block_x() * columns;
  float* out = y + (long)block_x() * columns;
  int t = thread_x();

  float sum = 0.0f;
  for (int c = t; c < columns; c += 256) sum += row[c] * row[c];
  sum = wave_sum(sum);
  if ((t & 63) == 0) partial[t >> 6] = sum;
  barrier();
  float total = partial[0] + partial[1] + partial[2] + partial[3];
  float scale = 1.0f / __builtin_sqrtf(total / float(columns) + epsilon);
  for (int c = t; c < columns; c += 256) out[c] = row[c] * scale * w[c];
}
