// Depthwise 3×3 convolution, NCHW f32, zero padding 1: one output a work-item, one channel plane a workgroup's z.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void dwconv3x3(float* y, const float* x, const float* w, int channels, int height,
                                                            int width) {
  int column = block_x() * 64 + thread_x();
  int row = block_y() * 4 + thread_y();
  int plane = block_z();
  if (row >= height || column >= width) return;
  const float* in = x + (long)plane * height * width;
  const float* k = w + (plane % channels) * 9;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      int r = row + dy, c = column + dx;
      if (r >= 0 && r < height && c >= 0 && c < width) sum += in[r * width + c] * k[(dy + 1) * 3 + dx + 1];
    }
  y[((long)plane * height + row) * width + column] = sum;
}
