#include "search/drivers/superopt/opcode.h"

#include "timing/device_table.h"
#include "timing/static_table.h"

#include <algorithm>

namespace asmevo::search::superopt {
namespace {

using machine::Format;

using enum Arrangement;

/// What replacements are made of. `sample` is how it is written; `as` is the vector instruction that computes the same
/// of sources that are arranged so, where the name is another's.
struct Row {
  std::string_view name, sample;
  bool commutes = false, short_form = false;
  std::string_view as = {};
  Arrangement arrangement = same;
  uint8_t shift = 0;
};

constexpr Row rows[] = {
    {"v_mov_b32", "v0, v1", false, true},
    {"v_not_b32", "v0, v1", false, true},
    {"v_add_u32", "v0, v1, v2", true, true},
    {"v_sub_u32", "v0, v1, v2", false, true},
    {"v_subrev_u32", "v0, v1, v2", false, true},
    {"v_and_b32", "v0, v1, v2", true, true},
    {"v_or_b32", "v0, v1, v2", true, true},
    {"v_xor_b32", "v0, v1, v2", true, true},
    {"v_xnor_b32", "v0, v1, v2", true, true},
    {"v_lshlrev_b32", "v0, v1, v2", false, true},
    {"v_lshrrev_b32", "v0, v1, v2", false, true},
    {"v_ashrrev_i32", "v0, v1, v2", false, true},
    {"v_min_u32", "v0, v1, v2", true, true},
    {"v_max_u32", "v0, v1, v2", true, true},
    {"v_min_i32", "v0, v1, v2", true, true},
    {"v_max_i32", "v0, v1, v2", true, true},
    {"v_mul_u32_u24", "v0, v1, v2", true, true},
    {"v_mul_i32_i24", "v0, v1, v2", true, true},
    {"v_cndmask_b32", "v0, v1, v2, vcc", false, true},
    {"v_bfm_b32", "v0, v1, v2"},
    {"v_lshl_add_u32", "v0, v1, v2, v3"},
    {"v_add_lshl_u32", "v0, v1, v2, v3", true},
    {"v_add3_u32", "v0, v1, v2, v3", true},
    {"v_lshl_or_b32", "v0, v1, v2, v3"},
    {"v_and_or_b32", "v0, v1, v2, v3", true},
    {"v_or3_b32", "v0, v1, v2, v3", true},
    {"v_xad_u32", "v0, v1, v2, v3", true},
    {"v_bfe_u32", "v0, v1, v2, v3"},
    {"v_bfe_i32", "v0, v1, v2, v3"},
    {"v_bfi_b32", "v0, v1, v2, v3"},
    {"v_alignbit_b32", "v0, v1, v2, v3"},
    {"v_perm_b32", "v0, v1, v2, v3"},
    {"v_mad_u32_u24", "v0, v1, v2, v3", true},
    {"v_mad_i32_i24", "v0, v1, v2, v3", true},
    {"v_min3_u32", "v0, v1, v2, v3", true},
    {"v_max3_u32", "v0, v1, v2, v3", true},
    {"v_med3_u32", "v0, v1, v2, v3", true},
    {"v_min3_i32", "v0, v1, v2, v3", true},
    {"v_max3_i32", "v0, v1, v2, v3", true},
    {"v_med3_i32", "v0, v1, v2, v3", true},
    {"v_mul_lo_u32", "v0, v1, v2", true},
    {"v_mul_hi_u32", "v0, v1, v2", true},
    {"v_lshl_add_u64", "v[0:1], v[2:3], v4, v[6:7]"},
    {"v_lshlrev_b64", "v[0:1], v4, v[2:3]"},
    {"v_lshrrev_b64", "v[0:1], v4, v[2:3]"},
    {"v_ashrrev_i64", "v[0:1], v4, v[2:3]"},
    {"s_mov_b32", "s0, s1", false, true, "v_mov_b32"},
    {"s_not_b32", "s0, s1", false, true, "v_not_b32"},
    {"s_add_u32", "s0, s1, s2", true, true, "v_add_u32"},
    {"s_sub_u32", "s0, s1, s2", false, true, "v_sub_u32"},
    {"s_and_b32", "s0, s1, s2", true, true, "v_and_b32"},
    {"s_or_b32", "s0, s1, s2", true, true, "v_or_b32"},
    {"s_xor_b32", "s0, s1, s2", true, true, "v_xor_b32"},
    {"s_xnor_b32", "s0, s1, s2", true, true, "v_xnor_b32"},
    {"s_lshl_b32", "s0, s1, s2", false, true, "v_lshlrev_b32", exchanged},
    {"s_lshr_b32", "s0, s1, s2", false, true, "v_lshrrev_b32", exchanged},
    {"s_ashr_i32", "s0, s1, s2", false, true, "v_ashrrev_i32", exchanged},
    {"s_mul_i32", "s0, s1, s2", true, true, "v_mul_lo_u32"},
    {"s_bfm_b32", "s0, s1, s2", false, true, "v_bfm_b32"},
    {"s_min_u32", "s0, s1, s2", true, true, "v_min_u32"},
    {"s_max_u32", "s0, s1, s2", true, true, "v_max_u32"},
    {"s_min_i32", "s0, s1, s2", true, true, "v_min_i32"},
    {"s_max_i32", "s0, s1, s2", true, true, "v_max_i32"},
    {"s_andn2_b32", "s0, s1, s2", false, true, "v_and_b32", last_complemented},
    {"s_orn2_b32", "s0, s1, s2", false, true, "v_or_b32", last_complemented},
    {"s_lshl1_add_u32", "s0, s1, s2", false, true, "v_lshl_add_u32", shift_between, 1},
    {"s_lshl2_add_u32", "s0, s1, s2", false, true, "v_lshl_add_u32", shift_between, 2},
    {"s_lshl3_add_u32", "s0, s1, s2", false, true, "v_lshl_add_u32", shift_between, 3},
    {"s_lshl4_add_u32", "s0, s1, s2", false, true, "v_lshl_add_u32", shift_between, 4},
    {"s_lshl_b64", "s[0:1], s[2:3], s4", false, true, "v_lshlrev_b64", exchanged},
    {"s_lshr_b64", "s[0:1], s[2:3], s4", false, true, "v_lshrrev_b64", exchanged},
    {"s_ashr_i64", "s[0:1], s[2:3], s4", false, true, "v_ashrrev_i64", exchanged},
};

Type type_of(Format format) {
  switch (format) {
  case Format::b64:
    return Type::wide;
  case Format::mask:
    return Type::bit;
  case Format::b32:
  case Format::f32: // v_cndmask_b32
  case Format::b16:
    return Type::word;
  default:
    return Type::none;
  }
}
Type type_of(uint8_t width) { return width == 64 ? Type::wide : width == 32 ? Type::word : Type::none; }

/// The shape of a vector instruction; nothing where it is not one that is followed.
std::unique_ptr<Opcode> vector_shape(std::string_view name) {
  auto opcode = std::make_unique<Opcode>();
  opcode->name = name;
  if (name == "v_mov_b32") {
    opcode->sources[0] = Type::word;
    opcode->count = 1;
    return opcode;
  }
  const prove::IntegerMeaning* meaning = prove::integer_meaning(name);
  if (!meaning || meaning->keeps_upper_half || meaning->accumulates || meaning->writes_exec) return nullptr;
  opcode->vector = meaning;
  opcode->result = type_of(meaning->destination);
  opcode->second = meaning->carry_out ? Type::bit : Type::none;
  opcode->count = meaning->source_count;
  for (uint8_t k = 0; k < opcode->count; ++k) {
    opcode->sources[k] = type_of(meaning->sources[k]);
    if (opcode->sources[k] == Type::none) return nullptr;
  }
  return opcode->result == Type::none ? nullptr : std::move(opcode);
}

std::unique_ptr<Opcode> scalar_shape(const isa::Instruction& instruction) {
  const std::string_view name = isa::name_of(instruction);
  const prove::ScalarMeaning* meaning = prove::scalar_meaning(name);
  using Form = prove::ScalarMeaning::Form;
  if (!meaning || (meaning->form != Form::value && meaning->form != Form::compare)) return nullptr;
  auto opcode = std::make_unique<Opcode>();
  opcode->name = name;
  opcode->unit = Unit::scalar;
  opcode->scalar = meaning;
  opcode->result = meaning->form == Form::compare ? Type::none : type_of(meaning->destination);
  for (uint8_t width : meaning->sources)
    if (width != 0) opcode->sources[opcode->count++] = type_of(width);
  const auto has_scc = [](const std::vector<isa::RegisterRange>& ranges) {
    return std::ranges::any_of(ranges, [](const isa::RegisterRange& r) { return r.file == isa::File::scc; });
  };
  if (has_scc(instruction.defs)) opcode->second = Type::bit;
  opcode->reads_scc = has_scc(instruction.uses);
  if (opcode->reads_scc) opcode->sources[opcode->count++] = Type::bit;
  return opcode;
}

std::optional<isa::Instruction> assembled(const isa::Codec& codec, const std::string& text) {
  const auto bytes = codec.assemble(text + "\n");
  if (!bytes) return std::nullopt;
  isa::Instruction instruction = codec.decode(*bytes, 0);
  if (instruction.encoding == isa::Encoding::unknown || instruction.size != bytes->size()) return std::nullopt;
  return instruction;
}

/// Clocks by class on the part that the target is of, or the first part that is known.
std::array<timing::Cost, size_t(timing::OpClass::priority) + 1> costs_of(isa::Processor processor) {
  const auto devices = timing::all_devices();
  const auto found = std::ranges::find_if(devices, [&](const auto* device) { return device->processor == processor; });
  return timing::cost_table(timing::draw(found == devices.end() ? *devices.front() : **found, 0, 0));
}

} // namespace

void Opcode::compute(const Samples* const* from, Samples& to) const {
  Samples made;
  switch (arrangement) {
  case same:
    return evaluate(from, to);
  case exchanged: {
    const Samples* arranged[] = {from[1], from[0]};
    return evaluate(arranged, to);
  }
  case last_complemented: {
    for (size_t k = 0; k < sample_count; ++k) made.of[k] = uint32_t(~from[1]->of[k]);
    const Samples* arranged[] = {from[0], &made};
    return evaluate(arranged, to);
  }
  case shift_between: {
    made.of.fill(shift);
    const Samples* arranged[] = {from[0], &made, from[1]};
    return evaluate(arranged, to);
  }
  }
}

const Opcode* Opcodes::add_naming(std::string_view name, Type result, std::initializer_list<Type> sources) {
  auto opcode = std::make_unique<Opcode>();
  opcode->name = name;
  opcode->unit = Unit::naming;
  opcode->result = result;
  std::ranges::copy(sources, opcode->sources.begin());
  opcode->count = uint8_t(sources.size());
  return known_.emplace(name, std::move(opcode)).first->second.get();
}

Opcodes::Opcodes(const isa::Codec& codec) {
  for (const timing::Cost& cost : costs_of(codec.target().processor)) {
    issue_.push_back(cost.issue);
    latency_.push_back(double(cost.result));
  }
  low = add_naming("low", Type::word, {Type::wide});
  high = add_naming("high", Type::word, {Type::wide});
  pair = add_naming("pair", Type::wide, {Type::word, Type::word});
  for (const Row& row : rows) {
    const auto instruction = assembled(codec, fmt::format("{} {}", row.name, row.sample));
    if (!instruction || !of(*instruction)) continue; // not on this target
    Opcode& opcode = *known_.find(row.name)->second;
    opcode.evaluate = evaluation_of(row.as.empty() ? row.name : row.as);
    opcode.commutes = row.commutes;
    opcode.short_form = row.short_form;
    opcode.arrangement = row.arrangement;
    opcode.shift = row.shift;
    if (opcode.evaluate) (opcode.unit == Unit::vector ? vector_ : scalar_).push_back(&opcode);
  }
}

void Opcodes::price(Opcode& opcode, const isa::Instruction& instruction) const {
  const size_t op = size_t(timing::classify(instruction));
  opcode.issue = issue_[op];
  opcode.latency = latency_[op];
}

const Opcode* Opcodes::of(const isa::Instruction& instruction) {
  const std::string_view name = isa::name_of(instruction);
  if (const auto found = known_.find(name); found != known_.end()) return found->second.get();
  if (!instruction.traits.valu && !instruction.traits.salu) return nullptr;
  std::unique_ptr<Opcode> opcode = instruction.traits.valu ? vector_shape(name) : scalar_shape(instruction);
  if (opcode) price(*opcode, instruction);
  return known_.emplace(name, std::move(opcode)).first->second.get();
}

const Opcode* Opcodes::named(std::string_view name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? nullptr : found->second.get();
}

} // namespace asmevo::search::superopt
