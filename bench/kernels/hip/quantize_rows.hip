// Rows of f32 to int8: q = round(x / scale) with scale = max|x| / 127, one scale a row. One workgroup of 256 a row.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void quantize_rows(signed char* q, float* scales, const float* x, int columns) {
  __shared__ float partial[4];
  const float* row = x + (long)block_x() * columns;
  int t = thread_x();
  float top = 0.0f;
  for (int c = t; c < columns; c += 256) top = __builtin_fmaxf(top, __builtin_fabsf(row[c]));
  top = wave_max(top);
  if ((t & 63) == 0) partial[t >> 6] = top;
  barrier();
  top = __builtin_fmaxf(__builtin_fmaxf(partial[0], partial[1]), __builtin_fmaxf(partial[2], partial[3]));
  float scale = top / 127.0f;
  if (t == 0) scales[block_x()] = scale;
  for (int c = t; c < columns; c += 256)
    q[(long)block_x() * columns + c] = scale > 0.0f ? (signed char)__builtin_rintf(row[c] / scale) : (signed char)0;
}
