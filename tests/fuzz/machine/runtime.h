// What a generated program is made of, once for the device and once for the host.
//
// A program is a struct of variables, one for each work-item, and phases: functions that change one work-item's
// variables. Between phases work-items exchange values. On the device a phase is straight code of the kernel; on the
// host it is a loop over the work-items, so an exchange finds the values of all of them in place. Whatever the device
// has as an instruction of its own is written here a second time in plain C, from the instruction set manual.
//
// Nothing below has undefined behaviour: both compilations must agree. NaNs are made alike where their bits could be
// seen, and the sign of zero where the language leaves it open (minimum and maximum).
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned u32;
typedef long i64;
typedef unsigned long u64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef f16 f16x4 __attribute__((ext_vector_type(4)));
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f64 f64x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x4 __attribute__((ext_vector_type(4)));
typedef u8 u8x4 __attribute__((ext_vector_type(4)));
typedef i32 i32x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
typedef i64 i64x2 __attribute__((ext_vector_type(2)));

enum { items = 128, lds_words = 1024, slice = 8 };

#define INLINE static inline __attribute__((always_inline))
#define CALLED static __attribute__((noinline))
#define AS_IS(x, from, to) ((union { from a; to b; }){.a = (x)}).b

#ifdef DEVICE
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define CONSTANT static const __attribute__((address_space(4)))
#define SHARED static LOCAL u32 lds[lds_words] __attribute__((loader_uninitialized));
#define KERNEL(n, S)                                                                                                   \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(items, items))) void k##n(const GLOBAL u32* in,            \
                                                                                      GLOBAL u64* out)
#define BEGIN(S)                                                                                                       \
  const u32 item = __builtin_amdgcn_workitem_id_x();                                                                   \
  S one;                                                                                                               \
  S* s = &one;
#define PHASE(f) f(s, item, in, lds);
#define FINISH(f) f(s, out + item);
#define MEET                                                                                                           \
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");                                                               \
  __builtin_amdgcn_s_barrier();                                                                                        \
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
#define EXCHANGE(to, from, device, host) s->to = device(s->from);
#define EXCHANGE_BY(to, from, index, device, host) s->to = device(s->from, s->index);
#else
#define GLOBAL
#define LOCAL
#define CONSTANT static const
#define SHARED static u32 lds[lds_words];
#define KERNEL(n, S) void k##n(const u32* in, u64* out)
#define BEGIN(S)                                                                                                       \
  static S all[items];                                                                                                 \
  static u32 old[items], by[items];                                                                                    \
  (void)old, (void)by;                                                                                                 \
  S* s = all;
#define EACH for (u32 item = 0; item < items; ++item)
#define PHASE(f) EACH f(s + item, item, in, lds);
#define FINISH(f) EACH f(s + item, out + item);
#define MEET
#define EXCHANGE(to, from, device, host)                                                                               \
  EACH old[item] = s[item].from;                                                                                       \
  EACH s[item].to = host(old + (item & 64), item & 63);
#define EXCHANGE_BY(to, from, index, device, host)                                                                     \
  EACH old[item] = s[item].from, by[item] = s[item].index;                                                             \
  EACH s[item].to = host(old + (item & 64), by + (item & 64), item & 63);
#endif

// Conversions to integers only where the value fits; everything else gives a number of its own.
#define TO_INT(name, F, I, low, high)                                                                                  \
  INLINE I name(F x) { return x >= (F)(low) && x <= (F)(high) ? (I)x : (I)77; }
TO_INT(f32_to_i32, f32, i32, -2147483000.0f, 2147483000.0f)
TO_INT(f32_to_u32, f32, u32, 0.0f, 4294960000.0f)
TO_INT(f32_to_i64, f32, i64, -9.2e18f, 9.2e18f)
TO_INT(f32_to_u64, f32, u64, 0.0f, 1.8e19f)
TO_INT(f64_to_i32, f64, i32, -2147483648.0, 2147483647.0)
TO_INT(f64_to_u32, f64, u32, 0.0, 4294967295.0)
TO_INT(f64_to_i64, f64, i64, -9.2e18, 9.2e18)
TO_INT(f64_to_u64, f64, u64, 0.0, 1.8e19)
TO_INT(f16_to_i16, f16, i16, -32768.0f16, 32752.0f16)
TO_INT(f16_to_u16, f16, u16, 0.0f16, 65504.0f16)
TO_INT(f16_to_i32, f16, i32, -65504.0f16, 65504.0f16)

// A value that the compiler for the device cannot see through. What LLVM 22 gets wrong is kept apart by it; docs/testing.md
// has the proofs.
#ifdef DEVICE
#define HIDDEN(T, x) ({ T hidden = (x); __asm__("" : "+v"(hidden)); hidden; })
#else
#define HIDDEN(T, x) ((T)(x))
#endif
#define ZERO(F) HIDDEN(F, 0)                   // 0 - x would be taken for -x, which differs in the sign of zero
#define ONES_ABOVE(T, x) HIDDEN(T, x)          // a | -1, of upper halves, would be taken for a
#define MOVED(x) HIDDEN(u32, x)                // a DPP move would be merged with some of its uses and lost for the others
#define PLACE(x) HIDDEN(u32, x)                // in[x] and ((u8*)in)[x] would be taken for the same place
#define INT_TO_F16(x) HIDDEN(f16, (f16)(x))    // an infinity would be a number once more when a float is made of it
#define SIGNED_TO_U16(x) HIDDEN(u16, (u16)(x)) // the sign of x >> 8 would reach bits 16 to 31 of a u32

#define ORDERED(x) ((x) != (x) ? 1 : (x)) // where a NaN's sign would show
#define NUMBER(F, suffix)                                                                                              \
  INLINE F min_##suffix(F a, F b) { return __builtin_elementwise_min(ORDERED(a), ORDERED(b)) + (F)0; }                 \
  INLINE F max_##suffix(F a, F b) { return __builtin_elementwise_max(ORDERED(a), ORDERED(b)) + (F)0; }                 \
  INLINE F abs_##suffix(F a) { return __builtin_elementwise_abs(a); }                                                  \
  INLINE F sign_##suffix(F a, F b) { return __builtin_elementwise_copysign(a, ORDERED(b)); }                           \
  INLINE F med3_##suffix(F a, F b, F c) { return max_##suffix(min_##suffix(a, b), min_##suffix(max_##suffix(a, b), c)); } \
  INLINE F clamp_##suffix(F a) { return max_##suffix(min_##suffix(a, (F)1), (F)0); }                                   \
  INLINE F round_##suffix(F a, u32 how) {                                                                              \
    switch (how & 3) {                                                                                                 \
    case 0: return __builtin_elementwise_floor(a);                                                                     \
    case 1: return __builtin_elementwise_ceil(a);                                                                      \
    case 2: return __builtin_elementwise_trunc(a);                                                                     \
    default: return __builtin_elementwise_rint(a);                                                                     \
    }                                                                                                                  \
  }
NUMBER(f32, f32)
NUMBER(f64, f64)
NUMBER(f16, f16)

// LLVM 22 rounds a product to half by an fma that adds +0, which loses the sign of -0: it is given back here.
INLINE f16 f32_to_f16(f32 x) {
  const f16 magnitude = abs_f16((f16)x);
  return AS_IS(x, f32, u32) >> 31 ? -magnitude : magnitude;
}

INLINE f32 sqrt_f32(f32 x) { return __builtin_sqrtf(x); }
INLINE f64 sqrt_f64(f64 x) { return __builtin_sqrt(x); }
INLINE f16 sqrt_f16(f16 x) { return (f16)__builtin_sqrtf((f32)x); } // 24 bits suffice: rounding twice is rounding once
INLINE f32 fma_f32(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
INLINE f64 fma_f64(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
INLINE f32 ldexp_f32(f32 a, i32 e) { return __builtin_ldexpf(a, e); }
INLINE f64 ldexp_f64(f64 a, i32 e) { return __builtin_ldexp(a, e); }
INLINE i32 exponent_f32(f32 x) {
  int e = 0;
  if (!(x - x == 0)) return 99;
  __builtin_frexpf(x, &e);
  return e;
}
INLINE f32 mantissa_f32(f32 x) {
  int e;
  return x - x == 0 ? __builtin_frexpf(x, &e) : 3;
}
INLINE i32 exponent_f64(f64 x) {
  int e = 0;
  if (!(x - x == 0)) return 99;
  __builtin_frexp(x, &e);
  return e;
}
INLINE f64 mantissa_f64(f64 x) {
  int e;
  return x - x == 0 ? __builtin_frexp(x, &e) : 3;
}
// 0x3fc is every class but the two NaNs, which are told apart by bits that need not agree.
INLINE u32 class_f32(f32 x, u32 how) {
  switch (how & 7) {
  case 0: return __builtin_isfpclass(x, 3);
  case 1: return __builtin_isfpclass(x, 0x204);
  case 2: return __builtin_isfpclass(x, 0x90);
  case 3: return __builtin_isfpclass(x, 0x60);
  case 4: return __builtin_isfpclass(x, 0x108);
  case 5: return __builtin_isfpclass(x, 0x1f8);
  case 6: return __builtin_isfpclass(x, 0x3c0);
  default: return __builtin_isfpclass(x, 0x3fc);
  }
}
INLINE u32 class_f64(f64 x, u32 how) {
  return how & 1 ? __builtin_isfpclass(x, 0x264) : how & 2 ? __builtin_isfpclass(x, 0x1b) : __builtin_isfpclass(x, 0xf0);
}

#define BITS(U, F, nan)                                                                                                \
  INLINE u64 bits_##F(F x) { return x != x ? (u64)(nan) : (u64)AS_IS(x, F, U); }
BITS(u16, f16, 0x7e00)
BITS(u32, f32, 0x7fc00000)
BITS(u64, f64, 0x7ff8000000000000)
INLINE u64 mix(u64 sum, u64 x) { return (sum ^ x) * 0x9e3779b97f4a7c15u + (sum >> 29); }

// Bits, with the shapes that the compiler turns into single instructions.
INLINE u32 clz32(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
INLINE u32 ctz32(u32 x) { return x ? (u32)__builtin_ctz(x) : 32; }
INLINE u32 clz64(u64 x) { return x ? (u32)__builtin_clzl(x) : 64; }
INLINE u32 ctz64(u64 x) { return x ? (u32)__builtin_ctzl(x) : 64; }
INLINE u32 high_u32(u32 a, u32 b) { return (u32)(((u64)a * b) >> 32); }
INLINE i32 high_i32(i32 a, i32 b) { return (i32)(((i64)a * b) >> 32); }
INLINE u32 mul24(u32 a, u32 b) { return (a & 0xffffff) * (b & 0xffffff); }
INLINE i32 mul24_signed(i32 a, i32 b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
INLINE u32 field(u32 x, u32 at, u32 width) { return (x >> (at & 31)) & ((1u << (width & 31)) - 1); }
INLINE u32 insert(u32 mask, u32 a, u32 b) { return (a & mask) | (b & ~mask); }
INLINE u32 funnel(u32 a, u32 b, u32 n) { return __builtin_elementwise_fshr(a, b, n & 31); }
INLINE u32 distance(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }
INLINE i32 med3_i32(i32 a, i32 b, i32 c) {
  i32 low = __builtin_elementwise_min(a, b), high = __builtin_elementwise_max(a, b);
  return __builtin_elementwise_max(low, __builtin_elementwise_min(high, c));
}
#define DIVIDE(T, type)                                                                                                \
  INLINE T quotient_##type(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a / b); }                                 \
  INLINE T remainder_##type(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a % b); }
DIVIDE(i8, i8) DIVIDE(u8, u8) DIVIDE(i16, i16) DIVIDE(u16, u16)
DIVIDE(i32, i32) DIVIDE(u32, u32) DIVIDE(i64, i64) DIVIDE(u64, u64)

// Instructions that C has no word for.
#ifdef DEVICE
#define perm(a, b, c) __builtin_amdgcn_perm(a, b, c)
#define align_bytes(a, b, n) __builtin_amdgcn_alignbyte(a, b, n)
#define sad_bytes(a, b, c) __builtin_amdgcn_sad_u8(a, b, c)
#define masked_sad(a, b, c) __builtin_amdgcn_msad_u8(a, b, c)
#define sad_halves(a, b, c) __builtin_amdgcn_sad_u16(a, b, c)
#define average_bytes(a, b, c) __builtin_amdgcn_lerp(a, b, c)
#define dot_bytes(a, b, c) __builtin_amdgcn_sdot4((i32)(a), (i32)(b), (i32)(c), 0)
#define dot_bytes_saturated(a, b, c) __builtin_amdgcn_udot4(a, b, c, 1)
#define dot_nibbles(a, b, c) __builtin_amdgcn_sdot8((i32)(a), (i32)(b), (i32)(c), 0)
INLINE u32 x_first(u32 a) { return __builtin_amdgcn_readfirstlane(a); }
INLINE u32 x_lane(u32 a) { return __builtin_amdgcn_readlane(a, 37); }
INLINE u32 x_pull(u32 a, u32 by) { return __builtin_amdgcn_ds_bpermute(by << 2, a); }
INLINE u32 x_swap(u32 a) { return __builtin_amdgcn_ds_swizzle(a, 0x041f); }
INLINE u32 x_reverse(u32 a) { return __builtin_amdgcn_ds_swizzle(a, 0x1c1f); }
INLINE u32 x_quad(u32 a) { return MOVED(__builtin_amdgcn_mov_dpp(a, 0x1b, 15, 15, 1)); }
INLINE u32 x_left(u32 a) { return __builtin_amdgcn_update_dpp(7, a, 0x103, 15, 15, 0) + a; }
INLINE u32 x_right(u32 a) { return __builtin_amdgcn_update_dpp(9, a, 0x112, 15, 15, 1) ^ a; }
INLINE u32 x_around(u32 a) { return __builtin_amdgcn_update_dpp(0, a, 0x125, 15, 15, 0) - a; }
INLINE u32 x_mirror(u32 a) { return __builtin_elementwise_max((u32)__builtin_amdgcn_update_dpp(0, a, 0x140, 15, 15, 0), a); }
INLINE u32 x_half_mirror(u32 a) { return mul24(__builtin_amdgcn_update_dpp(0, a, 0x141, 15, 15, 0), a); }
INLINE u32 x_some_rows(u32 a) { return __builtin_amdgcn_update_dpp(5, a, 0x111, 0xa, 0x7, 0) + a; }
INLINE u32 x_across(u32 a) { return MOVED(__builtin_amdgcn_update_dpp(3, a, 0x142, 0xa, 15, 0)); }
#else
INLINE u32 byte_of(u32 x, u32 k) { return x >> (8 * k) & 255; }
INLINE u32 perm(u32 a, u32 b, u32 c) {
  u64 data = (u64)a << 32 | b;
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    u32 select = byte_of(c, k), byte;
    if (select < 8)
      byte = data >> (8 * select) & 255;
    else if (select < 12)
      byte = data >> (16 * (select - 8) + 15) & 1 ? 255 : 0;
    else
      byte = select == 12 ? 0 : 255;
    result |= byte << (8 * k);
  }
  return result;
}
INLINE u32 align_bytes(u32 a, u32 b, u32 n) { return (u32)(((u64)a << 32 | b) >> (8 * (n & 3))); }
INLINE u32 apart(u32 a, u32 b) { return a > b ? a - b : b - a; }
INLINE u32 sad_bytes(u32 a, u32 b, u32 c) {
  for (u32 k = 0; k < 4; ++k) c += apart(byte_of(a, k), byte_of(b, k));
  return c;
}
INLINE u32 masked_sad(u32 a, u32 b, u32 c) {
  for (u32 k = 0; k < 4; ++k) c += byte_of(b, k) ? apart(byte_of(a, k), byte_of(b, k)) : 0;
  return c;
}
INLINE u32 sad_halves(u32 a, u32 b, u32 c) { return c + apart(a & 0xffff, b & 0xffff) + apart(a >> 16, b >> 16); }
INLINE u32 average_bytes(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (u32 k = 0; k < 4; ++k) result |= ((byte_of(a, k) + byte_of(b, k) + (byte_of(c, k) & 1)) >> 1) << (8 * k);
  return result;
}
INLINE i32 dot_bytes(u32 a, u32 b, u32 c) {
  for (u32 k = 0; k < 4; ++k) c += (u32)((i32)(i8)byte_of(a, k) * (i8)byte_of(b, k));
  return (i32)c;
}
INLINE u32 dot_bytes_saturated(u32 a, u32 b, u32 c) {
  u64 sum = c;
  for (u32 k = 0; k < 4; ++k) sum += byte_of(a, k) * byte_of(b, k);
  return sum > 0xffffffff ? 0xffffffff : (u32)sum;
}
INLINE i32 nibble(u32 x, u32 k) { return (i32)(x << (28 - 4 * k)) >> 28; }
INLINE i32 dot_nibbles(u32 a, u32 b, u32 c) {
  for (u32 k = 0; k < 8; ++k) c += (u32)(nibble(a, k) * nibble(b, k));
  return (i32)c;
}
INLINE u32 h_first(const u32* a, u32 lane) { return a[0]; }
INLINE u32 h_lane(const u32* a, u32 lane) { return a[37]; }
INLINE u32 h_pull(const u32* a, const u32* by, u32 lane) { return a[by[lane] & 63]; }
INLINE u32 h_swap(const u32* a, u32 lane) { return a[lane ^ 1]; }
INLINE u32 h_reverse(const u32* a, u32 lane) { return a[lane ^ 7]; }
INLINE u32 h_quad(const u32* a, u32 lane) { return a[(lane & ~3u) + 3 - (lane & 3)]; }
INLINE u32 h_left(const u32* a, u32 lane) { return ((lane & 15) + 3 < 16 ? a[lane + 3] : 7) + a[lane]; }
INLINE u32 h_right(const u32* a, u32 lane) { return ((lane & 15) >= 2 ? a[lane - 2] : 0) ^ a[lane]; }
INLINE u32 h_around(const u32* a, u32 lane) { return a[(lane & ~15u) + ((lane - 5) & 15)] - a[lane]; }
INLINE u32 h_mirror(const u32* a, u32 lane) { return __builtin_elementwise_max(a[lane ^ 15], a[lane]); }
INLINE u32 h_half_mirror(const u32* a, u32 lane) { return mul24(a[lane ^ 7], a[lane]); }
INLINE u32 h_some_rows(const u32* a, u32 lane) {
  u32 row = lane / 16, bank = lane / 4 % 4;
  u32 on = (0xa >> row & 1) && (0x7 >> bank & 1);
  return (on && (lane & 15) ? a[lane - 1] : 5) + a[lane];
}
INLINE u32 h_across(const u32* a, u32 lane) { return 0xa >> (lane / 16) & 1 ? a[(lane & ~15u) - 1] : 3; }
#endif
