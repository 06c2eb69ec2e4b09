// Execution on terms against the simulated machine: the same instruction from the same random state gives the same
// registers, for every instruction whose result the terms say fully.
#include "../machine/wave_fixture.h"

#include "prove/evaluate.h"
#include "prove/execute.h"

#include <random>

namespace asmevo::prove {
namespace {

constexpr uint32_t vectors = 32, scalars = 48; // registers that the texts below use

struct Wave {
  std::array<uint32_t, 128> sgpr{};
  std::array<std::array<uint32_t, 64>, vectors> vgpr{};
  uint32_t scc = 0;
};

uint32_t interesting(std::mt19937& random) {
  constexpr uint32_t edges[] = {0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 31, 32, 0x00ff00ff, 0xffff, 0x8000};
  return random() % 4 == 0 ? edges[random() % std::size(edges)] : uint32_t(random());
}

Wave random_wave(std::mt19937& random) {
  Wave wave;
  for (uint32_t k = 0; k < scalars; ++k) wave.sgpr[k] = interesting(random);
  for (uint16_t k : {isa::vcc_lo, isa::vcc_hi, isa::exec_lo, isa::exec_hi}) wave.sgpr[k] = uint32_t(random());
  for (auto& row : wave.vgpr)
    for (uint32_t& lane : row) lane = interesting(random);
  wave.scc = random() & 1;
  return wave;
}

/// What the machine makes of it.
Wave run_on_machine(const std::string& text, const Wave& before) {
  machine::Program program(text);
  program.start();
  machine::Wave& w = program.wave();
  for (uint32_t k = 0; k < scalars; ++k) program.s(k) = before.sgpr[k];
  program.set64(isa::vcc_lo, uint64_t{before.sgpr[isa::vcc_hi]} << 32 | before.sgpr[isa::vcc_lo]);
  w.set_exec(uint64_t{before.sgpr[isa::exec_hi]} << 32 | before.sgpr[isa::exec_lo]);
  w.scc = before.scc;
  for (uint32_t v = 0; v < vectors; ++v)
    for (uint32_t lane = 0; lane < 64; ++lane) program.v(v).lane[lane] = before.vgpr[v][lane];
  program.run();
  EXPECT_EQ(program.fault(), "") << text;
  Wave after = before;
  for (uint32_t k = 0; k < 128; ++k) after.sgpr[k] = program.s(k);
  for (uint32_t v = 0; v < vectors; ++v)
    for (uint32_t lane = 0; lane < 64; ++lane) after.vgpr[v][lane] = program.v(v).lane[lane];
  after.scc = w.scc;
  return after;
}

class Agreement {
public:
  explicit Agreement(const std::string& text) : text_(text) {
    const isa::Codec& codec = machine::codec_for(isa::Processor::gfx942);
    shared_.target = codec.target();
    shared_.lane = shared_.terms.symbol(32, "lane", false);
    for (size_t unit = 0; unit < analysis::register_bits; ++unit)
      entry_.push_back(shared_.terms.symbol(unit == analysis::scc_unit ? 1 : 32, analysis::register_name(unit),
                                            !analysis::is_vector_unit(unit)));
    registers_ = entry_;
    Execution execution(shared_, {});
    const auto bytes = codec.assemble(text);
    EXPECT_TRUE(bytes) << text << ": " << (bytes ? "" : bytes.error().message);
    for (size_t at = 0; bytes && at < bytes->size();) {
      const isa::Instruction i = codec.decode(std::span(*bytes).subspan(at), at);
      at += i.size;
      const Result<void> done = execution.step(i, registers_, shared_.terms.bit(true));
      EXPECT_TRUE(done) << (done ? "" : done.error().message);
    }
  }

  void check(uint32_t seed) {
    std::mt19937 random(seed);
    const Wave before = random_wave(random), after = run_on_machine(text_, before);
    World world(shared_.terms, shared_.lane, seed);
    for (uint32_t k = 0; k < 128; ++k) world.set(entry_[k], {before.sgpr[k]});
    for (uint32_t v = 0; v < vectors; ++v)
      world.set(entry_[analysis::vgpr_unit + v], {before.vgpr[v].begin(), before.vgpr[v].end()});
    world.set(entry_[analysis::scc_unit], {before.scc});
    for (uint32_t k = 0; k < 128; ++k)
      if (registers_[k] != entry_[k]) {
        ASSERT_EQ(world.value(registers_[k], 0), after.sgpr[k]) << text_ << ": " << analysis::register_name(k);
      }
    ASSERT_EQ(world.value(registers_[analysis::scc_unit], 0), after.scc) << text_ << ": scc";
    for (uint32_t v = 0; v < vectors; ++v)
      for (uint32_t lane = 0; lane < 64; ++lane)
        ASSERT_EQ(world.value(registers_[analysis::vgpr_unit + v], lane), after.vgpr[v][lane])
            << text_ << ": v" << v << " in lane " << lane;
  }

private:
  std::string text_;
  Shared shared_;
  Registers entry_, registers_;
};

void agree(const std::string& text) {
  Agreement agreement(text);
  for (uint32_t seed = 1; seed <= 6 && !testing::Test::HasFatalFailure(); ++seed) agreement.check(seed);
}

std::string scalar_operand(uint8_t width, unsigned at) {
  return width == 64 ? fmt::format("s[{}:{}]", at, at + 1) : fmt::format("s{}", at);
}

/// How an instruction of this meaning is written.
std::string scalar_text(std::string_view name, const ScalarMeaning& m) {
  const bool immediate = name.starts_with("s_movk") || name.starts_with("s_cmovk") || name.starts_with("s_addk") ||
                         name.starts_with("s_mulk") || name.starts_with("s_cmpk");
  if (immediate) return fmt::format("{} s8, 0x9234", name);
  std::string text(name);
  const unsigned first = m.reads_destination ? 1 : 0;
  if (m.form != ScalarMeaning::Form::compare) text += " " + scalar_operand(m.destination, 8) + ",";
  text += " " + scalar_operand(m.sources[first], 12);
  const bool second = m.form == ScalarMeaning::Form::compare || (m.form == ScalarMeaning::Form::value && first == 0);
  if (second && m.sources[1] != 0) text += ", " + scalar_operand(m.sources[1], 20);
  return text;
}

TEST(OnTheMachine, scalar_instructions_give_the_same) {
  size_t seen = 0;
  for (const auto& rows : machine::all_rows())
    for (const machine::InstructionRow& row : rows) {
      const ScalarMeaning* meaning = scalar_meaning(row.mnemonic);
      if (!meaning || row.shape != machine::Shape::salu) continue;
      agree(scalar_text(row.mnemonic, *meaning));
      ++seen;
      if (HasFatalFailure()) return;
    }
  EXPECT_GT(seen, 110u);
}

TEST(OnTheMachine, scalar_constants_and_conditions_are_read_alike) {
  for (const char* text : {"s_add_u32 s8, s12, 17", "s_and_b64 s[8:9], s[12:13], -4", "s_lshl_b64 s[8:9], s[12:13], 40",
                           "s_mov_b32 s8, 0x12345678", "s_mov_b64 s[8:9], 0.5", "s_and_b64 s[8:9], exec, vcc",
                           "s_or_b64 exec, exec, s[12:13]", "s_mov_b32 s8, src_scc", "s_mov_b32 s8, src_vccz",
                           "s_bfe_u32 s8, s12, 0x70005", "s_bfe_i32 s8, s12, 0x100010", "s_cselect_b64 vcc, -1, 0",
                           "s_add_u32 s8, s12, s13\ns_addc_u32 s9, s14, s15"})
    agree(text);
}

std::string vector_operand(machine::Format format, unsigned at) {
  if (format == machine::Format::mask) return fmt::format("s[{}:{}]", at, at + 1);
  return format == machine::Format::b64 ? fmt::format("v[{}:{}]", at, at + 1) : fmt::format("v{}", at);
}

TEST(OnTheMachine, integer_vector_instructions_give_the_same) {
  size_t seen = 0;
  const isa::Codec& codec = machine::codec_for(isa::Processor::gfx942);
  for (const auto& rows : machine::all_rows())
    for (const machine::InstructionRow& row : rows) {
      const IntegerMeaning* m = integer_meaning(row.mnemonic);
      if (!m || row.shape != machine::Shape::valu || !(row.targets & machine::on_gfx942)) continue;
      std::string operands = " " + vector_operand(m->destination, m->destination == machine::Format::mask ? 8 : 2);
      if (m->carry_out) operands += ", s[8:9]";
      const unsigned count = m->accumulates ? 2u : m->source_count;
      for (unsigned k = 0; k < count; ++k)
        operands += ", " + vector_operand(m->sources[k], (m->sources[k] == machine::Format::mask ? 12 : 8) + 4 * k);
      for (const std::string suffix : {"_e64", "_e32", ""}) {
        const std::string text = std::string(row.mnemonic) + suffix + operands;
        if (!codec.assemble(text)) continue;
        agree(text);
        if (m->clamped && codec.assemble(text + " clamp")) agree(text + " clamp");
        ++seen;
        break;
      }
      if (HasFatalFailure()) return;
    }
  EXPECT_GT(seen, 130u);
}

TEST(OnTheMachine, parts_of_registers_and_modes_of_operands_are_read_alike) {
  for (const char* text :
       {"v_add_u32_sdwa v2, v3, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_0",
        "v_add_u32_sdwa v2, sext(v3), v4 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:WORD_1 src1_sel:DWORD",
        "v_lshlrev_b32_sdwa v2, v3, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_3",
        "v_mov_b32_sdwa v2, v3 dst_sel:WORD_0 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1",
        "v_pk_add_u16 v2, v3, v4 op_sel:[1,0] op_sel_hi:[0,1]",
        "v_add_i16 v2, v3, v4 op_sel:[1,0,1]",
        "v_mad_u16 v2, v3, v4, v5 op_sel:[0,1,0,1]",
        "v_add_u32 v2, s3, v4",
        "v_add_u32 v2, 0x12345, v4",
        "v_lshl_add_u64 v[2:3], s[4:5], 3, v[6:7]",
        "v_mov_b32 v2, src_scc",
        "v_add_co_u32 v2, vcc, v3, v4",
        "v_addc_co_u32 v2, vcc, v3, v4, vcc",
        "v_cndmask_b32 v2, v3, v4, vcc",
        "v_cmpx_lt_u32 vcc, v3, v4",
        "v_cmp_gt_i32 vcc, 3, v4",
        "v_swap_b32 v2, v3",
        "v_writelane_b32 v2, s3, 5",
        "v_mov_b64 v[2:3], v[4:5]",
        "v_pk_mov_b32 v[2:3], v[4:5], v[6:7] op_sel:[1,0]",
        "v_accvgpr_write_b32 a2, v3\nv_accvgpr_read_b32 v4, a2",
        "v_bfe_i32 v2, v3, 0, 0",
        "v_mad_u64_u32 v[2:3], s[8:9], v4, v5, v[6:7]",
        "v_add_co_u32 v2, vcc, v3, v4\nv_addc_co_u32 v5, vcc, v6, v7, vcc\nv_lshl_add_u64 v[8:9], v[2:3], 0, 8"})
    agree(text);
}

} // namespace
} // namespace asmevo::prove
