// What a HIP kernel needs of its language when there is no ROCm: the qualifiers, the indices, a barrier.
// clang-22 -x hip --offload-arch=gfx942 --offload-device-only -nogpuinc -nogpulib -O3
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(n, n)))

using uint = unsigned int;

__device__ inline int thread_x() { return int(__builtin_amdgcn_workitem_id_x()); }
__device__ inline int thread_y() { return int(__builtin_amdgcn_workitem_id_y()); }
__device__ inline int block_x() { return int(__builtin_amdgcn_workgroup_id_x()); }
__device__ inline int block_y() { return int(__builtin_amdgcn_workgroup_id_y()); }
__device__ inline int block_z() { return int(__builtin_amdgcn_workgroup_id_z()); }

__device__ inline void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// e^x for the range that activations need; relies on the hardware's 2^x.
__device__ inline float exp_fast(float x) { return __builtin_exp2f(x * 1.44269504088896340736f); }

/// Sum over the 64 lanes of a wave, by the butterfly through LDS permutes.
__device__ inline float wave_sum(float x) {
  int lane = int(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)));
  for (int step = 32; step > 0; step >>= 1)
    x += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ step) << 2, __builtin_bit_cast(int, x)));
  return x;
}

/// The largest of the 64 lanes of a wave, likewise.
__device__ inline float wave_max(float x) {
  int lane = int(__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)));
  for (int step = 32; step > 0; step >>= 1)
    x = __builtin_fmaxf(x, __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ step) << 2, __builtin_bit_cast(int, x))));
  return x;
}
