// Row reduction: out[r] = Σ in[r][c]. One workgroup of 256 a row, LDS tree.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void rowsum(float* out, const float* in, int columns) {
  __shared__ float partial[256];
  const float* row = in + (long)block_x() * columns;
  int t = thread_x();
  float sum = 0.0f;
  for (int c = t; c < columns; c += 256) sum += row[c];
  partial[t] = sum;
  barrier();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) partial[t] += partial[t + step];
    barrier();
  }
  if (t == 0) out[block_x()] = partial[0];
}
