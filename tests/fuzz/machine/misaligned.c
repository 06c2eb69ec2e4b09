// What csmith's seed 3624 does, in a few lines: a pointer to a member of a packed struct is taken for an aligned one.
// x86-64 stores where it points to, a scalar load of the device drops the low bits of the address, and neither is wrong.
#include "runtime.h"

typedef struct __attribute__((packed)) {
  u16 first;
  u32 second;
} Packed;
static Packed packed;

KERNEL(0, int) {
  u32* inside = &packed.second;
  *inside = in[0];
  out[0] = *inside;
}
