// Rotary position embedding in bf16, in place: pairs (x[i], x[i + d/2]) of each head turn by the angle of their token. One
// work-item a pair; cosines and sines come from a table of tokens × d/2.
#include "device.h"

__device__ inline float from_bf16(unsigned short x) { return __builtin_bit_cast(float, uint(x) << 16); }

__device__ inline unsigned short to_bf16(float x) {
  uint bits = __builtin_bit_cast(uint, x);
  if (x != x) return (unsigned short)(bits >> 16 | 0x40);
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

extern "C" __global__ __launch_bounds__(256) void rope(unsigned short* x, const float* cosine, const float* sine, int tokens,
                                                       int heads, int half) {
  int i = block_x() * 256 + thread_x();
  if (i >= tokens * heads * half) return;
  int pair = i % half, token = i / (half * heads);
  unsigned short* head = x + (long)(i / half) * 2 * half;
  float c = cosine[token * half + pair], s = sine[token * half + pair];
  float a = from_bf16(head[pair]), b = from_bf16(head[pair + half]);
  head[pair] = to_bf16(a * c - b * s);
  head[pair + half] = to_bf16(a * s + b * c);
}
