// Softmax over the last dimension for rows of any width: y = e^(x - max) / sum. One workgroup of 256 a row, columns
// strided by 256; the row is read three times.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void softmax_rows(float* y, const float* x, int columns) {
  __shared__ float partial[4];
  const float* row = x + (long)block_x() * columns;
  float* out = y + (long)block_x() * columns;
  int t = thread_x();

  float largest = -__builtin_inff();
  for (int c = t; c < columns; c += 256) largest = __builtin_fmaxf(largest, row[c]);
  largest = wave_max(largest);
  if ((t & 63) == 0) partial[t >> 6] = largest;
  barrier();
  largest = __builtin_fmaxf(__builtin_fmaxf(partial[0], partial[1]), __builtin_fmaxf(partial[2], partial[3]));
  barrier();

  float sum = 0.0f;
  for (int c = t; c < columns; c += 256) sum += exp_fast(row[c] - largest);
  sum = wave_sum(sum);
  if ((t & 63) == 0) partial[t >> 6] = sum;
  barrier();
  float scale = 1.0f / (partial[0] + partial[1] + partial[2] + partial[3]);
  for (int c = t; c < columns; c += 256) out[c] = exp_fast(row[c] - largest) * scale;
}
