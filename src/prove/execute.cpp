#include "prove/execute.h"

#include "analysis/dependence.h"
#include "isa/traits.h"
#include "prove/step.h"

#include <algorithm>

namespace asmevo::prove {

using isa::Encoding;
using isa::File;
using isa::Instruction;
using machine::Format;
namespace fields = isa::fields;

std::unexpected<Error> not_understood(const Instruction& instruction, std::string_view why) {
  return fail("{} {}", name_of(instruction), why);
}

Step::Step(Execution& execution, const Instruction& instruction, Registers& state, Id reached,
           std::string_view literal_name)
    : of(execution), shared(execution.shared_), terms(execution.terms_), i(instruction), name(name_of(instruction)),
      op(machine::decode_op(instruction, {execution.shared_.target, execution.pool_})),
      row(machine::find_row(name, execution.shared_.target.processor)), registers(state), path(reached),
      literal(literal_name) {
  lane_on = terms.lane_bit(of.exec(registers));
  active = terms.conjunction(path, lane_on);
}

Id Execution::exec(const Registers& registers) { return terms_.pair(registers[isa::exec_lo], registers[isa::exec_hi]); }

Id Step::scalar32(machine::ScalarRef ref) {
  namespace slot = machine::slot;
  if (ref.is_constant()) return terms.constant(32, of.pool_.scalars[ref.index()]);
  switch (ref.index()) {
  case slot::vccz:
    return terms.word_of(terms.is_zero(sgpr_pair(slot::vcc)));
  case slot::execz:
    return terms.word_of(terms.is_zero(of.exec(registers)));
  case slot::scc:
    return terms.word_of(registers[analysis::scc_unit]);
  default:
    break;
  }
  if (ref.index() < analysis::vgpr_unit) return registers[ref.index()];
  return terms.symbol(32, fmt::format("slot{}", ref.index()), true);
}

Id Step::scalar64(machine::ScalarRef ref) {
  if (ref.is_constant())
    return terms.constant(64, uint64_t{of.pool_.scalars[ref.index() + 1]} << 32 | of.pool_.scalars[ref.index()]);
  if (ref.index() + 1 < analysis::vgpr_unit) return sgpr_pair(ref.index());
  const Id low = scalar32(ref);
  const bool condition = ref.index() >= machine::slot::vccz && ref.index() <= machine::slot::scc;
  const Id high = condition ? terms.constant(32, 0) : scalar32(machine::ScalarRef::sgpr(ref.index() + 1));
  return terms.pair(low, high);
}

void Step::write_scalar(uint32_t number, uint8_t width, Id value) {
  if (number >= analysis::vgpr_unit) return;
  if (width == 32) {
    registers[number] = value;
    return;
  }
  registers[number] = terms.low(value);
  if (number + 1 < analysis::vgpr_unit) registers[number + 1] = terms.high(value);
}

bool Step::uses(const isa::RegisterRange& range) const {
  return std::ranges::any_of(i.uses,
                             [&](const isa::RegisterRange& use) { return shared.registers.overlap(use, range); });
}

std::vector<Id> Step::read_everything() {
  std::vector<Id> values;
  shared.registers.each(i.uses, [&](size_t unit) {
    values.push_back(analysis::is_vector_unit(unit) ? in_active_lanes(registers[unit]) : registers[unit]);
  });
  // The lists name a destination that keeps a part of itself only where no other operand does.
  if (isa::keeps_other_half(name))
    shared.registers.each(i.defs, [&](size_t unit) { values.push_back(in_active_lanes(registers[unit])); });
  return values;
}

void Step::write_everything(Id tuple, uint32_t first) {
  shared.registers.each(i.defs, [&](size_t unit) {
    const bool vector = analysis::is_vector_unit(unit);
    const uint8_t width = unit == analysis::scc_unit ? 1 : 32;
    write_unit(unit, terms.pick(tuple, first++, width, !vector));
  });
}

void Step::write_unit(size_t unit, Id value) {
  registers[unit] = analysis::is_vector_unit(unit) ? terms.choose(lane_on, value, registers[unit]) : value;
}

std::string Step::encoding_key() const {
  // The decoder has turned constants into bits; registers are told from them by where they are.
  std::string key(name);
  const auto place = [&](machine::RowRef ref) {
    if (ref.space() == machine::RowSpace::constant) key += fmt::format(" {:x}", of.pool_.rows[ref.row()].lane[0]);
  };
  const auto scalar = [&](machine::ScalarRef ref) {
    if (ref.is_constant())
      key += fmt::format(" {:x}.{:x}", of.pool_.scalars[ref.index()], of.pool_.scalars[ref.index() + 1]);
    else if (ref.index() >= analysis::vgpr_unit)
      key += fmt::format(" @{}", ref.index());
  };
  for (unsigned k = 0; k < 3; ++k) {
    place(op.src[k]);
    scalar(op.ssrc[k]);
    key += ',';
  }
  key += fmt::format(" {:x} {:x} {}", op.imm, op.flags, i.uses.size());
  if (i.encoding == Encoding::mtbuf) key += fmt::format(" f{:x}", op.sdst);
  if (i.traits.vmem && i.encoding != Encoding::mubuf && i.encoding != Encoding::mtbuf) {
    const fields::Flat flat = fields::flat(i.words);
    key += flat.cache.sc1 ? " sc1" : "";
  } else if (i.traits.vmem) {
    const bool sc1 =
        i.encoding == Encoding::mubuf ? fields::mubuf(i.words).cache.sc1 : fields::mtbuf(i.words).cache.sc1;
    key += sc1 ? " sc1" : "";
  }
  if (i.encoding == Encoding::smem) key += fmt::format(" {:x}", i.words[0] >> 15 & 3);
  return key;
}

Result<void> Step::event(uint8_t touches) {
  Memories& m = of.memories_;
  std::vector<Id> arguments = read_everything();
  arguments.push_back(path);
  if (i.traits.vmem || i.traits.lds) arguments.push_back(of.exec(registers));
  if (touches & touches_global) arguments.push_back(m.global);
  if (touches & touches_lds) arguments.push_back(m.lds);
  if (touches & touches_scratch) arguments.push_back(m.scratch);
  const Id tuple = terms.wave(encoding_key(), arguments);
  const Id before = m.global;
  if (touches & touches_global) m.global = terms.pick(tuple, 0, 0, true);
  if (i.traits.barrier) {
    BarrierRecord& record = shared.barriers.try_emplace(m.global, BarrierRecord{before, false, false}).first->second;
    record.stores_before |= of.barrier_.stores_before;
    record.stores_behind |= of.barrier_.stores_behind;
  }
  if (touches & touches_lds) m.lds = terms.pick(tuple, 1, 0, true);
  if (touches & touches_scratch) m.scratch = terms.pick(tuple, 2, 0, true);
  write_everything(tuple, 3);
  return {};
}

// ---- scalar ALU ----

namespace {

/// What only takes time: the wait and hazard verifiers judge whether there is enough of it.
bool only_takes_time(const Instruction& i, std::string_view name) {
  constexpr std::string_view idle[] = {"s_setprio", "s_sleep", "s_wakeup", "s_inst_prefetch"};
  return analysis::only_waits(i) || std::ranges::find(idle, name) != std::end(idle);
}

} // namespace

Naming naming_effect(const Instruction& i) {
  if (!i.traits.salu) return Naming::none;
  const std::string_view name = name_of(i);
  if (name == "s_set_gpr_idx_on") return Naming::by_index;
  if (name == "s_set_gpr_idx_off") return Naming::as_written;
  if (name == "s_setvskip") return Naming::unknown;
  if (!name.starts_with("s_setreg")) return Naming::none;
  const fields::HwReg field = fields::hwreg(static_cast<uint16_t>(i.words[0]));
  // MODE.gpr_idx_en is bit 27, MODE.vskip bit 28.
  return field.id == 1 && field.offset + field.size > 27 ? Naming::unknown : Naming::none;
}

/// s_set_gpr_idx_*: the index and what it is for are kept in M0.
Result<void> Step::set_indexing() {
  if (path != terms.bit(true)) return not_understood(i, "is reached on some paths only");
  std::vector<Id> arguments = read_everything();
  arguments.push_back(registers[isa::m0]);
  arguments.push_back(registers[analysis::mode_unit]);
  const Id tuple = terms.apply(encoding_key(), arguments, 0);
  registers[isa::m0] = terms.pick(tuple, 0, 32, true);
  registers[analysis::mode_unit] = terms.pick(tuple, 1, 32, true);
  const Naming effect = naming_effect(i);
  if (effect == Naming::by_index) of.indexing_ = true;
  if (effect == Naming::as_written) of.indexing_ = false;
  return {};
}

/// A vector instruction while M0 is added to register numbers: it may read and write any of them.
Result<void> Step::indexed() {
  std::string key(name);
  for (uint32_t word : i.words) key += fmt::format(" {:08x}", word);
  const Id tuple = terms.wave(key, registers);
  const auto result = [&](size_t unit) {
    const bool vector = analysis::is_vector_unit(unit);
    registers[unit] = terms.pick(tuple, static_cast<uint32_t>(unit), unit == analysis::scc_unit ? 1 : 32, !vector);
  };
  for (size_t unit = analysis::vgpr_unit; unit < analysis::scc_unit; ++unit) result(unit);
  for (const isa::RegisterRange& def : i.defs)
    if (def.file == isa::File::sgpr)
      for (uint16_t k = 0; k < def.count; ++k) result(size_t{def.first} + k);
  return {};
}

/// Scalar instructions without a meaning: hardware registers, effects, and plain functions that nobody spelled out.
Result<void> Step::other_scalar() {
  const bool sets = name.starts_with("s_setreg"), gets = name == "s_getreg_b32";
  if (sets || gets) {
    constexpr uint32_t mode = 1, hw_id = 4, sh_mem_bases = 15, xcc_id = 20; // LLVM AMDGPU "hwreg" ids
    const uint32_t which = fields::hwreg(static_cast<uint16_t>(i.words[0])).id;
    if (which == mode) {
      std::vector<Id> arguments = read_everything();
      arguments.push_back(registers[analysis::mode_unit]);
      const Id value = terms.apply(encoding_key(), arguments, 32);
      registers[sets ? analysis::mode_unit : op.sdst] = value;
      return {};
    }
    const bool fixed = which == hw_id || which == sh_mem_bases || which == xcc_id;
    return gets && fixed ? event(touches_all) : not_understood(i, "touches a hardware register");
  }
  if (i.traits.side_effects || i.encoding == Encoding::sopp) return event(touches_all);
  const std::vector<Id> arguments = read_everything();
  write_everything(terms.apply(encoding_key(), arguments, 0), 0);
  return {};
}

Result<void> Step::scalar_alu() {
  const ScalarMeaning* meaning = scalar_meaning(name);
  if (!meaning) return other_scalar();
  using Form = ScalarMeaning::Form;
  std::vector<Id> sources;
  const auto read = [&](machine::ScalarRef ref, uint8_t width) {
    sources.push_back(width == 64 ? scalar64(ref) : scalar32(ref));
  };
  // Of the two sources of sop2 and sopc: the one that is the literal.
  constexpr uint32_t literal_operand = 255;
  const auto named = [&](size_t k) { return !literal.empty() && (i.words[0] >> (8 * k) & 0xff) == literal_operand; };
  Id scc = registers[analysis::scc_unit];
  const Id immediate = terms.constant(32, static_cast<uint32_t>(op.imm));
  if (i.encoding == Encoding::sopk) {
    if (name != "s_movk_i32") sources.push_back(registers[op.sdst]);
    sources.push_back(immediate);
  } else {
    if (meaning->reads_destination) read(machine::ScalarRef::sgpr(op.sdst), meaning->sources[0]);
    const size_t fixed = sources.size();
    for (size_t k = 0; k + fixed < 2 && meaning->sources[k + fixed] != 0; ++k) {
      if (meaning->form == Form::saves_exec || meaning->form == Form::writes_exec) {
        sources.push_back(k == 0 ? scalar64(op.ssrc[0]) : of.exec(registers));
        continue;
      }
      if (named(k) && meaning->sources[k + fixed] == 32)
        sources.push_back(terms.symbol(32, literal, true));
      else
        read(op.ssrc[k], meaning->sources[k + fixed]);
    }
  }
  const Id value = meaning->run(terms, sources, scc);
  switch (meaning->form) {
  case Form::value:
    write_scalar(op.sdst, meaning->destination, value);
    break;
  case Form::compare:
    break;
  case Form::saves_exec:
    write_scalar(op.sdst, 64, of.exec(registers));
    write_scalar(isa::exec_lo, 64, value);
    scc = terms.complement(terms.is_zero(value));
    break;
  case Form::writes_exec:
    write_scalar(isa::exec_lo, 64, value);
    write_scalar(op.sdst, 64, value);
    scc = terms.complement(terms.is_zero(value));
    break;
  }
  registers[analysis::scc_unit] = scc;
  return {};
}

void Execution::call(const Instruction& i, Registers& registers, Id path, std::string_view callee) {
  const uint32_t to = i.words[0] >> 16 & 0x7f, from = i.words[0] & 0x7f; // of s_swappc_b64 and s_call_b64
  std::vector<Id> arguments;
  if (callee.empty()) arguments.push_back(terms_.pair(registers[from], registers[from + 1]));
  // Where it returns to is another number in each version and the same place.
  for (uint32_t k = 0; k < 2; ++k) registers[to + k] = terms_.symbol(32, fmt::format("return address {}", k), true);
  arguments.insert(arguments.end(), registers.begin(), registers.end());
  arguments.insert(arguments.end(), {path, memories_.global, memories_.lds, memories_.scratch});
  const Id tuple = terms_.wave(fmt::format("call {}", callee), arguments);
  for (uint32_t unit = 0; unit < registers.size(); ++unit) {
    const uint8_t width = unit == analysis::scc_unit ? 1 : 32;
    registers[unit] = terms_.pick(tuple, unit, width, !analysis::is_vector_unit(unit));
  }
  const auto memory = [&](uint32_t n) { return terms_.pick(tuple, uint32_t(analysis::register_bits) + n, 0, true); };
  memories_ = {memory(0), memory(1), memory(2)};
}

Result<void> Execution::step(const Instruction& i, Registers& registers, Id path, std::string_view literal) {
  const std::string_view name = name_of(i);
  if (i.encoding == Encoding::unknown) return not_understood(i, "is no instruction of this target");
  if (only_takes_time(i, name)) return {};
  if (i.traits.relative) return not_understood(i, "names registers by M0");
  if (naming_effect(i) == Naming::unknown) return not_understood(i, "changes which registers instructions name");
  if (name == "s_getpc_b64") return not_understood(i, "reads the program counter");
  Step step(*this, i, registers, path, literal);
  if (!step.row || step.op.run == &machine::run_unsupported) return not_understood(i, "is not known to the machine");
  if (name.starts_with("s_set_gpr_idx_")) return step.set_indexing();
  if (indexing_ && i.traits.valu) return step.indexed();
  if (!literal.empty() && (i.encoding != Encoding::sop2 || !scalar_meaning(name)))
    return not_understood(i, "names a place in the code or in other sections");
  if (i.traits.salu) return step.scalar_alu();
  if (i.traits.valu) return step.vector_alu();
  if (i.traits.smem) return step.scalar_memory();
  if (i.traits.lds || i.traits.vmem) return step.vector_memory();
  return step.event(Step::touches_all);
}

Result<Id> Execution::branch_condition(const Instruction& i, const Registers& registers) {
  const std::string_view name = name_of(i);
  const auto is_zero = [&](uint16_t first) {
    return terms_.is_zero(terms_.pair(registers[first], registers[first + 1]));
  };
  if (name == "s_cbranch_scc0") return terms_.complement(registers[analysis::scc_unit]);
  if (name == "s_cbranch_scc1") return registers[analysis::scc_unit];
  if (name == "s_cbranch_vccz") return is_zero(isa::vcc_lo);
  if (name == "s_cbranch_vccnz") return terms_.complement(is_zero(isa::vcc_lo));
  if (name == "s_cbranch_execz") return is_zero(isa::exec_lo);
  if (name == "s_cbranch_execnz") return terms_.complement(is_zero(isa::exec_lo));
  return not_understood(i, "branches on something unknown");
}

} // namespace asmevo::prove
