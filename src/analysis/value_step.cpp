#include "analysis/value_step.h"

#include "analysis/reaching.h"
#include "isa/fields.h"

namespace asmevo::analysis {
namespace {

using isa::Encoding;
using isa::Instruction;
namespace fields = isa::fields;

/// Modifiers that make of sources or result something else.
bool is_modified(const Instruction& i) {
  if (i.suffix != isa::Suffix::none) return true;
  if (i.encoding == Encoding::vop3a) {
    const fields::Vop3a f = fields::vop3a(i.words);
    return f.abs != 0 || f.neg != 0 || f.op_sel != 0 || f.omod != 0 || f.clamp;
  }
  if (i.encoding == Encoding::vop3b) {
    const fields::Vop3b f = fields::vop3b(i.words);
    return f.neg != 0 || f.omod != 0 || f.clamp;
  }
  return false;
}

} // namespace

Step::Step(RegisterValues& values, const recover::Program& program, size_t at, const RegisterState& state)
    : instruction(program.items[at].instruction), name(name_of(instruction)), forms(values.forms_),
      masks(values.masks_), before(state), item(static_cast<uint32_t>(at)), vector(instruction.traits.valu),
      values_(values), program_(program) {
  find_sources();
  // A distance that the assembler computes anew is not the number that was decoded.
  const bool relocated = !values.pristine_ && instruction.has_literal && !program.items[at].target.empty();
  failed_ = is_modified(instruction) || instruction.traits.relative || relocated;
}

void Step::find_sources() {
  const auto take = [&](auto... codes) {
    sources = {static_cast<uint16_t>(codes)...};
    source_count = sizeof...(codes);
  };
  const fields::Words& words = instruction.words;
  switch (instruction.encoding) {
  case Encoding::sop1:
    return take(fields::sop1(words).ssrc0);
  case Encoding::sop2:
    return take(fields::sop2(words).ssrc0, fields::sop2(words).ssrc1);
  case Encoding::sopk:
    return take(fields::sopk(words).sdst);
  case Encoding::vop1:
    return take(fields::vop1(words).src0);
  case Encoding::vop2:
    return take(fields::vop2(words).src0, fields::source_vgpr0 + fields::vop2(words).vsrc1);
  case Encoding::vop3a:
    return take(fields::vop3a(words).src0, fields::vop3a(words).src1, fields::vop3a(words).src2);
  case Encoding::vop3b:
    return take(fields::vop3b(words).src0, fields::vop3b(words).src1, fields::vop3b(words).src2);
  default:
    return;
  }
}

size_t Step::unit_of(uint16_t source) const {
  const bool vgpr = source >= fields::source_vgpr0;
  const auto number = static_cast<uint16_t>(vgpr ? source - fields::source_vgpr0 : source);
  return values_.registers().first_of({vgpr ? isa::File::vgpr : isa::File::sgpr, number, 1});
}

FormId Step::constant(uint16_t source, bool wide) {
  const auto value = source < 256 ? constant_operand(instruction, static_cast<uint8_t>(source)) : std::nullopt;
  // Of 64 bits a literal gives the lower half; where it is positive there is no doubt about the upper one.
  const bool is_float = source >= 240 && source <= 248;
  if (!value || (wide && (is_float || (source == fields::source_literal && *value > 0x7fffffff)))) {
    failed_ = true;
    return forms.constant(0);
  }
  return forms.constant(wide ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(*value)}) : *value);
}

FormId Step::register_word(size_t unit) {
  if (vector) return values_.active(before, unit);
  const Held held = values_.held(before, unit);
  if (held.form == Held::whole || values_.is_carry(held.form)) return values_.content(before, unit);
  if (masks.within(held.lanes, lanes_))
    lanes_ = held.lanes;
  else if (!masks.within(lanes_, held.lanes))
    return values_.content(before, unit);
  return held.form;
}

FormId Step::word(unsigned n) {
  return is_register(sources[n]) ? register_word(unit_of(sources[n])) : constant(sources[n], false);
}

FormId Step::pair(unsigned n) {
  if (!is_register(sources[n])) return constant(sources[n], true);
  const FormId low = word(n);
  ++sources[n];
  const FormId high = word(n);
  --sources[n];
  return forms.pair(low, high);
}

std::optional<MaskId> Step::mask(unsigned n) const {
  constexpr uint16_t zero = 128, minus_one = 193;
  if (sources[n] == zero) return LaneMasks::none;
  if (sources[n] == minus_one) return LaneMasks::all;
  if (sources[n] >= 128) return std::nullopt;
  return values_.mask_at(before, sources[n]);
}

std::optional<size_t> Step::defined(unsigned operand, unsigned offset) const {
  if (operand >= instruction.defs.size()) return std::nullopt;
  const isa::RegisterRange& range = instruction.defs[operand];
  if (offset >= range.count) return std::nullopt;
  return values_.registers().first_of(range) + offset;
}

void Step::write(std::optional<size_t> unit, FormId form) {
  if (!unit || failed_) return;
  results.push_back({*unit, {form, is_vector_unit(*unit) ? before.exec : lanes_, 0}});
}

void Step::write_pair(FormId form) {
  write(destination(0), forms.lower(form));
  write(destination(1), forms.upper(form));
}

void Step::write_mask(std::optional<size_t> unit, MaskId mask) {
  if (!unit || *unit + 1 >= vgpr_unit) return;
  if (*unit == isa::exec_lo) exec = mask;
  for (uint64_t half : {0u, 1u})
    results.push_back({*unit + half, {values_.mask_form(mask, half), LaneMasks::all, 0}});
}

void Step::write_uniform(FormId form, MaskId lanes) {
  if (failed_ || !forms.is_uniform(form) || !destination()) return;
  results.push_back({*destination(), {form, lanes, 0}});
}

/// One bit a lane, or SCC: no word, so it is only found where a carry is looked for.
void Step::write_carry(size_t unit, FormId carry) {
  if (failed_) return;
  for (size_t half = 0; half < (unit == scc_unit ? 1 : 2); ++half)
    results.push_back({unit + half, {carry, vector ? before.exec : lanes_, 0}});
}

std::optional<SymbolId> Step::carry_in() const {
  size_t unit = scc_unit;
  if (vector) unit = instruction.encoding == Encoding::vop3b ? sources[2] : isa::vcc_lo;
  if (unit > scc_unit || (vector && unit >= vgpr_unit)) return std::nullopt;
  const Held low = values_.held(before, unit), high = unit == scc_unit ? low : values_.held(before, unit + 1);
  if (low.form != high.form || low.form == Held::whole) return std::nullopt;
  if (!masks.within(vector ? before.exec : lanes_, low.lanes)) return std::nullopt;
  return forms.symbol_of(low.form);
}

bool Step::some_lane_is_active() const {
  return before.exec == LaneMasks::all || (before.exec == LaneMasks::entry && values_.kernel_ >= 0);
}

FormId Step::kernarg(uint32_t offset) const { return kernarg_dword(program_, values_.kernel_, offset, forms); }

/// Distances between items are known in a listing that is as it was in K0.
FormId Step::program_counter() const {
  if (values_.pristine_) {
    const FormId image = forms.symbol({SymbolKind::image, 0, 0, {}}, {~uint64_t{0}, true, 12});
    const auto next = static_cast<uint64_t>(program_.items[item].origin) + instruction.size;
    return forms.add64(image, forms.constant(next));
  }
  return forms.symbol({SymbolKind::program_counter, item, 0, {}}, {~uint64_t{0}, true, 2});
}

} // namespace asmevo::analysis
