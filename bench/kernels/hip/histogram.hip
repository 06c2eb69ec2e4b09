// Counts of byte values: counts[v] += how often v is in x. Each workgroup of 256 counts 16 KiB in LDS and adds its
// counts to those of the others.
#include "device.h"

extern "C" __global__ __launch_bounds__(256) void histogram(uint* counts, const unsigned char* x, int n) {
  __shared__ uint local[256];
  int t = thread_x();
  local[t] = 0;
  barrier();
  int first = block_x() * 16384;
  for (int i = first + t; i < first + 16384; i += 256)
    if (i < n) __hip_atomic_fetch_add(&local[x[i]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  if (local[t]) __hip_atomic_fetch_add(&counts[t], local[t], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
