// Matrix transpose, f32: y[c][r] = x[r][c]. Tiles of 32×32 through LDS, 32×8 work-items a workgroup.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void transpose(float* y, const float* x, int rows, int columns) {
  __shared__ float tile[32][32];
  int c = block_x() * 32 + thread_x(), r = block_y() * 32 + thread_y();
  for (int step = 0; step < 32; step += 8)
    if (r + step < rows && c < columns) tile[thread_y() + step][thread_x()] = x[(long)(r + step) * columns + c];
  barrier();
  int to_r = block_x() * 32 + thread_y(), to_c = block_y() * 32 + thread_x();
  for (int step = 0; step < 32; step += 8)
    if (to_r + step < columns && to_c < rows)
      y[(long)(to_r + step) * rows + to_c] = tile[thread_x()][thread_y() + step];
}
