// The vector ALU.
#include "isa/traits.h"
#include "prove/step.h"

#include <algorithm>

namespace asmevo::prove {

using isa::Encoding;
using machine::Format;
using machine::RowRef;
using machine::RowSpace;
using machine::Select;

size_t Step::unit_of(RowRef ref) const {
  const bool accumulator = ref.space() == RowSpace::agpr;
  return shared.registers.first_of(
      {accumulator ? isa::File::agpr : isa::File::vgpr, static_cast<uint16_t>(ref.row()), 1});
}

Id Step::row_value(RowRef ref) {
  if (ref.space() == RowSpace::constant) return terms.constant(32, of.pool_.rows[ref.row()].lane[0]);
  return registers[unit_of(ref)];
}

void Step::write_row(RowRef ref, Id value) { write_unit(unit_of(ref), value); }

bool looks_at_all_lanes(const isa::Instruction& i) {
  const std::string_view name = name_of(i);
  return i.traits.mfma || name.starts_with("v_permlane") || name == "v_readlane_b32" || name == "v_readfirstlane_b32";
}

namespace {

bool is_plain_move(std::string_view name) {
  return name == "v_mov_b32" || name == "v_mov_b64" || name.starts_with("v_accvgpr_") || name == "v_pk_mov_b32";
}

uint32_t sign_bits(Format format) { return format == Format::f16 || format == Format::bf16 ? 0x8000 : 0x80000000; }

/// One vector ALU instruction: gathers sources as the stages of the machine would prepare them.
struct Vector {
  Step& s;
  Terms& terms;
  const machine::Signature& signature;
  const machine::Stage* stage;
  Id on; // lanes that write: those of EXEC, as far as DPP allows
  analysis::RegisterSet read;

  explicit Vector(Step& step)
      : s(step), terms(step.terms), signature(step.row->signature), stage(step.op.stage), on(step.lane_on) {}

  void note(size_t unit) { read.set(unit); }
  void note(RowRef ref, uint32_t rows) {
    if (ref.space() != RowSpace::vgpr && ref.space() != RowSpace::agpr) return;
    for (uint32_t r = 0; r < rows; ++r) note(s.unit_of(ref.next(r)));
  }
  void note(machine::ScalarRef ref, uint32_t words) {
    if (ref.is_constant()) return;
    for (uint32_t k = 0; k < words && ref.index() + k < analysis::vgpr_unit; ++k) note(ref.index() + k);
    if (ref.index() == machine::slot::scc) note(analysis::scc_unit);
    if (ref.index() == machine::slot::vccz) note(isa::vcc_lo), note(isa::vcc_hi);
  }

  const machine::SourceStage* stage_of(unsigned k) const {
    return stage && stage->source[k].rows ? &stage->source[k] : nullptr;
  }
  bool has_dpp() const { return stage && stage->has_dpp; }

  /// The words of source k before modifiers. `all_lanes`: as they are, not only in active lanes.
  std::vector<Id> raw(unsigned k, uint32_t rows, bool all_lanes) {
    const machine::SourceStage* staged = stage_of(k);
    if (staged && staged->splat) {
      note(staged->scalar, staged->rows);
      if (staged->rows == 1) return {s.scalar32(staged->scalar)};
      const Id value = s.scalar64(staged->scalar);
      return {terms.low(value), terms.high(value)};
    }
    const RowRef from = staged ? staged->from : s.op.src[k];
    // The signature has room for the widest format that f8f6f4 operands can have: the register list says which it is.
    const bool in_registers = from.space() == RowSpace::vgpr || from.space() == RowSpace::agpr;
    if (all_lanes && in_registers) {
      const analysis::RegisterSet named = s.shared.registers.set_of(s.i.uses);
      uint32_t read_rows = 1;
      while (read_rows < rows && named.test(s.unit_of(from.next(read_rows)))) ++read_rows;
      rows = read_rows;
    }
    note(from, rows);
    std::vector<Id> words;
    for (uint32_t r = 0; r < rows; ++r) {
      const Id value = s.row_value(from.next(r));
      words.push_back(all_lanes ? value : s.in_active_lanes(value));
    }
    return words;
  }

  Id half(Id word, bool upper) {
    return upper ? terms.shift_right(word, terms.constant(32, 16))
                 : terms.conjunction(word, terms.constant(32, 0xffff));
  }
  Id flip(Id word, uint32_t bits) { return bits == 0 ? word : terms.exclusive(word, terms.constant(32, bits)); }

  Id selected(Id word, Select which, bool sign) {
    const unsigned width = which <= Select::byte3 ? 8 : which <= Select::word1 ? 16 : 32;
    const unsigned at = which <= Select::byte3 ? unsigned(which) * 8 : which == Select::word1 ? 16 : 0;
    const Id up = terms.shift_left(word, terms.constant(32, 32 - width - at)), down = terms.constant(32, 32 - width);
    return sign ? terms.shift_arithmetic(up, down) : terms.shift_right(up, down);
  }

  /// What the machine's stage does to a source (machine/semantics/stages.cpp), on terms.
  void modify(std::vector<Id>& words, const machine::SourceStage& to) {
    if (to.select != Select::dword || to.sign_extend) words[0] = selected(words[0], to.select, to.sign_extend);
    switch (to.format) {
    case Format::p32:
    case Format::pf32: {
      const Id low = words[to.low_from_high ? 1 : 0], high = words[to.high_from_low ? 0 : 1];
      words[0] = flip(low, to.neg ? 0x80000000u : 0);
      words[1] = flip(high, to.neg_hi ? 0x80000000u : 0);
      return;
    }
    case Format::p16:
    case Format::pf16:
      if (to.low_from_high || to.high_from_low) {
        const Id low = half(words[0], to.low_from_high), high = half(words[0], !to.high_from_low);
        words[0] = terms.disjunction(low, terms.shift_left(high, terms.constant(32, 16)));
      }
      words[0] = flip(words[0], (to.neg ? 0x8000u : 0) | (to.neg_hi ? 0x80000000u : 0));
      return;
    default:
      break;
    }
    if (to.low_from_high) words[0] = half(words[0], true);
    const uint32_t sign = sign_bits(to.format);
    Id& last = words.back();
    if (to.abs) last = terms.conjunction(last, terms.constant(32, ~sign));
    last = flip(last, to.neg ? sign : 0);
  }

  /// Signs of a source that no stage prepares: its handler changes them itself.
  void change_sign(Id& word, unsigned k, Format format) {
    const bool plain =
        format == Format::f16 || format == Format::bf16 || format == Format::f32 || format == Format::f64;
    if (signature.raw || !plain) return;
    const uint32_t sign = sign_bits(format);
    if (s.op.modifiers.abs() >> k & 1) word = terms.conjunction(word, terms.constant(32, ~sign));
    if (s.op.modifiers.neg() >> k & 1) word = flip(word, sign);
  }

  /// Source 0 after DPP, and the lanes that write. Only active lanes are read by others.
  void move_lanes(std::vector<Id>& words) {
    const Id exec = s.of.exec(s.registers);
    std::vector<Id> arguments = words;
    arguments.push_back(exec);
    const uint32_t control = s.i.words[1] >> 8;
    const Id tuple = terms.wave(fmt::format("dpp {:x}", control & 0x1ff), arguments);
    for (uint32_t r = 0; r < words.size(); ++r) words[r] = terms.pick(tuple, r, 32, false);
    const machine::Dpp& dpp = stage->dpp;
    if (dpp.enabled == machine::all_lanes && dpp.bound_control) return;
    const Id writes = terms.wave(fmt::format("dpp writes {:x}", control), std::span(&exec, 1));
    on = terms.conjunction(on, terms.pick(writes, 0, 1, false));
  }

  std::vector<Id> source(unsigned k, bool all_lanes = false) {
    const machine::Operand operand = signature.src[k];
    switch (operand.format) {
    case Format::mask:
      note(s.op.ssrc[k], 2);
      return {terms.lane_bit(s.scalar64(s.op.ssrc[k]))};
    case Format::s32:
      note(s.op.ssrc[k], 1);
      return {s.scalar32(s.op.ssrc[k])};
    case Format::s64:
      note(s.op.ssrc[k], 2);
      return {s.scalar64(s.op.ssrc[k])};
    default:
      break;
    }
    std::vector<Id> words = raw(k, rows_of(operand), all_lanes);
    if (has_dpp() && k == 0) move_lanes(words);
    if (const machine::SourceStage* staged = stage_of(k))
      modify(words, *staged);
    else
      change_sign(words.back(), k, operand.format);
    return words;
  }

  unsigned source_count() const {
    unsigned count = 0;
    while (count < 3 && signature.src[count].format != Format::none) ++count;
    return count;
  }

  void write_word(RowRef ref, Id value) {
    const size_t unit = s.unit_of(ref);
    s.registers[unit] = terms.choose(on, value, s.registers[unit]);
  }

  /// A 32-bit result, or the part of the register that SDWA or op_sel names.
  void write_result(Id value) {
    if (!stage || !stage->result.redirected) return write_word(s.op.dst, value);
    const machine::ResultStage& r = stage->result;
    const Id old = s.in_active_lanes(s.row_value(r.to));
    const unsigned width = r.select <= Select::byte3 ? 8 : r.select <= Select::word1 ? 16 : 32;
    const unsigned at = r.select <= Select::byte3 ? unsigned(r.select) * 8 : r.select == Select::word1 ? 16 : 0;
    const uint32_t part = (width == 32 ? ~0u : (1u << width) - 1) << at;
    const auto number = [&](uint32_t n) { return terms.constant(32, n); };
    const Id placed = terms.conjunction(terms.shift_left(value, number(at)), number(part));
    if (r.unused == 0) return write_word(r.to, placed);
    if (r.unused == 1) {
      const Id spread = terms.shift_arithmetic(terms.shift_left(value, number(32 - width)), number(32 - width - at));
      return write_word(r.to, terms.conjunction(spread, number(~0u << at)));
    }
    write_word(r.to, terms.disjunction(placed, terms.conjunction(old, number(~part))));
  }

  void write_long(Id value) {
    const Id low = terms.low(value), high = terms.high(value);
    write_word(s.op.dst, low);
    write_word(s.op.dst.next(1), high);
  }

  /// A lane mask; lanes that are off give 0.
  void write_mask(Id bit, bool to_exec) {
    const Id mask = terms.mask_of(terms.conjunction(bit, on));
    s.write_scalar(s.op.sdst, 64, mask);
    if (to_exec) s.write_scalar(isa::exec_lo, 64, mask);
  }

  Id as_operand(Format format, const std::vector<Id>& words) {
    if (format == Format::b64) return terms.pair(words[0], words[1]);
    if (format == Format::b16) return terms.conjunction(words[0], terms.constant(32, 0xffff));
    return words[0];
  }

  void integer(const IntegerMeaning& meaning) {
    const bool clamp = s.op.modifiers.clamp();
    std::vector<Id> sources;
    for (unsigned k = 0; k < source_count(); ++k) sources.push_back(as_operand(meaning.sources[k], source(k)));
    const Id old = stage && stage->result.redirected                          ? s.row_value(stage->result.to)
                   : meaning.carry_out || meaning.destination == Format::mask ? Id{0}
                                                                              : s.row_value(s.op.dst);
    if (meaning.accumulates) sources.push_back(s.in_active_lanes(old));
    const IntegerResult result = (clamp && meaning.clamped ? meaning.clamped : meaning.plain)(terms, sources);
    switch (meaning.destination) {
    case Format::mask:
      write_mask(result.value, meaning.writes_exec);
      return;
    case Format::b64:
      write_long(result.value);
      break;
    default: {
      Id value = result.value;
      if (meaning.keeps_upper_half) {
        const Id upper = terms.conjunction(s.in_active_lanes(old), terms.constant(32, 0xffff0000));
        value = terms.disjunction(terms.conjunction(value, terms.constant(32, 0xffff)), upper);
      }
      write_result(value);
    }
    }
    if (meaning.carry_out) write_mask(result.carry, false);
  }

  void move() {
    const std::vector<Id> first = source(0);
    if (s.name == "v_pk_mov_b32") {
      const std::vector<Id> second = source(1);
      write_word(s.op.dst, first[0]);
      write_word(s.op.dst.next(1), second[0]); // op_sel has put each source's dword first
      return;
    }
    if (s.name == "v_mov_b64") {
      write_word(s.op.dst, first[0]);
      write_word(s.op.dst.next(1), first[1]);
      return;
    }
    write_result(first[0]);
  }

  void swap() {
    const Id one = s.in_active_lanes(s.row_value(s.op.dst)), two = s.in_active_lanes(s.row_value(s.op.src[0]));
    s.write_row(s.op.dst, two);
    s.write_row(s.op.src[0], one);
  }

  void write_lane() {
    const Id chosen = terms.conjunction(s.scalar32(s.op.ssrc[1]), terms.constant(32, 63));
    const size_t unit = s.unit_of(s.op.dst);
    s.registers[unit] = terms.choose(terms.equal(s.shared.lane, chosen), s.scalar32(s.op.ssrc[0]), s.registers[unit]);
  }

  std::string key() const {
    std::string text(s.name);
    const machine::Modifiers m = s.op.modifiers;
    text += signature.raw ? fmt::format(" {:x}", m.bits) : m.clamp() ? " clamp" : "";
    if (stage && stage->result.omod) text += fmt::format(" omod{}", stage->result.omod);
    if (stage && s.i.encoding == Encoding::vop3px2)
      text += fmt::format(" scale{}.{}", stage->scale_select[0], stage->scale_select[1]);
    return text;
  }

  /// Whether the core itself reads what its destination held.
  bool reads_destination() const {
    if (isa::accumulates(s.name) || isa::keeps_other_half(s.name) || s.name.starts_with("v_permlane")) return true;
    const bool whole = s.name == "v_bitop3_b32" || s.name == "v_fma_mix_f32" || s.name == "v_mad_mix_f32";
    if (!signature.raw || s.i.traits.mfma || whole) return false;
    return s.uses({isa::File::vgpr, static_cast<uint16_t>(s.op.dst.row()), 1});
  }

  /// Everything the instruction reads that is no source: the destination where the core reads it, MODE always, and what
  /// its register lists still name.
  Result<void> add_remaining(std::vector<Id>& arguments, bool all_lanes) {
    if (reads_destination()) {
      const RowRef to = stage && stage->result.redirected ? stage->result.to : s.op.dst;
      for (uint32_t r = 0; r < rows_of(signature.dst); ++r) {
        const Id old = s.row_value(to.next(r));
        arguments.push_back(all_lanes ? old : s.in_active_lanes(old));
      }
      note(to, rows_of(signature.dst));
    }
    if (stage && stage->result.redirected) note(s.unit_of(stage->result.to)); // merged behind the core
    if (has_dpp()) note(s.op.dst, rows_of(signature.dst));                    // kept by who may write
    analysis::RegisterSet written = s.shared.registers.set_of(s.i.defs);
    bool unexpected = false;
    arguments.push_back(s.registers[analysis::mode_unit]);
    note(analysis::mode_unit);
    if (!all_lanes) note(isa::exec_lo), note(isa::exec_hi); // lane by lane: EXEC only says who writes
    s.shared.registers.each(s.i.uses, [&](size_t unit) {
      if (read.test(unit)) return;
      note(unit);
      unexpected |= analysis::is_vector_unit(unit) && written.test(unit);
      const bool stripped = analysis::is_vector_unit(unit) && !all_lanes;
      arguments.push_back(stripped ? s.in_active_lanes(s.registers[unit]) : s.registers[unit]);
    });
    if (s.name.starts_with("v_mbcnt")) arguments.push_back(s.shared.lane);
    if (unexpected) return not_understood(s.i, "keeps a part of its destination that is not known");
    return {};
  }

  bool commutes() const {
    if (!s.shared.floats.commute) return false;
    constexpr std::string_view rows[] = {"v_add_f32",    "v_mul_f32",    "v_add_f16",    "v_mul_f16", "v_add_f64",
                                         "v_mul_f64",    "v_pk_add_f32", "v_pk_mul_f32", "v_fma_f32", "v_fmac_f32",
                                         "v_pk_fma_f32", "v_fma_f64",    "v_fma_f16"};
    return std::ranges::find(rows, s.name) != std::end(rows);
  }

  /// The multiplication and the addition that a contracting instruction rounds as one; empty for others.
  std::pair<std::string_view, std::string_view> contracted() const {
    struct Row {
      std::string_view fused, multiply, add;
    };
    constexpr Row rows[] = {{"v_fma_f32", "v_mul_f32", "v_add_f32"},  {"v_fmac_f32", "v_mul_f32", "v_add_f32"},
                            {"v_mad_f32", "v_mul_f32", "v_add_f32"},  {"v_mac_f32", "v_mul_f32", "v_add_f32"},
                            {"v_fma_f16", "v_mul_f16", "v_add_f16"},  {"v_fma_f64", "v_mul_f64", "v_add_f64"},
                            {"v_fmac_f64", "v_mul_f64", "v_add_f64"}, {"v_pk_fma_f32", "v_pk_mul_f32", "v_pk_add_f32"}};
    const bool plain = !signature.raw && !s.op.modifiers.clamp() &&
                       !(stage && (stage->result.omod || stage->result.redirected)) && !has_dpp();
    if (!s.shared.floats.contract || !plain) return {};
    const auto row = std::ranges::find(rows, s.name, &Row::fused);
    return row == std::end(rows) ? std::pair<std::string_view, std::string_view>() : std::pair(row->multiply, row->add);
  }

  /// a * b + c as two instructions would compute it.
  void contract(std::string_view multiply, std::string_view add, std::vector<std::vector<Id>> sources) {
    const uint32_t rows = rows_of(signature.dst);
    const Id mode = s.registers[analysis::mode_unit];
    const auto apply = [&](std::string_view name, std::vector<Id> a, const std::vector<Id>& b) {
      if (s.shared.floats.commute && b < a) return applied(name, b, a, mode, rows);
      return applied(name, a, b, mode, rows);
    };
    const std::vector<Id> sum = apply(add, apply(multiply, sources[0], sources[1]), sources[2]);
    for (uint32_t r = 0; r < rows; ++r) write_word(s.op.dst.next(r), sum[r]);
  }
  std::vector<Id> applied(std::string_view name, const std::vector<Id>& a, const std::vector<Id>& b, Id mode,
                          uint32_t rows) {
    std::vector<Id> arguments = a;
    arguments.insert(arguments.end(), b.begin(), b.end());
    arguments.push_back(mode);
    if (rows == 1) return {terms.apply(name, arguments, 32)};
    const Id tuple = terms.apply(name, arguments, 0);
    std::vector<Id> words;
    for (uint32_t r = 0; r < rows; ++r) words.push_back(terms.pick(tuple, r, 32, terms[tuple].uniform));
    return words;
  }

  Result<void> lanewise() {
    std::vector<Id> arguments;
    const unsigned count = source_count();
    std::vector<std::vector<Id>> sources;
    for (unsigned k = 0; k < count; ++k) sources.push_back(source(k));
    if (commutes() && sources[1] < sources[0]) std::swap(sources[0], sources[1]);
    for (const auto& words : sources) arguments.insert(arguments.end(), words.begin(), words.end());
    const size_t of_sources = arguments.size();
    AE_CHECK(add_remaining(arguments, false));
    if (const auto [multiply, add] = contracted(); !multiply.empty()) {
      if (count == 2) // accumulating: the destination comes behind the sources
        sources.emplace_back(arguments.begin() + of_sources, arguments.begin() + of_sources + rows_of(signature.dst));
      contract(multiply, add, std::move(sources));
      return {};
    }
    if (s.name.starts_with("v_cmp")) {
      write_mask(terms.apply(key(), arguments, 1), s.name.starts_with("v_cmpx_"));
      return {};
    }
    const uint32_t rows = rows_of(signature.dst);
    if (rows == 1 && !signature.carry_out) {
      write_result(terms.apply(key(), arguments, 32));
      return {};
    }
    const Id tuple = terms.apply(key(), arguments, 0);
    const bool uniform = terms[tuple].uniform;
    for (uint32_t r = 0; r < rows; ++r) write_word(s.op.dst.next(r), terms.pick(tuple, r, 32, uniform));
    if (signature.carry_out) write_mask(terms.pick(tuple, rows, 1, uniform), false);
    return {};
  }

  Result<void> whole_wave() {
    std::vector<Id> arguments;
    for (unsigned k = 0; k < source_count(); ++k) {
      const std::vector<Id> words = source(k, true);
      arguments.insert(arguments.end(), words.begin(), words.end());
    }
    if ((s.name == "v_readlane_b32" || s.name == "v_readfirstlane_b32") && terms[arguments[0]].uniform) {
      s.write_scalar(s.op.sdst, 32, arguments[0]);
      return {};
    }
    AE_CHECK(add_remaining(arguments, true));
    const Id tuple = terms.wave(key(), arguments);
    uint32_t which = 0;
    s.shared.registers.each(s.i.defs, [&](size_t unit) {
      s.registers[unit] = terms.pick(tuple, which++, 32, !analysis::is_vector_unit(unit));
    });
    return {};
  }
};

} // namespace

Result<void> Step::vector_alu() {
  Vector vector(*this);
  if (name == "v_nop") return {};
  if (name == "v_swap_b32") return vector.swap(), Result<void>{};
  if (name == "v_writelane_b32") return vector.write_lane(), Result<void>{};
  const IntegerMeaning* meaning = integer_meaning(name);
  // The sign of an integer operand cannot be changed on the way, but v_cndmask_b32 takes such modifiers.
  if ((is_plain_move(name) || meaning) && (op.modifiers.neg() || op.modifiers.abs()))
    return not_understood(i, "changes the sign of an operand that is no float");
  Result<void> done;
  if (is_plain_move(name))
    vector.move();
  else if (meaning)
    vector.integer(*meaning);
  else
    done = looks_at_all_lanes(i) ? vector.whole_wave() : vector.lanewise();
  // Liveness goes by the lists: they must name all that was read.
  analysis::RegisterSet named = shared.registers.set_of(i.uses) | shared.registers.set_of(i.defs);
  named.set(analysis::mode_unit).set(isa::exec_lo).set(isa::exec_hi);
  if (done && (vector.read & ~named).any())
    return not_understood(i, fmt::format("reads {}, which its register list lacks",
                                         analysis::register_name((vector.read & ~named)._Find_first())));
  return done;
}

} // namespace asmevo::prove
