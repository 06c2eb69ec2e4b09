// LLVM's tables list the opcodes of all AMD targets at once and keep to themselves which of them a subtarget has. Its
// decoder knows. So each encoding's opcode field is counted through, and what decodes is there. The operand fields must
// hold something that the opcode takes: vector registers for one, scalar registers, aligned for the widest, for
// another; a few patterns are tried one after the other.
#include "isa/opcodes.h"

#include "isa/encoding.h"

#include <algorithm>
#include <optional>

namespace asmevo::isa {
namespace {

constexpr size_t longest = 16; // bytes of an instruction

/// Where an encoding has its opcode, and what surrounds it.
struct Family {
  Encoding encoding;
  uint32_t prefix;
  unsigned shift, opcodes;
};

constexpr Family families[] = {
    {Encoding::sop2, 0x80000000, 23, 128},   {Encoding::sopk, 0xb0000000, 23, 32},
    {Encoding::sop1, 0xbe800000, 8, 256},    {Encoding::sopc, 0xbf000000, 16, 128},
    {Encoding::sopp, 0xbf800000, 16, 128},   {Encoding::smem, 0xc0000000, 18, 256},
    {Encoding::vop2, 0x00000000, 25, 64},    {Encoding::vop1, 0x7e000000, 9, 256},
    {Encoding::vopc, 0x7c000000, 17, 256},   {Encoding::vop3a, 0xd0000000, 16, 896},
    {Encoding::vop3p, 0xd3800000, 16, 128},  {Encoding::ds, 0xd8000000, 17, 256},
    {Encoding::flat, 0xdc000000, 18, 128},   {Encoding::scratch, 0xdc004000, 18, 128},
    {Encoding::global, 0xdc008000, 18, 128}, {Encoding::mubuf, 0xe0000000, 18, 128},
    {Encoding::mtbuf, 0xe8000000, 15, 16},
};

/// Operand fields: of the first word, and the second.
struct Pattern {
  uint32_t first, second;
};

// Scalar operands are s16 and s[16:31] wherever a field is, vector operands v0.
constexpr Pattern scalar_patterns[] = {
    {16 << 16 | 16, 0}, {16 << 16 | 16 << 8 | 16, 0}, {16 << 16 | 16 << 8, 0}, {16, 0}, {0, 0}, {2, 0}, {16 << 16, 0}};
constexpr Pattern scalar_memory_patterns[] = {{1 << 17 | 16 << 6 | 8, 0}, {1 << 17 | 8, 0}, {1 << 17, 0}, {0, 0}};
constexpr Pattern short_patterns[] = {{256, 0}, {16, 0}, {256 | 4 << 17, 0}};
constexpr Pattern long_patterns[] = {
    {0, 256 | 256 << 9 | 256u << 18},       // three vector registers
    {0, 256 | 256 << 9},                    // two
    {0, 256},                               // one
    {16 << 8, 256 | 256 << 9 | 256u << 18}, // with a scalar destination
    {16, 256 | 256 << 9 | 256u << 18},
    {16, 256 | 256 << 9},
    {16, 256 | 16 << 9}, // lane reads
    {16, 256},
    {0, 16 | 16 << 9}, // lane writes
    {0, 256 | 256 << 9 | 16u << 18},
    {16 << 8, 256 | 256 << 9 | 16u << 18},
    {0, 0},
    {1 << 15 | 0, 256 | 256 << 9 | 256u << 18 | 3 << 27}, // accumulators
    {0, 256 | 256 << 9 | 256u << 18 | 3 << 27},
    {0, 256 | 1 << 27},
};
constexpr Pattern memory_patterns[] = {{0, 0},       {0, 0x7f << 16},       {1 << 13, 0x7f << 16},
                                       {1 << 16, 0}, {1 << 16, 0x7f << 16}, {0, 0x80000000}};

std::span<const Pattern> patterns_of(Encoding encoding) {
  switch (encoding) {
  case Encoding::smem:
    return scalar_memory_patterns;
  case Encoding::vop1:
  case Encoding::vop2:
  case Encoding::vopc:
    return short_patterns;
  case Encoding::vop3a:
  case Encoding::vop3p:
    return long_patterns;
  case Encoding::sop1:
  case Encoding::sop2:
  case Encoding::sopk:
  case Encoding::sopc:
  case Encoding::sopp:
    return scalar_patterns;
  default:
    return memory_patterns;
  }
}

constexpr uint32_t operand_bits(const Family& family) {
  if (family.encoding == Encoding::sop1) return 0x7f00ff;
  return (1u << family.shift) - 1;
}

std::array<uint8_t, longest> bytes_of(uint32_t first, uint32_t second) {
  std::array<uint8_t, longest> bytes{};
  for (unsigned k = 0; k < 4; ++k) bytes[k] = uint8_t(first >> (8 * k)), bytes[4 + k] = uint8_t(second >> (8 * k));
  return bytes;
}

// The two halves of a scaled matrix instruction: v0 for both scales, and an opcode of VOP3P behind.
std::optional<Instruction> scaled(const Codec& codec, uint32_t opcode) {
  constexpr uint32_t vectors = 256 | 256 << 9, all_vectors = vectors | 256u << 18;
  auto bytes = bytes_of(0xd3ac0000, vectors);
  const auto behind = bytes_of(0xd3800000 | opcode << 16, all_vectors);
  std::copy_n(behind.begin(), 8, bytes.begin() + 8);
  Instruction i = codec.decode(bytes, 0);
  if (i.encoding != Encoding::vop3px2) return std::nullopt;
  return i;
}

std::optional<Instruction> sample(const Codec& codec, const Family& family, uint32_t opcode) {
  for (const Pattern& pattern : patterns_of(family.encoding)) {
    const uint32_t word = family.prefix | opcode << family.shift | (pattern.first & operand_bits(family));
    const Encoding found = encoding_of(word);
    const bool same = found == family.encoding || (family.encoding == Encoding::vop3a && found == Encoding::vop3b) ||
                      (family.encoding == Encoding::vop3p && found == Encoding::vop3p_mai);
    if (!same) return std::nullopt;
    Instruction i = codec.decode(bytes_of(word, pattern.second), 0);
    if (i.encoding == Encoding::unknown) continue;
    if (name_of(i).starts_with("v_interp_")) return std::nullopt;
    return i;
  }
  return std::nullopt;
}

} // namespace

std::vector<Instruction> every_opcode(const Codec& codec) {
  std::vector<Instruction> all;
  for (const Family& family : families)
    for (uint32_t opcode = 0; opcode < family.opcodes; ++opcode)
      if (auto found = sample(codec, family, opcode)) all.push_back(std::move(*found));
  for (uint32_t opcode : {0x2du, 0x2eu})
    if (auto found = scaled(codec, opcode)) all.push_back(std::move(*found));
  return all;
}

} // namespace asmevo::isa
