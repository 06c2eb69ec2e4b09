// GELU, tanh form: y = x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))), one element a work-item.
#include "device.h"

__device__ inline float tanh_of(float u) {
  float e = exp_fast(2.0f * u);
  return 1.0f - 2.0f / (e + 1.0f);
}

extern "C" __global__ __launch_bounds__(256) void gelu(float* y, const float* x, int n) {
  int i = block_x() * 256 + thread_x();
  if (i >= n) return;
  float v = x[i];
  float u = 0.7978845608028654f * (v + 0.044715f * v * v * v);
  y[i] = 0.5f * v * (1.0f + tanh_of(u));
}
