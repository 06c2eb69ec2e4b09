// Matrix instructions against a plain matrix product. The layouts are written down again here, from the equations that
// AMD's calculator prints for each shape, and not taken from semantics/mfma.h.
#include "valu_fixture.h"

#include "isa/mfma.h"
#include "machine/numeric/convert.h"
#include "machine/stage.h"
#include "wave_fixture.h"

namespace asmevo::machine {
namespace {

using isa::MatrixOp;
using isa::MatrixType;
using isa::Processor;

/// A matrix instruction's operands in full: rows 0.. of each operand in the fixture's register file.
struct Operands {
  static constexpr uint32_t a = 64, b = 128, c = 192, d = 0;
};

struct Place {
  unsigned element, lane;
};
/// "A[i][k] lane: M * block + M * blocks * floor(k / E) + i", element k % E.
Place input_place(const MatrixOp& op, unsigned i, unsigned k, unsigned block) {
  const unsigned e = op.m * op.k * op.blocks / 64;
  return {k % e, op.m * block + op.m * op.blocks * (k / e) + i};
}
/// The equations of the calculator's _coord_to_output_reg_eqn and _coord_to_lane_eqn, shape by shape.
Place output_place(const MatrixOp& op, unsigned i, unsigned j, unsigned block) {
  if (op.c == MatrixType::f64)
    return op.blocks == 1 ? Place{i / 4, 16 * (i % 4) + j} : Place{0, 16 * i + 4 * block + j};
  if (op.m == 4) return {i, 4 * block + j};
  if (op.m == 16) return {4 * block + i % 4, 16 * (i / 4) + j};
  return {16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4) % 64 + j};
}

/// Small integers, so that every product and sum is exact in every type.
int small(std::mt19937& random) { return int(random() % 7) - 3; }
/// Any byte, the extremes often.
int byte(std::mt19937& random) { return random() % 3 ? int(random() % 256) - 128 : random() % 2 ? -128 : 127; }

uint64_t encode(MatrixType type, int value, bool ocp) {
  using namespace numeric;
  const uint32_t f = std::bit_cast<uint32_t>(float(value));
  switch (type) {
  case MatrixType::f64:
    return std::bit_cast<uint64_t>(double(value));
  case MatrixType::f16:
    return convert<Binary16, Binary32>(f, {});
  case MatrixType::bf16:
    return convert<Bfloat16, Binary32>(f, {});
  case MatrixType::i8:
    return uint8_t(value);
  case MatrixType::fp8:
    return ocp ? convert<Fp8Ocp, Binary32>(f, {}) : convert<Fp8Fnuz, Binary32>(f, {});
  case MatrixType::bf8:
    return ocp ? convert<Bf8Ocp, Binary32>(f, {}) : convert<Bf8Fnuz, Binary32>(f, {});
  case MatrixType::fp6:
    return convert<Fp6, Binary32>(f, {});
  case MatrixType::bf6:
    return convert<Bf6, Binary32>(f, {});
  case MatrixType::fp4:
    return convert<Fp4, Binary32>(f, {});
  default:
    return f;
  }
}
void put(Lanes& lanes, uint32_t base, MatrixType type, Place place, uint64_t code) {
  const unsigned width = isa::bits_of(type), bit = place.element * width;
  for (unsigned k = 0; k < width; ++k) {
    uint32_t& word = lanes.vgpr(base + (bit + k) / 32).lane[place.lane];
    word = (word & ~(1u << (bit + k) % 32)) | uint32_t(code >> k & 1) << (bit + k) % 32;
  }
}
double value_at(Lanes& lanes, uint32_t base, MatrixType type, Place place) {
  const auto word = [&](unsigned r) { return lanes.vgpr(base + r).lane[place.lane]; };
  if (type == MatrixType::f64)
    return std::bit_cast<double>(uint64_t{word(2 * place.element + 1)} << 32 | word(2 * place.element));
  if (type == MatrixType::i32) return int32_t(word(place.element));
  return std::bit_cast<float>(word(place.element));
}

struct Matrices {
  std::vector<int> a, b, c; // by block, row, column
};
Matrices random_matrices(const MatrixOp& op, std::mt19937& random) {
  Matrices m;
  m.a.resize(op.blocks * op.m * op.k), m.b.resize(op.blocks * op.k * op.n), m.c.resize(op.blocks * op.m * op.n);
  for (auto* v : {&m.a, &m.b, &m.c})
    for (int& x : *v) x = op.a == MatrixType::i8 ? byte(random) : small(random);
  if (op.a == MatrixType::i8)
    for (int& x : m.c) x = int(interesting_word(random)); // sums wrap
  return m;
}
void aim(Lanes& lanes) {
  lanes.op.dst = RowRef::of(RowSpace::vgpr, Operands::d);
  lanes.op.src[0] = RowRef::of(RowSpace::vgpr, Operands::a);
  lanes.op.src[1] = RowRef::of(RowSpace::vgpr, Operands::b);
  lanes.op.src[2] = RowRef::of(RowSpace::vgpr, Operands::c);
}

Processor newest(const MatrixOp& op) {
  for (Processor p : {Processor::gfx950, Processor::gfx942, Processor::gfx90a, Processor::gfx908})
    if (op.passes(p)) return p;
  return Processor::gfx908;
}
std::vector<Processor> processors(const MatrixOp& op) {
  std::vector<Processor> all;
  for (Processor p : {Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950})
    if (op.passes(p)) all.push_back(p);
  return all;
}

TEST(Mfma, every_dense_shape_multiplies_matrices) {
  std::mt19937 random(1);
  for (const MatrixOp& op : isa::matrix_ops()) {
    if (op.sparse || op.a == MatrixType::f8f6f4) continue;
    for (Processor processor : processors(op)) {
      const bool ocp = processor == Processor::gfx950;
      const Matrices m = random_matrices(op, random);
      Lanes lanes;
      aim(lanes);
      for (unsigned block = 0; block < op.blocks; ++block) {
        for (unsigned i = 0; i < op.m; ++i)
          for (unsigned k = 0; k < op.k; ++k) {
            put(lanes, Operands::a, op.a, input_place(op, i, k, block),
                encode(op.a, m.a[(block * op.m + i) * op.k + k], ocp));
            put(lanes, Operands::b, op.b, input_place(op, i, k, block),
                encode(op.b, m.b[(block * op.k + k) * op.n + i], ocp));
          }
        for (unsigned i = 0; i < op.m; ++i)
          for (unsigned j = 0; j < op.n; ++j) {
            const int value = m.c[(block * op.m + i) * op.n + j];
            put(lanes, Operands::c, op.c, output_place(op, i, j, block),
                op.c == MatrixType::i32 ? uint32_t(value) : encode(op.c, value, ocp));
          }
      }
      lanes.wave.set_exec(1); // all lanes take part whatever EXEC says
      lanes.run(op.name, processor);
      for (unsigned block = 0; block < op.blocks; ++block)
        for (unsigned i = 0; i < op.m; ++i)
          for (unsigned j = 0; j < op.n; ++j) {
            uint32_t sum = uint32_t(m.c[(block * op.m + i) * op.n + j]);
            for (unsigned k = 0; k < op.k; ++k)
              sum += uint32_t(m.a[(block * op.m + i) * op.k + k] * m.b[(block * op.k + k) * op.n + j]);
            const int expected = int(sum);
            ASSERT_EQ(value_at(lanes, Operands::d, op.c, output_place(op, i, j, block)), expected)
                << op.name << " on " << isa::processor_name(processor) << " block " << block << " i " << i << " j "
                << j;
          }
      note_tested(op.name, processor);
    }
  }
}

TEST(Mfma, the_result_may_replace_the_accumulator_or_overlap_it) {
  std::mt19937 random(2);
  for (std::string_view name : {"v_mfma_f32_32x32x8_f16", "v_mfma_f32_16x16x16_f16", "v_mfma_f64_16x16x4_f64",
                                "v_mfma_i32_32x32x16_i8", "v_mfma_f32_4x4x4_16b_f16"}) {
    Lanes apart;
    aim(apart);
    for (unsigned r = 64; r < 256; ++r)
      for (auto& x : apart.vgpr(r).lane) x = name == "v_mfma_i32_32x32x16_i8" ? random() : random() & 0x3fff3fff;
    for (int shift : {0, 2, -2}) {
      Lanes together;
      aim(together);
      for (unsigned r = 64; r < 256; ++r) together.vgpr(r) = apart.vgpr(r);
      together.op.dst = RowRef::of(RowSpace::vgpr, Operands::c + shift);
      together.run(name);
      apart.run(name);
      for (unsigned r = 0; r < isa::matrix_op(name)->c_registers(); ++r)
        for (unsigned i = 0; i < machine::lanes; ++i)
          ASSERT_EQ(together.vgpr(Operands::c + shift + r).lane[i], apart.vgpr(Operands::d + r).lane[i]) << name;
    }
  }
}

TEST(Mfma, cbsz_broadcasts_one_block_of_a_to_its_group) {
  std::mt19937 random(3);
  const MatrixOp& op = *isa::matrix_op("v_mfma_f32_4x4x4_16b_f16");
  const Matrices m = random_matrices(op, random);
  Lanes lanes;
  aim(lanes);
  for (unsigned block = 0; block < 16; ++block)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned k = 0; k < 4; ++k) {
        put(lanes, Operands::a, op.a, input_place(op, i, k, block), encode(op.a, m.a[(block * 4 + i) * 4 + k], false));
        put(lanes, Operands::b, op.b, input_place(op, i, k, block), encode(op.b, m.b[(block * 4 + k) * 4 + i], false));
      }
  lanes.op.modifiers.bits = 2u << 16 | 3u << 19; // cbsz 2: groups of four blocks; abid 3: the last of each
  lanes.run(op.name);
  for (unsigned block = 0; block < 16; ++block)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned j = 0; j < 4; ++j) {
        int expected = 0;
        for (unsigned k = 0; k < 4; ++k)
          expected += m.a[((block / 4 * 4 + 3) * 4 + i) * 4 + k] * m.b[(block * 4 + k) * 4 + j];
        ASSERT_EQ(value_at(lanes, Operands::d, op.c, output_place(op, i, j, block)), expected);
      }
}

TEST(Mfma, blgp_moves_lanes_of_b) {
  std::mt19937 random(4);
  const MatrixOp& op = *isa::matrix_op("v_mfma_f32_32x32x1_2b_f32");
  for (unsigned blgp = 0; blgp < 8; ++blgp) {
    Lanes lanes, moved;
    aim(lanes), aim(moved);
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const uint32_t x = std::bit_cast<uint32_t>(float(small(random))),
                     y = std::bit_cast<uint32_t>(float(small(random)));
      lanes.vgpr(Operands::a).lane[i] = moved.vgpr(Operands::a).lane[i] = x;
      lanes.vgpr(Operands::b).lane[i] = y;
    }
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const unsigned from[] = {i, i % 32, 32 + i % 32, (i + 16) % 64, i % 16, 16 + i % 16, 32 + i % 16, 48 + i % 16};
      moved.vgpr(Operands::b).lane[i] = lanes.vgpr(Operands::b).lane[from[blgp]];
    }
    lanes.op.modifiers.bits = blgp << 23;
    lanes.run(op.name);
    moved.run(op.name);
    for (unsigned r = 0; r < 32; ++r)
      for (unsigned i = 0; i < machine::lanes; ++i) ASSERT_EQ(lanes.vgpr(r).lane[i], moved.vgpr(r).lane[i]) << blgp;
  }
}

TEST(Mfma, sparse_shapes_multiply_the_elements_that_the_index_names) {
  std::mt19937 random(5);
  for (const MatrixOp& op : isa::matrix_ops()) {
    if (!op.sparse) continue;
    for (Processor processor : processors(op)) {
      const bool ocp = processor == Processor::gfx950;
      Matrices m = random_matrices(op, random);
      Lanes lanes;
      aim(lanes);
      const unsigned in_lane = op.m * op.k / 64, kept = in_lane / 2, fields = 16 / kept;
      const unsigned field = fields > 1 ? 1 : 0;
      for (auto& a : m.a) a = 0;
      for (unsigned lane = 0; lane < machine::lanes; ++lane)
        for (unsigned group = 0; group < kept / 2; ++group) {
          const unsigned first = random() % 3, second = first + 1 + random() % (3 - first);
          for (unsigned n = 0; n < 2; ++n) {
            const unsigned position = n ? second : first, e = 2 * group + n;
            const int value = op.a == MatrixType::i8 ? byte(random) : small(random);
            m.a[(lane % op.m) * op.k + lane / op.m * in_lane + 4 * group + position] = value;
            put(lanes, Operands::a, op.a, {e, lane}, encode(op.a, value, ocp));
            lanes.vgpr(Operands::c).lane[lane] |= position << (2 * e + 2 * kept * field);
          }
        }
      for (unsigned j = 0; j < op.n; ++j)
        for (unsigned k = 0; k < op.k; ++k)
          put(lanes, Operands::b, op.b, input_place(op, j, k, 0), encode(op.b, m.b[k * op.n + j], ocp));
      for (unsigned i = 0; i < op.m; ++i)
        for (unsigned j = 0; j < op.n; ++j)
          put(lanes, Operands::d, op.c, output_place(op, i, j, 0),
              op.c == MatrixType::i32 ? uint32_t(m.c[i * op.n + j]) : encode(op.c, m.c[i * op.n + j], ocp));
      lanes.op.modifiers.bits = field << 19; // abid
      lanes.run(op.name, processor);
      for (unsigned i = 0; i < op.m; ++i)
        for (unsigned j = 0; j < op.n; ++j) {
          uint32_t sum = uint32_t(m.c[i * op.n + j]);
          for (unsigned k = 0; k < op.k; ++k) sum += uint32_t(m.a[i * op.k + k] * m.b[k * op.n + j]);
          ASSERT_EQ(value_at(lanes, Operands::d, op.c, output_place(op, i, j, 0)), int(sum))
              << op.name << " i " << i << " j " << j;
        }
      note_tested(op.name, processor);
    }
  }
}

/// Logical place of an operand of f8f6f4: FP8 has the two halves of K in the two halves of a lane's registers.
Place small_place(const MatrixOp& op, MatrixType type, unsigned i, unsigned k) {
  if (isa::bits_of(type) != 8) return {k % 32, op.m * (k / 32) + i};
  const unsigned groups = 64 / op.m; // of 16 k in each half
  return {k / (16 * groups) * 16 + k % 16, op.m * (k / 16 % groups) + i};
}

TEST(Mfma, f8f6f4_multiplies_every_pair_of_types_with_and_without_scales) {
  std::mt19937 random(6);
  constexpr MatrixType types[] = {MatrixType::fp8, MatrixType::bf8, MatrixType::fp6, MatrixType::bf6, MatrixType::fp4};
  for (std::string_view name : {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"})
    for (unsigned ta = 0; ta < 5; ++ta)
      for (unsigned tb = 0; tb < 5; ++tb)
        for (bool scaled : {false, true}) {
          const MatrixOp& op = *isa::matrix_op(name);
          const Matrices m = random_matrices(op, random);
          Lanes lanes;
          aim(lanes);
          for (unsigned i = 0; i < op.m; ++i)
            for (unsigned k = 0; k < op.k; ++k) {
              put(lanes, Operands::a, types[ta], small_place(op, types[ta], i, k),
                  encode(types[ta], m.a[i * op.k + k], true));
              put(lanes, Operands::b, types[tb], small_place(op, types[tb], i, k),
                  encode(types[tb], m.b[k * op.n + i], true));
            }
          for (unsigned i = 0; i < op.m; ++i)
            for (unsigned j = 0; j < op.n; ++j)
              put(lanes, Operands::c, op.c, output_place(op, i, j, 0), encode(op.c, m.c[i * op.n + j], true));
          Stage stage;
          std::vector<unsigned> scale_a(64), scale_b(64);
          for (unsigned lane = 0; lane < 64; ++lane) {
            scale_a[lane] = 124 + random() % 7, scale_b[lane] = 124 + random() % 7;
            lanes.vgpr(300).lane[lane] = scale_a[lane] << 16;
            lanes.vgpr(301).lane[lane] = scale_b[lane];
          }
          stage.scale[0] = RowRef::of(RowSpace::vgpr, 300);
          stage.scale[1] = RowRef::of(RowSpace::vgpr, 301);
          stage.scale_select[0] = 2;
          lanes.op.stage = &stage;
          lanes.op.modifiers.bits = ta << 16 | tb << 23;
          std::string full(name);
          if (scaled) full.insert(7, "scale_");
          lanes.run(full, Processor::gfx950);
          for (unsigned i = 0; i < op.m; ++i)
            for (unsigned j = 0; j < op.n; ++j) {
              double expected = m.c[i * op.n + j];
              for (unsigned k = 0; k < op.k; ++k) {
                const unsigned block = k / 32 * op.m;
                const int power = scaled ? int(scale_a[block + i] + scale_b[block + j]) - 254 : 0;
                expected += std::ldexp(m.a[i * op.k + k] * m.b[k * op.n + j], power);
              }
              ASSERT_EQ(value_at(lanes, Operands::d, op.c, output_place(op, i, j, 0)), expected) << full << ta << tb;
            }
          note_tested(full, Processor::gfx950);
        }
}

TEST(Mfma, gfx90a_flushes_subnormal_halves_and_gfx942_keeps_them) {
  const auto product = [](std::string_view name, Processor processor) {
    Lanes lanes;
    aim(lanes);
    for (unsigned i = 0; i < machine::lanes; ++i)
      lanes.vgpr(Operands::a).lane[i] = 0x00010001, lanes.vgpr(Operands::b).lane[i] = 0x3c003c00; // 2^-24, 1
    lanes.run(name, processor);
    return std::bit_cast<float>(lanes.vgpr(0).lane[0]);
  };
  EXPECT_EQ(product("v_mfma_f32_16x16x16f16", Processor::gfx90a), 0.0f);
  EXPECT_GT(product("v_mfma_f32_16x16x16_f16", Processor::gfx942), 0.0f);
  EXPECT_GT(product("v_mfma_f32_16x16x16f16", Processor::gfx908), 0.0f);
}

TEST(Mfma, single_and_double_matrices_keep_subnormals_on_every_target) {
  // Whatever MODE says: it does not apply to matrices.
  for (const MatrixOp& op : isa::matrix_ops()) {
    if (op.sparse || (op.a != MatrixType::f32 && op.a != MatrixType::f64)) continue;
    for (Processor processor : processors(op))
      for (const uint32_t mode : {0xf0u, 0u}) {
        Lanes lanes;
        aim(lanes);
        lanes.wave.mode = mode;
        const bool wide = op.a == MatrixType::f64;
        put(lanes, Operands::a, op.a, input_place(op, 1, 0, 0), 5);
        put(lanes, Operands::b, op.b, input_place(op, 2, 0, 0), wide ? 0x3ff0000000000000 : 0x3f800000);
        put(lanes, Operands::c, op.c, output_place(op, 1, 2, 0), 2);
        lanes.run(op.name, processor);
        const Place place = output_place(op, 1, 2, 0);
        EXPECT_EQ(lanes.vgpr(place.element * (wide ? 2 : 1)).lane[place.lane], 7u)
            << op.name << " on " << isa::processor_name(processor);
      }
  }
}

TEST(Mfma, nans_and_infinities_spread_to_their_row_and_column) {
  const auto infinity = [](MatrixType type) -> uint64_t {
    return type == MatrixType::f64    ? 0x7ff0000000000000
           : type == MatrixType::f16  ? 0x7c00
           : type == MatrixType::bf16 ? 0x7f80
                                      : 0x7f800000;
  };
  for (const MatrixOp& op : isa::matrix_ops()) {
    if (op.sparse || isa::bits_of(op.a) < 16 || op.a == MatrixType::f8f6f4) continue;
    for (Processor processor : processors(op)) {
      SCOPED_TRACE(fmt::format("{} on {}", op.name, isa::processor_name(processor)));
      Lanes lanes;
      aim(lanes);
      for (unsigned i = 0; i < op.m; ++i)
        for (unsigned k = 0; k < op.k; ++k) {
          put(lanes, Operands::a, op.a, input_place(op, i, k, 0), encode(op.a, 1, false));
          put(lanes, Operands::b, op.b, input_place(op, i, k, 0), encode(op.b, 1, false));
        }
      put(lanes, Operands::a, op.a, input_place(op, 3, 0, 0), infinity(op.a) | 1); // a signalling NaN in row 3
      put(lanes, Operands::b, op.b, input_place(op, 2, 0, 0), infinity(op.b));     // infinity in column 2
      lanes.run(op.name, processor);
      for (unsigned i = 0; i < op.m; ++i)
        for (unsigned j = 0; j < op.n; ++j) {
          const double got = value_at(lanes, Operands::d, op.c, output_place(op, i, j, 0));
          if (i == 3)
            ASSERT_TRUE(std::isnan(got));
          else if (j == 2)
            ASSERT_TRUE(std::isinf(got) && got > 0);
          else
            ASSERT_EQ(got, op.k);
        }
    }
  }
}

TEST(Mfma, a_constant_is_every_element_of_the_accumulator) {
  // Zero matrices leave the accumulator.
  for (const MatrixOp& op : isa::matrix_ops()) {
    if (op.sparse) continue;
    for (Processor processor : processors(op))
      for (const auto& [text, value] : {std::pair{"1.0", 1.0}, {"-4.0", -4.0}, {"0", 0.0}}) {
        if (op.c == MatrixType::i32 && value != 0) continue;
        if (processor == Processor::gfx908) continue; // its constants do not work, and assemblers refuse them
        const auto registers = [](unsigned first, unsigned count) {
          return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
        };
        Program p(fmt::format("{} {}, {}, {}, {}", op.name, registers(0, op.c_registers()),
                              registers(32, op.a_registers()), registers(48, op.b_registers()), text),
                  processor);
        p.start().run();
        ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
        const bool wide = op.c == MatrixType::f64;
        for (unsigned r = 0; r < op.c_registers(); r += wide ? 2 : 1)
          for (unsigned i = 0; i < machine::lanes; ++i) {
            const auto at = [&](unsigned k) { return p.v(k).lane[i]; };
            const double got =
                wide ? std::bit_cast<double>(uint64_t{at(r + 1)} << 32 | at(r)) : double(std::bit_cast<float>(at(r)));
            ASSERT_EQ(got, value) << op.name << " on " << isa::processor_name(processor) << " register " << r;
          }
      }
  }
}

TEST(Mfma, the_register_counts_are_those_of_the_rows) {
  for (const MatrixOp& op : isa::matrix_ops()) {
    const InstructionRow* row = find_row(op.name, newest(op));
    ASSERT_NE(row, nullptr) << op.name;
    EXPECT_EQ(rows_of(row->signature.dst), op.c_registers()) << op.name;
    EXPECT_EQ(rows_of(row->signature.src[0]), op.a_registers()) << op.name;
    EXPECT_EQ(row->support, op.c == MatrixType::i32 ? Support::exact : Support::approximate);
  }
}

} // namespace
} // namespace asmevo::machine
