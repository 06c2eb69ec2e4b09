// The pairs. Each row: who, whom, which registers must meet, and how many wait states.
//
// Matrix instructions need most. A pass is four clocks; the result of an instruction of p passes can be read p plus a
// few states later, where "a few" depends on the pipe that made it (XDL, f32, f64), on who reads it and on the
// generation.
#include "analysis/hazards.h"

#include <algorithm>
#include <array>
#include <optional>

namespace asmevo::analysis {
namespace {

using isa::File;
using isa::Instruction;
using isa::Processor;
using isa::RegisterRange;
using Pair = HazardPair;

constexpr uint8_t on(Processor p) { return static_cast<uint8_t>(1u << static_cast<unsigned>(p)); }
constexpr uint8_t gfx908 = on(Processor::gfx908), gfx90a = on(Processor::gfx90a), gfx942 = on(Processor::gfx942),
                  gfx950 = on(Processor::gfx950), gfx940_on = gfx942 | gfx950, gfx90a_on = gfx90a | gfx940_on,
                  all = on(Processor::gfx906) | gfx908 | gfx90a_on;

constexpr Kinds memory = kind::vmem | kind::ds;

bool is_vector(const RegisterRange& range) { return range.file == File::vgpr || range.file == File::agpr; }
bool is_exec(const RegisterRange& range) {
  return range.file == File::sgpr && range.first <= isa::exec_hi && isa::exec_lo < range.first + range.count;
}
bool is_vcc(const RegisterRange& range) {
  return range.file == File::sgpr && range.first <= isa::vcc_hi && isa::vcc_lo < range.first + range.count;
}

template <class Wanted>
bool meet(const Pair& p, std::span<const RegisterRange> a, std::span<const RegisterRange> b, Wanted&& wanted) {
  for (const RegisterRange& x : a)
    for (const RegisterRange& y : b)
      if (wanted(x) && wanted(y) && p.registers.overlap(x, y)) return true;
  return false;
}
std::span<const RegisterRange> explicit_uses(const Instruction& i) {
  return std::span(i.uses).first(std::min<size_t>(i.explicit_uses, i.uses.size()));
}

bool vector_read(const Pair& p) { return meet(p, p.producer.defs, p.consumer.uses, is_vector); }
bool vector_overwrite(const Pair& p) { return meet(p, p.producer.defs, p.consumer.defs, is_vector); }
bool vector_touch(const Pair& p) { return vector_read(p) || vector_overwrite(p); }
bool vgpr_read(const Pair& p) {
  return meet(p, p.producer.defs, p.consumer.uses, [](const RegisterRange& r) { return r.file == File::vgpr; });
}
bool scalar_read(const Pair& p) {
  return meet(p, p.producer.defs, p.consumer.uses, [](const RegisterRange& r) { return r.file == File::sgpr; });
}
/// EXEC as lane mask is interlocked; EXEC as an operand is not. VCC counts either way.
bool scalar_operand_read(const Pair& p) {
  const auto scalar = [](const RegisterRange& r) { return r.file == File::sgpr; };
  return meet(p, p.producer.defs, explicit_uses(p.consumer), scalar) ||
         meet(p, p.producer.defs, p.consumer.uses, is_vcc);
}
/// The lane of v_readlane and v_writelane is their second source.
bool lane_read(const Pair& p) {
  const uint32_t select = p.consumer.words[1] >> 9 & 0x1ff;
  if (select >= 128) return false;
  const RegisterRange lane{File::sgpr, static_cast<uint16_t>(select), 1};
  return std::ranges::any_of(p.producer.defs, [&](const RegisterRange& d) { return d.overlaps(lane); });
}
bool writes_exec(const Pair& p) { return std::ranges::any_of(p.producer.defs, is_exec); }
bool writes_vcc(const Pair& p) { return std::ranges::any_of(p.producer.defs, is_vcc); }
bool writes_vcc_or_exec(const Pair& p) { return writes_vcc(p) || writes_exec(p); }
bool writes_m0(const Pair& p) {
  const RegisterRange m0{File::sgpr, isa::m0, 1};
  const auto names_m0 = [&](const RegisterRange& r) { return r.overlaps(m0); };
  return std::ranges::any_of(p.producer.defs, names_m0) && std::ranges::any_of(p.consumer.uses, names_m0);
}
bool same_hardware_register(const Pair& p) { return hardware_register(p.producer) == hardware_register(p.consumer); }
bool always(const Pair&) { return true; }
bool after_dgemm(const Pair& p) { return (p.between & between::dgemm) != 0 && vector_read(p); }
bool behind_acc_move(const Pair& p) { return (p.between & between::acc_move) != 0 && vgpr_read(p); }

/// The registers that a store takes its data from: the widest vector operand.
bool overwrites_store_data(const Pair& p) {
  for (const RegisterRange& data : p.producer.uses)
    if (is_vector(data) && data.count > 2)
      for (const RegisterRange& def : p.consumer.defs)
        if (is_vector(def) && p.registers.overlap(data, def)) return true;
  return false;
}

// Operands of matrix instructions.

bool is_sparse(const Instruction& i) { return name_of(i).starts_with("v_smfmac_"); }
RegisterRange matrix_result(const Instruction& i) { return i.defs.empty() ? RegisterRange{} : i.defs.front(); }

/// SrcC has the shape of the result. A sparse one adds to its destination.
std::optional<RegisterRange> source_c(const Instruction& i) {
  const RegisterRange result = matrix_result(i);
  if (is_sparse(i)) return result;
  const uint32_t field = i.words[i.encoding == isa::Encoding::vop3px2 ? 3 : 1] >> 18 & 0x1ff;
  if (field < 256) return std::nullopt;
  return RegisterRange{result.file, static_cast<uint16_t>(field - 256), result.count};
}

/// Everything else: A, B, the index of sparse ones, scales. An operand that is both A and C is listed twice by LLVM.
template <class Meets> bool reads_as_a_or_b(const Pair& p, Meets&& meets) {
  const auto c = source_c(p.consumer);
  bool c_skipped = false;
  for (const RegisterRange& use : p.consumer.uses) {
    if (!is_vector(use)) continue;
    if (c && use == *c && !c_skipped) {
      c_skipped = true;
      continue;
    }
    if (meets(use)) return true;
  }
  return false;
}
/// Whether registers of the producer's result that no later matrix instruction has overwritten lie in `range`.
bool meets_result(const Pair& p, const RegisterRange& range) {
  const RegisterRange result = matrix_result(p.producer);
  const size_t first = p.registers.first_of(result), other = p.registers.first_of(range);
  for (size_t r = 0; r < result.count; ++r)
    if ((p.overwritten >> r & 1) == 0 && first + r >= other && first + r < other + range.count) return true;
  return false;
}
bool result_to_a_or_b(const Pair& p) {
  return reads_as_a_or_b(p, [&](const RegisterRange& use) { return meets_result(p, use); });
}
bool result_to_c(const Pair& p) {
  const auto c = source_c(p.consumer);
  return c && meets_result(p, *c);
}
bool result_read(const Pair& p) {
  return std::ranges::any_of(p.consumer.uses,
                             [&](const RegisterRange& r) { return is_vector(r) && meets_result(p, r); });
}
bool result_overwritten(const Pair& p) {
  return std::ranges::any_of(p.consumer.defs,
                             [&](const RegisterRange& r) { return is_vector(r) && meets_result(p, r); });
}
bool c_overwritten(const Pair& p) {
  const auto c = source_c(p.producer);
  return c && std::ranges::any_of(p.consumer.defs, [&](const RegisterRange& def) {
           return is_vector(def) && p.registers.overlap(def, *c);
         });
}
bool non_dot_read(const Pair& p) { return !p.first.is(kind::dot) && vector_read(p); }
bool dot_conflict(const Pair& p) {
  if (p.producer.mnemonic != p.consumer.mnemonic) return vector_touch(p);
  // The same instruction may take the result as its addend at once.
  std::optional<RegisterRange> addend;
  if (const uint32_t field = p.consumer.words[1] >> 18 & 0x1ff; p.consumer.encoding != isa::Encoding::vop3p)
    addend = matrix_result(p.consumer);
  else if (field >= 256)
    addend = RegisterRange{File::vgpr, static_cast<uint16_t>(field - 256), 1};
  for (const RegisterRange& use : explicit_uses(p.consumer)) {
    if (addend && use == *addend) {
      addend.reset();
      continue;
    }
    if (is_vector(use) && p.registers.overlap(use, matrix_result(p.producer))) return true;
  }
  return false;
}
bool acc_written_to_c(const Pair& p) {
  const auto c = source_c(p.consumer);
  return c && p.registers.overlap(*c, matrix_result(p.producer));
}
bool acc_written_to_a_or_b(const Pair& p) {
  return reads_as_a_or_b(p,
                         [&](const RegisterRange& use) { return p.registers.overlap(use, matrix_result(p.producer)); });
}
bool agpr_overwritten(const Pair& p) {
  // gfx908: the same tuple again is not a hazard.
  return p.producer.defs != p.consumer.defs && result_overwritten(p);
}

// Wait states.

template <unsigned N> unsigned states(const Pair&) { return N; }
unsigned store_states(const Pair& p) {
  const bool late = p.processor >= Processor::gfx942;
  if (p.first.is(kind::wide_store_soffset)) return late ? 1 : 0;
  return late ? 2 : 1;
}
unsigned late_gfx950(const Pair& p) { return p.processor == Processor::gfx950 && p.first.passes != 2 ? 1 : 0; }

/// Result of an XDL or f32 matrix instruction to anything but SrcC.
unsigned result_states(const Pair& p) {
  if (p.first.is(kind::sgemm)) return p.first.passes + 2u;
  return p.first.passes + 3u + late_gfx950(p);
}
unsigned read_states(const Pair& p) {
  const bool memory_reads = p.second.is(memory);
  if (p.first.is(kind::dgemm_4x4)) return memory_reads ? 9 : 6;
  if (p.first.is(kind::dgemm)) return memory_reads ? 18 : p.processor == Processor::gfx950 ? 19 : 11;
  return result_states(p);
}
unsigned overwrite_states(const Pair& p) {
  if (p.first.is(kind::dgemm)) return p.first.is(kind::dgemm_4x4) ? 6 : 11;
  return result_states(p);
}
unsigned c_overwrite_states(const Pair& p) {
  if (p.first.is(kind::dgemm | kind::sgemm)) return 0;
  return p.first.passes - 1u;
}
unsigned c_full_states(const Pair& p) {
  if (p.first.is(kind::dgemm_4x4) && p.second.is(kind::dgemm_4x4)) return 4;
  return p.processor >= Processor::gfx942 && p.first.passes == 2 ? 2 : 0;
}
unsigned c_states_gfx90a(const Pair& p) {
  if (!p.second.is(kind::dgemm)) return p.first.passes;
  if (p.first.is(kind::dgemm)) return p.first.is(kind::dgemm_4x4) ? 4 : 9;
  return p.first.passes + 1u;
}
unsigned c_states_gfx942(const Pair& p) {
  const bool to_xdl = p.second.is(kind::xdl);
  if (p.first.is(kind::dgemm)) {
    if (to_xdl) return 0;
    return p.first.is(kind::dgemm_4x4) ? 4 : p.processor == Processor::gfx950 ? 17 : 9;
  }
  if (p.first.is(kind::sgemm)) return to_xdl ? 0 : p.first.passes;
  if (p.processor != Processor::gfx950) return p.first.passes + 1u;
  return p.first.passes + (to_xdl ? 2u : 1u + late_gfx950(p));
}
unsigned c_states(const Pair& p) {
  if (p.processor == Processor::gfx90a && p.first.is(kind::dgemm) && !p.second.is(kind::dgemm)) return 0;
  if (matrix_result(p.producer) == source_c(p.consumer)) return c_full_states(p);
  return p.processor == Processor::gfx90a ? c_states_gfx90a(p) : c_states_gfx942(p);
}
unsigned c_states_gfx908(const Pair& p) { return matrix_result(p.producer) == source_c(p.consumer) ? 0 : 2; }
unsigned passes_plus_2(const Pair& p) { return p.first.passes + 2u; }
unsigned passes_less_1(const Pair& p) { return p.first.passes - 1u; }
unsigned c_overwrite_states_gfx908(const Pair& p) { return p.first.passes == 2 ? 0 : p.first.passes - 3u; }

constexpr std::array rules = {
    HazardRule{"H001", "VALU writes an SGPR that vector memory reads", all, kind::valu, kind::vmem, scalar_read,
               states<5>},
    HazardRule{"H002", "VALU writes the SGPR that selects a lane", all, kind::valu, kind::lane_select, lane_read,
               states<4>},
    HazardRule{"H003", "VALU writes VCC before v_div_fmas", all, kind::valu, kind::div_fmas, writes_vcc, states<4>},
    HazardRule{"H004", "VALU writes a VGPR that DPP reads", all, kind::valu, kind::dpp, vgpr_read, states<2>},
    HazardRule{"H005", "VALU writes EXEC before DPP", all, kind::valu, kind::dpp, writes_exec, states<5>},
    HazardRule{"H006", "VALU writes a VGPR that v_readlane reads", gfx940_on, kind::valu, kind::readlane, vgpr_read,
               states<1>},
    HazardRule{"H007", "VALU writes EXEC before a lane access", gfx940_on, kind::valu, kind::readlane | kind::writelane,
               writes_exec, states<4>},
    HazardRule{"H008", "VALU writes an SGPR or VCC that VALU reads", gfx940_on, kind::valu, kind::valu,
               scalar_operand_read, states<2>},
    HazardRule{"H009", "transcendental result read by another VALU instruction", gfx940_on, kind::trans, kind::valu,
               [](const Pair& p) { return !p.second.is(kind::trans) && vgpr_read(p); }, states<1>},
    HazardRule{"H010", "VALU uses a register of which the previous instruction wrote a part", gfx940_on,
               kind::part_write, kind::valu, vector_touch, states<1>},
    HazardRule{"H011", "data of a wide store overwritten too early", all, kind::wide_store | kind::wide_store_soffset,
               kind::valu, overwrites_store_data, store_states},
    HazardRule{"H012", "SALU writes M0 before an instruction that reads it late", all, kind::salu, kind::reads_m0_late,
               writes_m0, states<1>},
    HazardRule{"H013", "s_setreg before s_getreg of the same register", all, kind::setreg, kind::getreg,
               same_hardware_register, states<2>},
    HazardRule{"H014", "s_setreg before s_setreg of the same register", all, kind::setreg, kind::setreg,
               same_hardware_register, states<2>},
    HazardRule{"H015", "VSKIP changed before a vector instruction", all, kind::vskip, kind::valu | memory, always,
               states<2>},
    HazardRule{"H016", "VALU writes VCC or EXEC before VCCZ or EXECZ is read as data", all, kind::valu,
               kind::reads_execz, writes_vcc_or_exec, states<5>},
    HazardRule{"H017", "VALU writes EXEC before a matrix instruction", gfx90a_on, kind::legacy_valu, kind::matrix,
               writes_exec, states<4>},
    HazardRule{"H017", "VALU writes EXEC before a matrix instruction", gfx908, kind::valu,
               kind::matrix | kind::acc_write, writes_exec, states<4>},
    HazardRule{"H018", "VALU writes a register that a matrix instruction reads", gfx90a_on, kind::legacy_valu,
               kind::matrix, non_dot_read, states<2>},
    HazardRule{"H018", "VALU writes a register that a matrix instruction reads", gfx908, kind::valu,
               kind::matrix | kind::acc_write, vgpr_read, states<2>},
    HazardRule{"H019", "matrix result used as SrcC", gfx90a_on, kind::matrix, kind::matrix, result_to_c, c_states},
    HazardRule{"H019", "matrix result used as SrcC", gfx908, kind::matrix, kind::matrix, result_to_c, c_states_gfx908},
    HazardRule{"H020", "matrix result used as SrcA or SrcB", gfx90a_on, kind::matrix, kind::matrix, result_to_a_or_b,
               [](const Pair& p) {
                 if (!p.first.is(kind::dgemm)) return result_states(p);
                 return p.first.is(kind::dgemm_4x4) ? 6u : p.processor == Processor::gfx950 ? 19u : 11u;
               }},
    HazardRule{"H020", "matrix result used as SrcA or SrcB", gfx908, kind::matrix, kind::matrix, result_to_a_or_b,
               states<4>},
    HazardRule{"H021", "matrix result read", gfx90a_on, kind::matrix, kind::legacy_valu | memory, result_read,
               read_states},
    HazardRule{"H021", "matrix result read", gfx908, kind::matrix, kind::acc_read, result_read, passes_plus_2},
    HazardRule{"H022", "matrix result overwritten", gfx90a_on, kind::matrix, kind::legacy_valu | memory,
               result_overwritten, overwrite_states},
    HazardRule{"H022", "matrix result overwritten", gfx908, kind::matrix, kind::acc_write, agpr_overwritten,
               passes_less_1},
    HazardRule{"H023", "SrcC of a matrix instruction overwritten", gfx90a_on, kind::matrix, kind::legacy_valu | memory,
               c_overwritten, c_overwrite_states},
    HazardRule{"H023", "SrcC of a matrix instruction overwritten", gfx908, kind::matrix, kind::acc_write, c_overwritten,
               c_overwrite_states_gfx908},
    HazardRule{"H024", "f64 matrix instruction before v_fma_f64", gfx90a_on, kind::dgemm, kind::fma_f64, always,
               states<2>},
    HazardRule{"H025", "dot product result used", gfx90a_on, kind::dot, kind::legacy_valu | memory, dot_conflict,
               states<3>},
    HazardRule{"H026", "VALU writes a register that memory reads with an f64 matrix instruction between", gfx90a,
               kind::valu, memory, after_dgemm, states<2>},
    HazardRule{"H027", "accumulator written, then read by a matrix instruction or a move", gfx908, kind::acc_write,
               kind::matrix, acc_written_to_a_or_b, states<3>},
    HazardRule{"H027", "accumulator written, then read by a matrix instruction or a move", gfx908, kind::acc_write,
               kind::matrix, acc_written_to_c, states<1>},
    HazardRule{"H027", "accumulator written, then read by a matrix instruction or a move", gfx908, kind::acc_write,
               kind::acc_read | kind::acc_write, vector_touch, states<3>},
    HazardRule{"H028", "accumulator read, then stored or used as an address", gfx908, kind::acc_read, memory, vgpr_read,
               states<2>},
    HazardRule{"H028", "accumulator read, then stored or used as an address", gfx908, kind::legacy_valu, memory,
               behind_acc_move, states<2>},
    HazardRule{"H029", "VALU writes a VGPR that v_permlane swaps", gfx950, kind::valu, kind::permlane_swap, vgpr_read,
               states<2>},
    HazardRule{"H030", "v_cmpx before v_permlane swap", gfx950, kind::cmpx, kind::permlane_swap, always, states<4>},
};

bool writes_scalar(const Instruction& i) {
  return std::ranges::any_of(i.defs, [](const RegisterRange& d) { return d.file == File::sgpr; });
}

} // namespace

std::span<const HazardRule> hazard_rules() { return rules; }

HazardTable::HazardTable(Processor processor, RegisterMap registers)
    : processor_(processor), registers_(registers), classifier_(processor) {
  for (const HazardRule& rule : rules)
    if ((rule.processors & on(processor)) != 0) rules_.push_back(&rule);
}

unsigned HazardTable::reach(const Instruction& i, Class c) const {
  constexpr unsigned after_matrix = 20, after_scalar_result = 5, after_vector_result = 3, after_store = 2,
                     after_mode = 2;
  if (c.is(kind::matrix)) return after_matrix;
  if (c.is(kind::valu)) return writes_scalar(i) ? after_scalar_result : after_vector_result;
  if (c.is(kind::wide_store | kind::wide_store_soffset)) return after_store;
  if (c.is(kind::setreg | kind::vskip)) return after_mode;
  const RegisterRange m0{File::sgpr, isa::m0, 1};
  const bool sets_m0 = std::ranges::any_of(i.defs, [&](const RegisterRange& d) { return d.overlaps(m0); });
  return c.is(kind::salu) && sets_m0 ? 1 : 0;
}

Requirement HazardTable::required(const Instruction& producer, Class first, const Instruction& consumer, Class second,
                                  uint8_t between, uint32_t overwritten) const {
  Requirement most;
  const HazardPair pair{producer, consumer, first, second, between, overwritten, registers_, processor_};
  for (const HazardRule* rule : rules_) {
    if (!first.is(rule->producer) || !second.is(rule->consumer) || !rule->conflict(pair)) continue;
    const unsigned wanted = rule->states(pair);
    if (wanted > most.states) most = {wanted, rule};
  }
  return most;
}

void HazardTable::pass(Recent& recent, const Instruction& producer, const Instruction& passing, Class passing_class,
                       unsigned states) const {
  recent.distance = static_cast<uint8_t>(std::min(255u, recent.distance + states));
  recent.between &= static_cast<uint8_t>(~between::acc_move);
  if (passing_class.is(kind::dgemm)) recent.between |= between::dgemm;
  if (passing_class.is(kind::acc_read | kind::acc_write)) recent.between |= between::acc_move;
  if (passing_class.is(kind::matrix)) recent.overwritten |= overwritten_by(passing, producer);
}

/// Which registers of an earlier matrix instruction's result `later` writes.
uint32_t HazardTable::overwritten_by(const Instruction& later, const Instruction& earlier) const {
  if (!earlier.traits.mfma || later.defs.empty() || earlier.defs.empty()) return 0;
  const size_t from = registers_.first_of(later.defs[0]), first = registers_.first_of(earlier.defs[0]);
  uint32_t mask = 0;
  for (size_t r = 0; r < earlier.defs[0].count && r < 32; ++r)
    if (first + r >= from && first + r < from + later.defs[0].count) mask |= 1u << r;
  return mask;
}

unsigned required_wait_states(const Instruction& producer, const Instruction& consumer, const isa::Target& target) {
  HazardTable table(target.processor, {});
  return table.required(producer, table.classify(producer), consumer, table.classify(consumer)).states;
}

unsigned wait_states(const Instruction& i) {
  if (i.encoding != isa::Encoding::sopp || name_of(i) != "s_nop") return 1;
  return (i.words[0] & 15) + 1;
}

} // namespace asmevo::analysis
