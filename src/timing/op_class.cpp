// Classes by mnemonic.
//
// Traits say which unit executes an instruction; within the vector ALU the name decides. The table below lists the
// names that are not plain 32-bit operations; the first row whose prefix and suffix fit wins.
#include "timing/op_class.h"

#include <charconv>
#include <string_view>

namespace asmevo::timing {

namespace {

struct Row {
  std::string_view prefix, suffix;
  OpClass op;
};

constexpr Row valu_rows[] = {
    {"v_exp_", "", OpClass::valu_trans},
    {"v_log_", "", OpClass::valu_trans},
    {"v_rcp_", "", OpClass::valu_trans},
    {"v_rsq_", "", OpClass::valu_trans},
    {"v_sqrt_", "", OpClass::valu_trans},
    {"v_sin_", "", OpClass::valu_trans},
    {"v_cos_", "", OpClass::valu_trans},
    {"v_prng_", "", OpClass::valu_trans},
    {"v_cvt_", "f64", OpClass::valu_f64},
    {"v_cvt_f64", "", OpClass::valu_f64},
    {"v_cvt_", "", OpClass::valu_convert},
    {"v_mul_lo_u32", "", OpClass::valu_multiply},
    {"v_mul_lo_i32", "", OpClass::valu_multiply},
    {"v_mul_hi_u32", "", OpClass::valu_multiply},
    {"v_mul_hi_i32", "", OpClass::valu_multiply},
    {"v_mad_u64_u32", "", OpClass::valu_multiply},
    {"v_mad_i64_i32", "", OpClass::valu_multiply},
    {"v_", "f64", OpClass::valu_f64},
    {"v_lshlrev_b64", "", OpClass::valu_wide},
    {"v_lshrrev_b64", "", OpClass::valu_wide},
    {"v_fma", "", OpClass::valu_fma},
    {"v_mac_", "", OpClass::valu_fma},
    {"v_mad_f", "", OpClass::valu_fma},
    {"v_mad_mix", "", OpClass::valu_fma},
    {"v_pk_fma_", "", OpClass::valu_fma},
    {"v_dot", "", OpClass::valu_fma},
    {"v_ashrrev_i64", "", OpClass::valu_wide},
    {"v_cmp", "64", OpClass::valu_wide},
};

constexpr Row internal_rows[] = {
    {"s_nop", "", OpClass::nop},    {"s_sleep", "", OpClass::sleep},      {"s_barrier", "", OpClass::barrier},
    {"s_endpgm", "", OpClass::end}, {"s_setprio", "", OpClass::priority}, {"s_waitcnt", "", OpClass::waitcnt},
};

constexpr Row message_rows[] = {
    {"s_sendmsg", "", OpClass::message},      {"s_setreg", "", OpClass::message},
    {"s_getreg", "", OpClass::message},       {"s_trap", "", OpClass::message},
    {"s_sethalt", "", OpClass::message},      {"s_icache_inv", "", OpClass::message},
    {"s_ttracedata", "", OpClass::message},   {"s_incperflevel", "", OpClass::message},
    {"s_decperflevel", "", OpClass::message},
};

template <size_t N> const Row* find(const Row (&rows)[N], std::string_view name) {
  for (const Row& row : rows)
    if (name.starts_with(row.prefix) && name.ends_with(row.suffix)) return &row;
  return nullptr;
}

} // namespace

Category category_of(OpClass op) {
  using enum OpClass;
  switch (op) {
  case valu:
  case valu_fma:
  case valu_f64:
  case valu_trans:
  case valu_convert:
  case valu_multiply:
  case valu_wide:
  case mfma:
    return Category::valu;
  case salu:
  case smem:
    return Category::scalar;
  case vmem:
  case flat:
    return Category::vmem;
  case lds:
  case lds_permute:
    return Category::lds;
  case branch:
    return Category::branch;
  case message:
    return Category::message;
  case waitcnt:
  case nop:
  case sleep:
  case barrier:
  case end:
  case priority:
    return Category::internal;
  }
  return Category::internal;
}

OpClass classify(const isa::Instruction& i) {
  const std::string_view name = isa::name_of(i);
  if (i.traits.mfma) return OpClass::mfma;
  if (i.traits.flat) return OpClass::flat;
  if (i.traits.vmem || name.starts_with("buffer_")) return OpClass::vmem;
  if (name.starts_with("ds_bpermute") || name.starts_with("ds_permute") || name.starts_with("ds_swizzle"))
    return OpClass::lds_permute;
  if (i.traits.lds) return OpClass::lds;
  if (i.traits.smem) return OpClass::smem;
  if (i.traits.valu) {
    const Row* row = find(valu_rows, name);
    return row ? row->op : OpClass::valu;
  }
  if (const Row* row = find(internal_rows, name)) return row->op;
  if (const Row* row = find(message_rows, name)) return row->op;
  if (i.traits.branch) return OpClass::branch;
  return OpClass::salu;
}

bool reads_across_lanes(const isa::Instruction& i) {
  return i.suffix != isa::Suffix::none || isa::name_of(i).starts_with("v_permlane");
}

namespace {

struct Shape {
  unsigned m = 32, n = 32, k = 1, blocks = 1;
  std::string_view type; // of the inputs
};

// "v_mfma_f32_32x32x4_2b_bf16", "v_mfma_f32_16x16x16f16", "v_smfmac_i32_16x16x64_i8"
Shape parse_shape(std::string_view name) {
  Shape s;
  const size_t x = name.find('x');
  if (x == std::string_view::npos) return s;
  size_t begin = x;
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9') --begin;
  const char* p = name.data() + begin;
  const char* end = name.data() + name.size();
  const auto number = [&](unsigned& value) { p = std::from_chars(p, end, value).ptr; };
  number(s.m);
  if (p < end) ++p;
  number(s.n);
  if (p < end) ++p;
  number(s.k);
  if (p < end && *p == '_') ++p;
  if (unsigned blocks = 0; p < end && *p >= '0' && *p <= '9') {
    number(blocks);
    s.blocks = blocks;
    if (p < end) ++p; // b
    if (p < end && *p == '_') ++p;
  }
  s.type = std::string_view(p, size_t(end - p));
  return s;
}

constexpr uint32_t passes_by_rows(unsigned m, uint32_t p32, uint32_t p16, uint32_t p4) {
  return m == 32 ? p32 : m == 16 ? p16 : p4;
}

// gfx950's mixed formats: 8-bit inputs take twice the passes of 6- and 4-bit ones.
uint32_t f8f6f4_passes(const isa::Instruction& i, unsigned m) {
  const size_t word = i.encoding == isa::Encoding::vop3px2 ? 2 : 0;
  const unsigned a = (i.words[word] >> 8) & 7, b = i.words[word + 1] >> 29;
  const bool eight_bits = a < 2 || b < 2;
  return (m == 32 ? 8 : 4) * (eight_bits ? 2 : 1);
}

} // namespace

MfmaShape mfma_shape(const isa::Instruction& i, isa::Processor processor) {
  const std::string_view name = isa::name_of(i);
  const Shape s = parse_shape(name);
  const bool f64 = s.type == "f64", f32 = s.type == "f32", sparse = name.starts_with("v_smfmac");
  if (processor < isa::Processor::gfx942) {
    if (f64) return {.passes = passes_by_rows(s.m, 8, 8, 4), .valu_blocked = passes_by_rows(s.m, 32, 32, 16)};
    const uint32_t passes = passes_by_rows(s.m, 16, 8, 2);
    return {.passes = passes, .valu_blocked = processor == isa::Processor::gfx90a ? 4u : 8u};
  }
  if (f64) {
    const uint32_t passes = passes_by_rows(s.m, 8, 8, 4) * (processor == isa::Processor::gfx950 && s.m == 16 ? 2 : 1);
    return {.passes = passes, .valu_blocked = 4 * passes};
  }
  if (f32) {
    const uint32_t passes = passes_by_rows(s.m, 16, 8, 2);
    return {.passes = passes, .valu_blocked = 4 * passes};
  }
  if (s.type == "f8f6f4") return {.passes = f8f6f4_passes(i, s.m), .valu_blocked = 4};
  const uint32_t passes = s.blocks > 1 ? passes_by_rows(s.m, 16, 8, 2) : passes_by_rows(s.m, 8, 4, 2);
  return {.passes = passes, .valu_blocked = sparse ? 8u : 4u};
}

} // namespace asmevo::timing
