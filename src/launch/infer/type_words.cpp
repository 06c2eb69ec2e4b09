#include "launch/infer/type_words.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

constexpr std::pair<std::string_view, DType> type_words[] = {
    {"f64", DType::f64}, {"f32", DType::f32},    {"f16", DType::f16}, {"bf16", DType::bf16}, {"fp8", DType::fp8},
    {"bf8", DType::bf8}, {"i32", DType::i32},    {"u32", DType::u32}, {"i64", DType::i64},   {"u64", DType::u64},
    {"i16", DType::i16}, {"u16", DType::u16},    {"i8", DType::i8},   {"u8", DType::u8},     {"u24", DType::u32},
    {"i24", DType::i32}, {"f8f6f4", DType::fp8}, {"xf32", DType::f32}};

} // namespace

std::vector<DType> types_in(std::string_view mnemonic) {
  std::vector<DType> types;
  while (!mnemonic.empty()) {
    size_t end = mnemonic.find('_');
    std::string_view word = mnemonic.substr(0, end);
    if (!word.empty() && std::isdigit(uint8_t(word[0]))) // v_mfma_f32_32x32x8f16
      word.remove_prefix(std::min(word.find_first_not_of("0123456789x"), word.size()));
    for (auto [name, type] : type_words)
      if (name == word) types.push_back(type);
    mnemonic = end == mnemonic.npos ? "" : mnemonic.substr(end + 1);
  }
  return types;
}

bool widens_bf16(const isa::Instruction& i) {
  constexpr uint32_t inline_16 = 144; // how an operand says the constant 16
  std::string_view name = isa::name_of(i);
  bool mask = name == "v_and_b32" && i.has_literal && std::ranges::find(i.words, 0xffff0000u) != i.words.end();
  return mask || (name == "v_lshlrev_b32" && i.encoding == isa::Encoding::vop2 && (i.words[0] & 511) == inline_16);
}

MemorySources memory_sources(const isa::Instruction& i) {
  const bool buffer = i.encoding == isa::Encoding::mubuf || i.encoding == isa::Encoding::mtbuf;
  const bool stores = i.traits.may_store || i.traits.atomic;
  MemorySources sources;
  for (size_t k = 0; k < i.explicit_uses; ++k) {
    // Buffer instructions name data, offset, resource; the others address, data, and perhaps a scalar base.
    const bool first = k == 0, scalar = i.uses[k].file == isa::File::sgpr;
    const bool data = stores && !scalar && (buffer ? first : !first);
    (data ? sources.data : sources.address).push_back(i.uses[k]);
  }
  return sources;
}

} // namespace asmevo::launch
