// Integer compares of the vector ALU, as meanings. `exec_compares` holds the v_cmpx forms of the same.
#pragma once

#include "machine/semantics/meaning.h"

namespace asmevo::machine::meaning {
inline namespace ASMEVO_LEVEL {

/// Sign of a 16-bit value that was read zero-extended.
template <Format F> AE_WORD auto signed_value(auto a) {
  if constexpr (F == Format::b16)
    return signed_low<16>(a);
  else
    return a;
}

// One block of eight opcodes: false, <, ==, <=, >, !=, >=, true.
#define AE_COMPARES(prefix, type, format, below_, value)                                                               \
  op(prefix "f_" type, shape<Format::mask, format, format>,                                                            \
     [](auto a, auto b) { return below_(value(a), value(b)) & !below_(value(a), value(b)); }),                         \
      op(prefix "lt_" type, shape<Format::mask, format, format>,                                                       \
         [](auto a, auto b) { return below_(value(a), value(b)); }),                                                   \
      op(prefix "eq_" type, shape<Format::mask, format, format>, [](auto a, auto b) { return equal(a, b); }),          \
      op(prefix "le_" type, shape<Format::mask, format, format>,                                                       \
         [](auto a, auto b) { return !below_(value(b), value(a)); }),                                                  \
      op(prefix "gt_" type, shape<Format::mask, format, format>,                                                       \
         [](auto a, auto b) { return below_(value(b), value(a)); }),                                                   \
      op(prefix "ne_" type, shape<Format::mask, format, format>, [](auto a, auto b) { return !equal(a, b); }),         \
      op(prefix "ge_" type, shape<Format::mask, format, format>,                                                       \
         [](auto a, auto b) { return !below_(value(a), value(b)); }),                                                  \
      op(prefix "t_" type, shape<Format::mask, format, format>,                                                        \
         [](auto a, auto b) { return below_(value(a), value(b)) | !below_(value(a), value(b)); })

#define AE_ALL_COMPARES(prefix)                                                                                        \
  table(AE_COMPARES(prefix, "i16", Format::b16, less, signed_value<Format::b16>),                                      \
        AE_COMPARES(prefix, "u16", Format::b16, below, signed_value<Format::b32>),                                     \
        AE_COMPARES(prefix, "i32", Format::b32, less, signed_value<Format::b32>),                                      \
        AE_COMPARES(prefix, "u32", Format::b32, below, signed_value<Format::b32>),                                     \
        AE_COMPARES(prefix, "i64", Format::b64, less, signed_value<Format::b64>),                                      \
        AE_COMPARES(prefix, "u64", Format::b64, below, signed_value<Format::b64>))

inline constexpr auto compares = AE_ALL_COMPARES("v_cmp_");
inline constexpr auto exec_compares = AE_ALL_COMPARES("v_cmpx_");

#undef AE_ALL_COMPARES
#undef AE_COMPARES

} // namespace ASMEVO_LEVEL
} // namespace asmevo::machine::meaning
