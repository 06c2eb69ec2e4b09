// Matrix instructions: MFMA, scaled MFMA, and SMFMAC.
//
// EXEC does not apply: all lanes take part. The work is an outer product for each k: a column of A times a row of B.
// The operands' layout (mfma.h) makes both contiguous in lanes, so a vector of N columns is multiplied by one element
// of A at a time, four or more rows together, and nothing is rearranged but the conversion to f32 (or i16 pairs).
//
// Rounding. AMD publishes neither the order of accumulation nor the width of intermediate sums. Here every product is
// added to the accumulator with one rounding to nearest even, k ascending, as a chain of fma would. Products of f16,
// bf16, FP8 and xf32 are exact in f32. xf32 sources are rounded to 10 fraction bits, to nearest even. MODE is ignored.
// gfx90a reads and writes subnormal f16 and bf16 products as zero (its documented deviation); the others keep them. A
// NaN result is the default NaN. Block scales multiply the sum over their 32 products. So float results are approximate
// in their last bits; integer results are exact and wrap.
#include "machine/semantics/mfma.h"

#include "machine/semantics/float_lanes.h"
#include "machine/stage.h"

#include <vector>

namespace asmevo::machine::ASMEVO_ISA {

namespace {

using isa::MatrixOp;
using isa::MatrixType;
using enum Format;

constexpr unsigned most_elements = 32, most_k = 128;

/// A shape's layout in the form the loops want: offsets in lanes from the first row of an operand.
struct Plan {
  const MatrixOp* op;
  MatrixLayout layout;
  unsigned c_rows;
  uint16_t input[most_k]; // k: A[0][k] and B[k][0] of block 0, elements taken as rows of 64
  uint16_t split[most_k]; // the same for 8-bit operands of f8f6f4
  uint16_t output[64];    // block * m + i: C[i][0]
};
constexpr uint16_t offset(MatrixPlace place) { return uint16_t(place.element * lanes + place.lane); }

std::vector<Plan> make_plans() {
  std::vector<Plan> plans;
  for (const MatrixOp& op : isa::matrix_ops()) {
    Plan plan{&op, layout_of(op), op.c_registers(), {}, {}, {}};
    const MatrixLayout split = layout_of(op, true);
    for (unsigned k = 0; k < op.k; ++k) {
      plan.input[k] = offset(plan.layout.input(0, k, 0));
      if (op.a == MatrixType::f8f6f4) plan.split[k] = offset(split.input(0, k, 0));
    }
    for (unsigned block = 0; block < op.blocks; ++block)
      for (unsigned i = 0; i < op.m; ++i) plan.output[block * op.m + i] = offset(plan.layout.output(i, 0, block));
    plans.push_back(plan);
  }
  return plans;
}
const Plan& plan_of(const Op& op) {
  static const std::vector<Plan> plans = make_plans();
  return plans[op.width];
}

// Sixteen columns of a row
// ---------------------------------------------------------------------------------------------

#if defined(__AVX512F__) && defined(__AVX512BW__)
template <unsigned N> constexpr unsigned rows_together = 8; // of 32 vector registers
struct Columns {
  __m512 v;
  AE_LANES static Columns load(const uint32_t* p) { return {_mm512_loadu_ps(p)}; }
  AE_LANES void store(uint32_t* p) const {
    const __mmask16 nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    _mm512_storeu_si512(p, _mm512_mask_set1_epi32(_mm512_castps_si512(v), nan, int(Binary32::nan)));
  }
  AE_LANES static Columns splat(uint32_t x) { return {_mm512_castsi512_ps(_mm512_set1_epi32(int(x)))}; }
  AE_LANES void add_products(const Columns& a, const Columns& b) { v = _mm512_fmadd_ps(a.v, b.v, v); }
};
struct IntegerColumns {
  __m512i v;
  AE_LANES static IntegerColumns load(const uint32_t* p) { return {_mm512_loadu_si512(p)}; }
  AE_LANES void store(uint32_t* p) const { _mm512_storeu_si512(p, v); }
  AE_LANES static IntegerColumns splat(uint32_t x) { return {_mm512_set1_epi32(int(x))}; }
  AE_LANES void add_products(const IntegerColumns& a, const IntegerColumns& b) { // two of 16 bits in each column
    v = _mm512_add_epi32(v, _mm512_madd_epi16(a.v, b.v));
  }
};
#elif defined(__AVX2__) && defined(__FMA__)
template <unsigned N> constexpr unsigned rows_together = 64 / N; // of 16 vector registers
struct Columns {
  __m256 v[2];
  AE_LANES static Columns load(const uint32_t* p) {
    const auto f = reinterpret_cast<const float*>(p);
    return {{_mm256_loadu_ps(f), _mm256_loadu_ps(f + 8)}};
  }
  AE_LANES void store(uint32_t* p) const {
    const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(int(Binary32::nan)));
    for (unsigned h = 0; h < 2; ++h)
      _mm256_storeu_ps(reinterpret_cast<float*>(p) + 8 * h,
                       _mm256_blendv_ps(v[h], nan, _mm256_cmp_ps(v[h], v[h], _CMP_UNORD_Q)));
  }
  AE_LANES static Columns splat(uint32_t x) {
    const __m256 s = _mm256_castsi256_ps(_mm256_set1_epi32(int(x)));
    return {{s, s}};
  }
  AE_LANES void add_products(const Columns& a, const Columns& b) {
    v[0] = _mm256_fmadd_ps(a.v[0], b.v[0], v[0]);
    v[1] = _mm256_fmadd_ps(a.v[1], b.v[1], v[1]);
  }
};
struct IntegerColumns {
  __m256i v[2];
  AE_LANES static IntegerColumns load(const uint32_t* p) {
    const auto q = reinterpret_cast<const __m256i*>(p);
    return {{_mm256_loadu_si256(q), _mm256_loadu_si256(q + 1)}};
  }
  AE_LANES void store(uint32_t* p) const {
    const auto q = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(q, v[0]);
    _mm256_storeu_si256(q + 1, v[1]);
  }
  AE_LANES static IntegerColumns splat(uint32_t x) {
    const __m256i s = _mm256_set1_epi32(int(x));
    return {{s, s}};
  }
  AE_LANES void add_products(const IntegerColumns& a, const IntegerColumns& b) {
    v[0] = _mm256_add_epi32(v[0], _mm256_madd_epi16(a.v[0], b.v[0]));
    v[1] = _mm256_add_epi32(v[1], _mm256_madd_epi16(a.v[1], b.v[1]));
  }
};
#else
template <unsigned N> constexpr unsigned rows_together = 4;
struct Columns {
  float v[16];
  AE_LANES static Columns load(const uint32_t* p) {
    Columns c;
    __builtin_memcpy(c.v, p, sizeof c.v);
    return c;
  }
  AE_LANES void store(uint32_t* p) const {
    for (unsigned j = 0; j < 16; ++j) p[j] = v[j] != v[j] ? Binary32::nan : std::bit_cast<uint32_t>(v[j]);
  }
  AE_LANES static Columns splat(uint32_t x) {
    Columns c;
    for (float& f : c.v) f = std::bit_cast<float>(x);
    return c;
  }
  AE_LANES void add_products(const Columns& a, const Columns& b) {
    for (unsigned j = 0; j < 16; ++j) v[j] = __builtin_fmaf(a.v[j], b.v[j], v[j]);
  }
};
struct IntegerColumns {
  int32_t v[16];
  AE_LANES static IntegerColumns load(const uint32_t* p) {
    IntegerColumns c;
    __builtin_memcpy(c.v, p, sizeof c.v);
    return c;
  }
  AE_LANES void store(uint32_t* p) const { __builtin_memcpy(p, v, sizeof v); }
  AE_LANES static IntegerColumns splat(uint32_t x) {
    IntegerColumns c;
    for (int32_t& i : c.v) i = int32_t(x);
    return c;
  }
  AE_LANES void add_products(const IntegerColumns& a, const IntegerColumns& b) {
    for (unsigned j = 0; j < 16; ++j) {
      const uint32_t low = uint32_t(int16_t(a.v[j]) * int16_t(b.v[j]));
      const uint32_t high = uint32_t(int16_t(a.v[j] >> 16) * int16_t(b.v[j] >> 16));
      v[j] = int32_t(uint32_t(v[j]) + low + high);
    }
  }
};
#endif

// The product
// ----------------------------------------------------------------------------------------------------------

/// A and B of one instruction, converted: for each step in k, where the 64 lanes of that k begin.
struct Steps {
  unsigned count = 0;
  const uint32_t* a[most_k];
  const uint32_t* b[most_k];
};

/// `Rows` rows of a block, N columns wide, over all steps. `a` and `b` are lane offsets of the block's first row and
/// column; `from` and `to` are where the rows of C and D begin.
template <class Vector, unsigned N, unsigned Rows>
AE_LANES void accumulate_rows(const Steps& steps, unsigned a, unsigned b, const uint32_t* const (&from)[Rows],
                              uint32_t* const (&to)[Rows]) {
  constexpr unsigned vectors = N / 16;
  Vector sum[Rows][vectors];
  for (unsigned r = 0; r < Rows; ++r)
    for (unsigned v = 0; v < vectors; ++v) sum[r][v] = Vector::load(from[r] + 16 * v);
  for (unsigned s = 0; s < steps.count; ++s) {
    Vector row[vectors];
    for (unsigned v = 0; v < vectors; ++v) row[v] = Vector::load(steps.b[s] + b + 16 * v);
    const uint32_t* column = steps.a[s] + a;
    for (unsigned r = 0; r < Rows; ++r)
      for (unsigned v = 0; v < vectors; ++v) sum[r][v].add_products(Vector::splat(column[r]), row[v]);
  }
  for (unsigned r = 0; r < Rows; ++r)
    for (unsigned v = 0; v < vectors; ++v) sum[r][v].store(to[r] + 16 * v);
}

/// 16 x 16 and 32 x 32 shapes.
template <class Vector, unsigned N>
void multiply(const Plan& plan, const Steps& steps, uint32_t cbsz, uint32_t abid, const Row* c, Row* d) {
  constexpr unsigned rows = rows_together<N>;
  const unsigned blocks = plan.layout.blocks;
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned a_block = ((block >> cbsz << cbsz) + abid) & (blocks - 1);
    for (unsigned i = 0; i < N; i += rows) {
      const uint32_t* from[rows];
      uint32_t* to[rows];
      for (unsigned r = 0; r < rows; ++r) {
        const unsigned at = plan.output[block * N + i + r];
        from[r] = c->lane + at;
        to[r] = d->lane + at;
      }
      accumulate_rows<Vector, N, rows>(steps, a_block * N + i, block * N, from, to);
    }
  }
}

/// 4 x 4 in 16 blocks: a lane is a column of a block, its four registers the rows. Each lane has its own element of A.
template <class Vector> void multiply_small(const Steps& steps, uint32_t cbsz, uint32_t abid, const Row* c, Row* d) {
  uint8_t from[lanes];
  for (unsigned lane = 0; lane < lanes; ++lane) from[lane] = uint8_t((((lane / 4 >> cbsz << cbsz) + abid) & 15) * 4);
  for (unsigned i = 0; i < 4; ++i) {
    Row spread[4]; // K is at most 4
    for (unsigned s = 0; s < steps.count; ++s)
      for (unsigned lane = 0; lane < lanes; ++lane) spread[s].lane[lane] = steps.a[s][from[lane] + i];
    for (unsigned first = 0; first < lanes; first += 16) {
      Vector sum = Vector::load(c[i].lane + first);
      for (unsigned s = 0; s < steps.count; ++s)
        sum.add_products(Vector::load(spread[s].lane + first), Vector::load(steps.b[s] + first));
      sum.store(d[i].lane + first);
    }
  }
}

template <class Vector>
void multiply_any(const Plan& plan, const Steps& steps, const Modifiers& m, const Row* c, Row* d) {
  const bool broadcasts = plan.layout.blocks > 1;
  const uint32_t cbsz = broadcasts ? m.cbsz() : 0, abid = broadcasts ? m.abid() : 0;
  if (plan.layout.n == 32)
    multiply<Vector, 32>(plan, steps, cbsz, abid, c, d);
  else if (plan.layout.n == 16)
    multiply<Vector, 16>(plan, steps, cbsz, abid, c, d);
  else
    multiply_small<Vector>(steps, cbsz, abid, c, d);
}

/// Runs `product(c, d)` so that C and D may overlap in any way.
template <class Product> AE_LANES void into(Wave& w, const Op& op, RowRef c, unsigned rows, Product product) {
  Row* d = row(w, op.dst);
  const Row* from = row(w, c);
  if (from == d || from + rows <= d || d + rows <= from) return product(from, d);
  Row results[32];
  product(from, results);
  std::copy(results, results + rows, d);
}

// Conversion
// -----------------------------------------------------------------------------------------------------------

/// FP8 and BF8 to f32: exponent and fraction move to their places, a product corrects the bias (and normalises).
template <class F> AE_LANES uint32_t widen_byte(uint32_t byte) {
  constexpr uint32_t up = 23 - F::fraction_bits;
  constexpr float bias = std::bit_cast<float>(uint32_t(127 + 127 - F::bias) << 23);
  const uint32_t magnitude = (byte & 0x7fu) << up;
  const uint32_t number = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * bias);
  uint32_t result = number | (byte & 0x80u) << 24;
  if constexpr (F::special == numeric::Special::fnuz)
    result = byte == 0x80u ? Binary32::nan : result;
  else if constexpr (F::special == numeric::Special::one_nan)
    result = (byte & 0x7fu) == 0x7fu ? Binary32::nan : result;
  else if constexpr (F::special == numeric::Special::ieee)
    result = (byte & 0x7fu) >= F::infinity ? result | 0x7f800000u : result;
  return result;
}
template <class F> constexpr auto small_numbers = [] {
  std::array<uint32_t, 64> table{};
  for (unsigned code = 0; code < 1u << F::width; ++code) table[code] = numeric::convert<Binary32, F>(uint8_t(code), {});
  return table;
}();

/// Element `e` of each lane of a packed operand of `Bits` bits.
template <unsigned Bits> AE_LANES uint32_t packed_element(const Row* in, unsigned e, unsigned i) {
  const unsigned bit = e * Bits, word = bit / 32, shift = bit % 32;
  uint64_t pair = in[word].lane[i];
  if (shift + Bits > 32) pair |= uint64_t{in[word + 1].lane[i]} << 32;
  return uint32_t(pair >> shift) & ((1u << Bits) - 1);
}

/// The bits that a lane's element types need, as f32. `ocp`: FP8 means the OCP formats (gfx950).
void to_floats(MatrixType type, bool ocp, bool flush, const Row* in, unsigned elements, Row* out) {
  const auto bytes = [&]<class F>(F) {
    for (unsigned e = 0; e < elements; ++e)
      AE_EACH_LANE out[e].lane[i] = widen_byte<F>(in[e / 4].lane[i] >> (8 * (e % 4)) & 0xffu);
  };
  const auto looked_up = [&]<class F>(F) {
    for (unsigned e = 0; e < elements; ++e)
      for (unsigned i = 0; i < lanes; ++i) out[e].lane[i] = small_numbers<F>[packed_element<F::width>(in, e, i)];
  };
  switch (type) {
  case MatrixType::f16:
    for (unsigned e = 0; e < elements; e += 2) {
      widen_row(in[e / 2].lane, out[e]);
      widen_row(in[e / 2].lane, out[e + 1], 16);
      if (flush) flush_widened(out[e]), flush_widened(out[e + 1]);
    }
    break;
  case MatrixType::bf16:
    for (unsigned e = 0; e < elements; e += 2) {
      AE_EACH_LANE {
        const uint32_t low = in[e / 2].lane[i] << 16, high = in[e / 2].lane[i] & 0xffff0000u;
        out[e].lane[i] = flush ? flush32(low) : low;
        out[e + 1].lane[i] = flush ? flush32(high) : high;
      }
    }
    break;
  case MatrixType::xf32:
    for (unsigned e = 0; e < elements; ++e) AE_EACH_LANE {
        const uint32_t x = in[e].lane[i], rounded = (x + 0xfffu + (x >> 13 & 1)) & 0xffffe000u;
        out[e].lane[i] = (x & 0x7f800000u) == 0x7f800000u ? x : rounded;
      }
    break;
  case MatrixType::fp8:
    ocp ? bytes(numeric::Fp8Ocp{}) : bytes(numeric::Fp8Fnuz{});
    break;
  case MatrixType::bf8:
    ocp ? bytes(numeric::Bf8Ocp{}) : bytes(numeric::Bf8Fnuz{});
    break;
  case MatrixType::fp6:
    looked_up(numeric::Fp6{});
    break;
  case MatrixType::bf6:
    looked_up(numeric::Bf6{});
    break;
  case MatrixType::fp4:
    looked_up(numeric::Fp4{});
    break;
  default:
    std::copy(in, in + elements, out);
    break;
  }
}

/// Bytes e and e + 1 of each lane, sign-extended to 16 bits: what the pairwise multiply takes.
void to_pairs(const Row* in, unsigned elements, Row* out) {
  for (unsigned e = 0; e < elements; e += 2) AE_EACH_LANE {
      const uint32_t two = in[e / 4].lane[i] >> (8 * (e % 4));
      const uint32_t low = uint32_t(int32_t(two << 24) >> 24) & 0xffffu, high = uint32_t(int32_t(two << 16) >> 24)
                                                                                << 16;
      out[e / 2].lane[i] = low | high;
    }
}

/// blgp on B: which lane each lane reads.
unsigned blgp_lane(unsigned lane, uint32_t blgp) {
  switch (blgp) {
  case 1:
    return lane % 32;
  case 2:
    return lane % 32 + 32;
  case 3:
    return (lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return lane % 16 + (blgp - 4) * 16;
  default:
    return lane;
  }
}
void apply_blgp(uint32_t blgp, unsigned rows, Row* b) {
  if (!blgp) return;
  for (unsigned r = 0; r < rows; ++r) {
    const Row old = b[r];
    for (unsigned lane = 0; lane < lanes; ++lane) b[r].lane[lane] = old.lane[blgp_lane(lane, blgp)];
  }
}

/// Where the lanes of each k begin; integer pairs share a row and a step.
template <unsigned Per = 1> AE_LANES void set_steps(Steps& steps, const Plan& plan, const Row* a, const Row* b) {
  steps.count = plan.layout.k / Per;
  for (unsigned s = 0; s < steps.count; ++s) {
    const unsigned at = plan.input[s * Per], place = at / lanes / Per * lanes + at % lanes;
    steps.a[s] = a->lane + place;
    steps.b[s] = b->lane + place;
  }
}

// Instructions
// ---------------------------------------------------------------------------------------------------------

/// f32 += f32, xf32, f16, bf16, FP8. Flush: gfx90a with 16-bit types. Ocp: gfx950's FP8.
template <bool Flush, bool Ocp> void mfma_f32(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const MatrixOp& shape = *plan.op;
  const MatrixLayout& layout = plan.layout;
  const bool flush = Flush && (shape.a == MatrixType::f16 || shape.a == MatrixType::bf16);
  Row a[most_elements], b[most_elements];
  to_floats(shape.a, Ocp, flush, row(w, op.src[0]), layout.elements(), a);
  to_floats(shape.b, Ocp, flush, row(w, op.src[1]), layout.elements(), b);
  apply_blgp(op.modifiers.blgp(), layout.elements(), b);
  const unsigned rows = plan.c_rows;
  into(w, op, op.src[2], rows, [&](const Row* c, Row* d) {
    Steps steps;
    set_steps(steps, plan, a, b);
    multiply_any<Columns>(plan, steps, op.modifiers, c, d);
    if (flush)
      for (unsigned r = 0; r < rows; ++r) AE_EACH_LANE d[r].lane[i] = flush32(d[r].lane[i]);
  });
}

void mfma_i32(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const MatrixLayout& layout = plan.layout;
  Row a[most_elements / 2], b[most_elements / 2];
  to_pairs(row(w, op.src[0]), layout.elements(), a);
  to_pairs(row(w, op.src[1]), layout.elements(), b);
  apply_blgp(op.modifiers.blgp(), layout.elements() / 2, b);
  into(w, op, op.src[2], plan.c_rows, [&](const Row* c, Row* d) {
    Steps steps;
    set_steps<2>(steps, plan, a, b);
    multiply_any<IntegerColumns>(plan, steps, op.modifiers, c, d);
  });
}

/// f64, one element of A and B a lane. blgp negates A, B and C.
void mfma_f64(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const MatrixLayout& layout = plan.layout;
  const unsigned pairs = layout.m * layout.n * layout.blocks / 64;
  const uint32_t neg = op.modifiers.blgp();
  const auto load = [&](RowRef ref, unsigned rows, bool negate, double (*out)[lanes]) {
    const Row* in = row(w, ref);
    const uint64_t sign = negate ? Binary64::sign : 0;
    for (unsigned r = 0; r < rows; ++r)
      AE_EACH_LANE out[r][i] =
          std::bit_cast<double>((uint64_t{in[2 * r + 1].lane[i]} << 32 | in[2 * r].lane[i]) ^ sign);
  };
  double a[1][lanes], b[1][lanes], sum[4][lanes];
  load(op.src[0], 1, neg & 1, a);
  load(op.src[1], 1, neg & 2, b);
  load(op.src[2], pairs, neg & 4, sum);
  const uint32_t cbsz = layout.blocks > 1 ? op.modifiers.cbsz() : 0, abid = cbsz ? op.modifiers.abid() : 0;
  for (unsigned block = 0; block < layout.blocks; ++block) {
    const unsigned a_block = ((block >> cbsz << cbsz) + abid) % layout.blocks;
    for (unsigned i = 0; i < layout.m; ++i) {
      double* row_of_d = sum[0] + plan.output[block * layout.m + i];
      for (unsigned k = 0; k < layout.k; ++k) {
        const double factor = a[0][plan.input[k] + a_block * layout.m + i];
        const double* row_of_b = b[0] + plan.input[k] + block * layout.n;
        for (unsigned j = 0; j < layout.n; ++j) row_of_d[j] = __builtin_fma(factor, row_of_b[j], row_of_d[j]);
      }
    }
  }
  Row* d = row(w, op.dst);
  for (unsigned r = 0; r < pairs; ++r) AE_EACH_LANE {
      const uint64_t bits = sum[r][i] != sum[r][i] ? Binary64::nan : std::bit_cast<uint64_t>(sum[r][i]);
      d[2 * r].lane[i] = uint32_t(bits);
      d[2 * r + 1].lane[i] = uint32_t(bits >> 32);
    }
}

/// gfx950: cbsz and blgp choose the types of A and B.
MatrixType small_type(uint32_t code) {
  constexpr MatrixType types[] = {MatrixType::fp8, MatrixType::bf8, MatrixType::fp6, MatrixType::bf6, MatrixType::fp4};
  return types[std::min(code, 4u)];
}
/// Both operands in one order of k: FP8 has its own layout (mfma.h).
struct SmallOperands {
  Row a[most_elements], b[most_elements];
  Steps steps;
  SmallOperands(Wave& w, const Op& op, const Plan& plan) {
    const MatrixType types[] = {small_type(op.modifiers.cbsz()), small_type(op.modifiers.blgp())};
    to_floats(types[0], true, false, row(w, op.src[0]), most_elements, a);
    to_floats(types[1], true, false, row(w, op.src[1]), most_elements, b);
    const uint16_t* of_a = isa::bits_of(types[0]) == 8 ? plan.split : plan.input;
    const uint16_t* of_b = isa::bits_of(types[1]) == 8 ? plan.split : plan.input;
    steps.count = plan.layout.k;
    for (unsigned k = 0; k < steps.count; ++k) steps.a[k] = a->lane + of_a[k], steps.b[k] = b->lane + of_b[k];
  }
};
void mfma_f8f6f4(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const SmallOperands operands(w, op, plan);
  into(w, op, op.src[2], plan.c_rows,
       [&](const Row* c, Row* d) { multiply_any<Columns>(plan, operands.steps, op.modifiers, c, d); });
}

/// An E8M0 scale is a power of two, all ones is NaN. The scale of row i and block of 32 k is in lane i + M * block.
AE_LANES double scale_of(uint32_t code) {
  return code == 0xffu ? std::numeric_limits<double>::quiet_NaN()
                       : std::bit_cast<double>(uint64_t(int64_t(code) - 127 + 1023) << 52);
}
void mfma_scale_f8f6f4(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const MatrixLayout& layout = plan.layout;
  const SmallOperands operands(w, op, plan);
  const unsigned rows = plan.c_rows;
  double scale[2][lanes];
  for (unsigned k = 0; k < 2; ++k) {
    const uint32_t* codes = row(w, op.stage->scale[k])->lane;
    for (unsigned i = 0; i < lanes; ++i) scale[k][i] = scale_of(codes[i] >> (8 * op.stage->scale_select[k]) & 0xffu);
  }
  const Row* c = row(w, op.src[2]);
  Row sums[32], partial[32];
  std::copy(c, c + rows, sums);
  for (unsigned first = 0; first < layout.k; first += 32) {
    Steps steps;
    steps.count = 32;
    std::copy(operands.steps.a + first, operands.steps.a + first + 32, steps.a);
    std::copy(operands.steps.b + first, operands.steps.b + first + 32, steps.b);
    for (unsigned r = 0; r < rows; ++r) partial[r] = Row{};
    multiply_any<Columns>(plan, steps, op.modifiers, partial, partial);
    const double *a_scale = scale[0] + first / 32 * layout.m, *b_scale = scale[1] + first / 32 * layout.n;
    for (unsigned i = 0; i < layout.m; ++i) {
      for (unsigned j = 0; j < layout.n; ++j) {
        uint32_t& sum = sums->lane[plan.output[i] + j];
        const double product = double(std::bit_cast<float>(partial->lane[plan.output[i] + j]));
        const float total = float(double(std::bit_cast<float>(sum)) + product * a_scale[i] * b_scale[j]);
        sum = total != total ? Binary32::nan : std::bit_cast<uint32_t>(total);
      }
    }
  }
  std::copy(sums, sums + rows, row(w, op.dst));
}

/// SMFMAC: A keeps two of every four elements of K; two bits of the index register say where each one sits. 8-bit and
/// smaller-K shapes need fewer index bits than a register has: abid chooses the field, unless cbsz is set.
void expand_sparse(Wave& w, const Op& op, const Row* compressed, unsigned kept, Row* a) {
  const uint32_t* index = row(w, op.src[2])->lane;
  const unsigned index_bits = 2 * kept, fields = 32 / index_bits;
  const unsigned field = op.modifiers.cbsz() ? 0 : op.modifiers.abid() % fields;
  std::fill(a, a + 2 * kept, Row{});
  for (unsigned e = 0; e < kept; ++e)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const unsigned position = index[lane] >> (field * index_bits + 2 * e) & 3;
      a[e / 2 * 4 + position].lane[lane] = compressed[e].lane[lane];
    }
}
template <bool Ocp> void smfmac_f32(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const MatrixOp& shape = *plan.op;
  const MatrixLayout& layout = plan.layout;
  const unsigned elements = layout.elements(), kept = elements / 2;
  Row compressed[most_elements], a[most_elements], b[most_elements];
  to_floats(shape.a, Ocp, false, row(w, op.src[0]), kept, compressed);
  to_floats(shape.b, Ocp, false, row(w, op.src[1]), elements, b);
  expand_sparse(w, op, compressed, kept, a);
  apply_blgp(op.modifiers.blgp(), elements, b);
  Row* d = row(w, op.dst);
  Steps steps;
  set_steps(steps, plan, a, b);
  multiply_any<Columns>(plan, steps, op.modifiers, d, d);
}
void smfmac_i32(Wave& w, const Op& op) {
  const Plan& plan = plan_of(op);
  const MatrixLayout& layout = plan.layout;
  const unsigned elements = layout.elements(), kept = elements / 2;
  const Row* packed = row(w, op.src[0]);
  Row compressed[most_elements], a[most_elements], pairs[most_elements / 2], b[most_elements / 2];
  for (unsigned e = 0; e < kept; ++e)
    AE_EACH_LANE compressed[e].lane[i] = uint32_t(int32_t(packed[e / 4].lane[i] << (24 - 8 * (e % 4))) >> 24) & 0xffffu;
  expand_sparse(w, op, compressed, kept, a);
  for (unsigned e = 0; e < elements; e += 2) AE_EACH_LANE pairs[e / 2].lane[i] = a[e].lane[i] | a[e + 1].lane[i] << 16;
  to_pairs(row(w, op.src[1]), elements, b);
  apply_blgp(op.modifiers.blgp(), elements / 2, b);
  Row* d = row(w, op.dst);
  Steps steps;
  set_steps<2>(steps, plan, pairs, b);
  multiply_any<IntegerColumns>(plan, steps, op.modifiers, d, d);
}

// Rows from the instruction set's own table ---------------------------------------------------------------------------

Handler handler_of(const MatrixOp& op, isa::Processor processor) {
  const bool ocp = processor == isa::Processor::gfx950;
  if (op.sparse) return op.c == MatrixType::i32 ? &smfmac_i32 : ocp ? &smfmac_f32<true> : &smfmac_f32<false>;
  if (op.c == MatrixType::i32) return &mfma_i32;
  if (op.c == MatrixType::f64) return &mfma_f64;
  if (op.a == MatrixType::f8f6f4) return &mfma_f8f6f4;
  if (processor == isa::Processor::gfx90a) return &mfma_f32<true, false>;
  return ocp ? &mfma_f32<false, true> : &mfma_f32<false, false>;
}

std::vector<InstructionRow> make_rows() {
  std::vector<InstructionRow> rows;
  const auto ops = isa::matrix_ops();
  for (size_t index = 0; index < ops.size(); ++index) {
    const MatrixOp& op = ops[index];
    const bool integer = op.c == MatrixType::i32;
    const Format accumulator = integer ? b32 : op.c == MatrixType::f64 ? f64 : f32;
    const Operand a(b32, uint8_t(op.a_registers())), b(b32, uint8_t(op.b_registers())),
        c(accumulator, uint8_t(op.c_registers()));
    const Signature signature = {.dst = c, .src = {a, b, op.sparse ? Operand(b32) : c}, .raw = true};
    const Support support = integer ? Support::exact : Support::approximate;
    for (const isa::Processor processor :
         {isa::Processor::gfx908, isa::Processor::gfx90a, isa::Processor::gfx942, isa::Processor::gfx950})
      if (op.passes(processor))
        rows.push_back(valu(op.name, signature, handler_of(op, processor), support, bit(processor), uint16_t(index)));
    // The scaled forms share the shape.
    constexpr std::pair<std::string_view, std::string_view> scaled[] = {
        {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_16x16x128_f8f6f4"},
        {"v_mfma_f32_32x32x64_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4"}};
    for (const auto& [plain, name] : scaled)
      if (op.name == plain)
        rows.push_back(valu(name, signature, &mfma_scale_f8f6f4, support, on_gfx950, uint16_t(index)));
  }
  return rows;
}

} // namespace

std::span<const InstructionRow> mfma() {
  static const std::vector<InstructionRow> rows = make_rows();
  return rows;
}

} // namespace asmevo::machine::ASMEVO_ISA
