// LayerNorm over the last dimension: y = (x - mean) / √(var + ε) · w + b. One workgroup of 256 a row.
#include "device.h"

__device__ inline float block_sum(float x, float* partial, int t) {
  x = wave_sum(x);
  if ((t & 63) == 0) partial[t >> 6] = x;
  barrier();
  float total = partial[0] + partial[1] + partial[2] + partial[3];
  barrier();
  return total;
}

extern "C" __global__ __launch_bounds__(256) void layernorm(float* y, const float* x, const float* w, const float* b,
                                                            int columns, float epsilon) {
  __shared__ float partial[4];
  const float* row = x + (long)block_x() * columns;
  float* out = y + (long)block_x() * columns;
  int t = thread_x();

  float sum = 0.0f;
  for (int c = t; c < columns; c += 256) sum += row[c];
  float mean = block_sum(sum, partial, t) / float(columns);
  float squares = 0.0f;
  for (int c = t; c < columns; c += 256) squares += (row[c] - mean) * (row[c] - mean);
  float deviation = __builtin_sqrtf(block_sum(squares, partial, t) / float(columns) + epsilon);
  for (int c = t; c < columns; c += 256) out[c] = (row[c] - mean) / deviation * w[c] + b[c];
}
