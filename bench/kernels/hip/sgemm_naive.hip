// Naive f32 GEMM, row major: C[M×N] = A[M×K]·B[K×N], one output a work-item, 16×16 work-items a workgroup.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void sgemm_naive(float* c, const float* a, const float* b, int m, int n, int k) {
  int column = block_x() * 16 + thread_x();
  int row = block_y() * 16 + thread_y();
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}
