#include "recover/references.h"

#include "isa/instruction.h"

#include <charconv>

namespace asmevo::recover {

namespace {

constexpr size_t furthest = 64; // instructions between s_getpc_b64 and its additions

struct Mnemonics {
  uint16_t getpc = isa::mnemonic_id("s_getpc_b64"), add = isa::mnemonic_id("s_add_u32"),
           addc = isa::mnemonic_id("s_addc_u32"), sub = isa::mnemonic_id("s_sub_u32"),
           subb = isa::mnemonic_id("s_subb_u32");
};

const Mnemonics& names() {
  static const Mnemonics instance;
  return instance;
}

// SOP2: destination 22:16, source 1 15:8, source 0 7:0; 255 is the literal, 128-192 are 0-64, 193-208 are -1 to -16.
struct Sop2 {
  uint32_t destination, source0, source1;
  explicit Sop2(uint32_t word) : destination(word >> 16 & 127), source0(word & 255), source1(word >> 8 & 255) {}
};

struct Addend {
  uint32_t destination, source;
  uint32_t value;
};

std::optional<uint32_t> constant(const isa::Instruction& i, uint32_t operand) {
  if (operand == 255) return i.words[1];
  if (operand >= 128 && operand <= 192) return operand - 128;
  if (operand >= 193 && operand <= 208) return uint32_t(192 - int32_t(operand));
  return std::nullopt;
}

// The instruction as "destination = source + constant"; subtraction only with the constant on the right.
std::optional<Addend> addend(const isa::Instruction& i, bool subtracts) {
  Sop2 fields(i.words[0]);
  if (auto c = constant(i, fields.source1); c && fields.source0 < 128)
    return Addend{fields.destination, fields.source0, *c};
  if (auto c = constant(i, fields.source0); c && !subtracts && fields.source1 < 128)
    return Addend{fields.destination, fields.source1, *c};
  return std::nullopt;
}

bool writes(const isa::Instruction& i, uint32_t sgpr) {
  for (const auto& range : i.defs)
    if (range.overlaps({isa::File::sgpr, uint16_t(sgpr), 1})) return true;
  return false;
}

bool writes_scc(const isa::Instruction& i) {
  for (const auto& range : i.defs)
    if (range.file == isa::File::scc) return true;
  return false;
}

} // namespace

bool is_getpc(const isa::Instruction& i) { return i.mnemonic == names().getpc; }

std::optional<uint32_t> literal(const isa::Instruction& i) {
  if (!i.has_literal || i.size < 8) return std::nullopt;
  return i.words[i.size / 4 - 1];
}

std::optional<bool> carry_direction(const isa::Instruction& low, const isa::Instruction& later) {
  bool subtracts = low.mnemonic == names().sub;
  if (later.mnemonic != (subtracts ? names().subb : names().addc)) return std::nullopt;
  auto first = addend(low, subtracts), second = addend(later, subtracts);
  if (!first || !second || second->source != first->source + 1) return std::nullopt;
  if (second->value != 0 && second->value != ~0u) return std::nullopt;
  return (second->value == 0) != subtracts;
}

std::optional<AddressPair> address_pair(std::span<const isa::Instruction* const> instructions, size_t base) {
  const isa::Instruction& getpc = *instructions[base];
  uint32_t low_register = getpc.words[0] >> 16 & 127, high_register = low_register + 1;
  AddressPair pair{.base = base};
  uint32_t low_value = 0;
  for (size_t i = base + 1; i < instructions.size() && i <= base + furthest; i++) {
    const isa::Instruction& at = *instructions[i];
    if (at.address != instructions[i - 1]->address + instructions[i - 1]->size || at.traits.branch) return std::nullopt;
    if (!pair.low && (at.mnemonic == names().add || at.mnemonic == names().sub)) {
      pair.subtracts = at.mnemonic == names().sub;
      if (auto low = addend(at, pair.subtracts); low && low->source == low_register) {
        pair.low = i;
        low_value = low->value;
        continue;
      }
    }
    if (pair.low && at.mnemonic == (pair.subtracts ? names().subb : names().addc)) {
      if (auto high = addend(at, pair.subtracts); high && high->source == high_register) {
        pair.high = i;
        uint64_t distance = uint64_t{high->value} << 32 | low_value;
        pair.target = getpc.address + 4 + (pair.subtracts ? -distance : distance);
        return pair;
      }
    }
    if (writes(at, high_register) || (!pair.low && writes(at, low_register)) || (pair.low && writes_scc(at)))
      return std::nullopt;
  }
  return std::nullopt;
}

std::string with_literal(const std::string& text, uint32_t value, const std::string& expression) {
  for (size_t at = text.find_first_of(" ,"); at != std::string::npos; at = text.find_first_of(" ,", at)) {
    at = text.find_first_not_of(" ,", at);
    if (at == std::string::npos) break;
    size_t end = std::min(text.find_first_of(" ,", at), text.size());
    if (text.compare(at, 2, "0x") != 0) continue;
    uint64_t number = 0;
    auto parsed = std::from_chars(text.data() + at + 2, text.data() + end, number, 16);
    if (parsed.ptr == text.data() + end && uint32_t(number) == value)
      return text.substr(0, at) + expression + text.substr(end);
  }
  return "";
}

} // namespace asmevo::recover
