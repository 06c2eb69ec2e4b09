#include "launch/infer/element_type.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

using isa::Instruction;
using isa::RegisterRange;

constexpr size_t horizon = 400; // instructions between a load and its first use, or a store and its last producer
constexpr int most_moves = 4;

constexpr std::pair<std::string_view, DType> type_words[] = {
    {"f64", DType::f64}, {"f32", DType::f32},    {"f16", DType::f16}, {"bf16", DType::bf16}, {"fp8", DType::fp8},
    {"bf8", DType::bf8}, {"i32", DType::i32},    {"u32", DType::u32}, {"i64", DType::i64},   {"u64", DType::u64},
    {"i16", DType::i16}, {"u16", DType::u16},    {"i8", DType::i8},   {"u8", DType::u8},     {"u24", DType::u32},
    {"i24", DType::i32}, {"f8f6f4", DType::fp8}, {"xf32", DType::f32}};

/// The types in a mnemonic, in order: {f32, f16} for v_cvt_f32_f16. Shapes such as 32x32x8 are no types.
std::vector<DType> types_in(std::string_view mnemonic) {
  std::vector<DType> types;
  while (!mnemonic.empty()) {
    size_t end = mnemonic.find('_');
    std::string_view word = mnemonic.substr(0, end);
    for (auto [name, type] : type_words)
      if (name == word) types.push_back(type);
    mnemonic = end == mnemonic.npos ? "" : mnemonic.substr(end + 1);
  }
  return types;
}

bool is_move(std::string_view name) {
  return name == "v_mov_b32" || name == "v_mov_b64" || name == "v_pk_mov_b32" || name == "s_mov_b32" ||
         name == "s_mov_b64" || name == "v_accvgpr_write_b32" || name == "v_accvgpr_read_b32" ||
         name == "v_cndmask_b32" || name == "v_readfirstlane_b32";
}

bool touches(const std::vector<RegisterRange>& list, const RegisterRange& reg) {
  return std::ranges::any_of(list, [&](const RegisterRange& r) { return r.overlaps(reg); });
}

RegisterRange one(RegisterRange range, unsigned index) { return {range.file, uint16_t(range.first + index), 1}; }

/// Whether an instruction with the value of a 16-bit load widens bf16: f32 is bf16 with sixteen zeros behind it.
bool widens_bf16(const Instruction& i) {
  std::string_view name = isa::name_of(i);
  bool mask = name == "v_and_b32" && i.has_literal && std::ranges::find(i.words, 0xffff0000u) != i.words.end();
  return name == "v_lshlrev_b32" || mask;
}

class WaveReader {
public:
  WaveReader(const machine::Image& image, const machine::Trace& trace, const machine::WaveTrace& wave)
      : image_(image), trace_(trace), wave_(wave) {}

  const Instruction& at(size_t event) const { return image_.instructions()[wave_.events[event].instruction]; }
  size_t size() const { return wave_.events.size(); }
  const machine::AccessPattern* pattern(size_t event) const {
    uint32_t id = wave_.events[event].pattern;
    return id == machine::no_pattern ? nullptr : &trace_.patterns[id];
  }
  uint64_t base(size_t event) const { return wave_.events[event].base; }

  /// The type as which the value in `reg`, written at `event`, is first used.
  std::optional<DType> use_of(RegisterRange reg, size_t event, unsigned bytes) const {
    int moves = 0;
    for (size_t e = event + 1; e < std::min(size(), event + horizon); ++e) {
      const Instruction& i = at(e);
      if (i.traits.waitcnt || i.traits.vmem || i.traits.smem) {
        if (touches(i.defs, reg)) return std::nullopt;
        continue;
      }
      if (touches(i.uses, reg)) {
        std::string_view name = isa::name_of(i);
        if (auto types = types_in(name); !types.empty()) return types.back();
        if (bytes >= 2 && widens_bf16(i)) return DType::bf16;
        if (!is_move(name) || i.defs.empty() || ++moves > most_moves) return std::nullopt;
        reg = one(i.defs[0], 0);
        continue;
      }
      if (touches(i.defs, reg)) return std::nullopt;
    }
    return std::nullopt;
  }

  /// The type of the result that was last written to `reg` before `event`.
  std::optional<DType> origin_of(RegisterRange reg, size_t event) const {
    int moves = 0;
    for (size_t e = event; e-- > (event > horizon ? event - horizon : 0);) {
      const Instruction& i = at(e);
      if (!touches(i.defs, reg)) continue;
      std::string_view name = isa::name_of(i);
      if (auto types = types_in(name); !types.empty()) return types.front();
      if (!is_move(name) || i.uses.empty() || ++moves > most_moves) return std::nullopt;
      reg = one(i.uses[0], 0);
    }
    return std::nullopt;
  }

private:
  const machine::Image& image_;
  const machine::Trace& trace_;
  const machine::WaveTrace& wave_;
};

/// A vote fits the width of the access: a dword may hold two halves, a byte no float.
bool fits(DType type, unsigned bytes) { return size_of(type) <= bytes; }

/// The register of a store's data: the explicit source that is as wide as the access. Addresses come first.
std::optional<RegisterRange> data_register(const Instruction& i, unsigned bytes) {
  uint16_t wanted = uint16_t((bytes + 3) / 4);
  for (size_t k = i.explicit_uses; k-- > 0;)
    if (const RegisterRange& r = i.uses[k]; r.file != isa::File::sgpr && r.count == wanted) return r;
  return std::nullopt;
}

void vote_access(const WaveReader& wave, size_t e, uint32_t argument, std::map<uint32_t, TypeVotes>& votes) {
  const Instruction& i = wave.at(e);
  const machine::AccessPattern& access = *wave.pattern(e);
  std::optional<DType> type;
  if (access.write && !i.traits.atomic) {
    if (isa::name_of(i).ends_with("_d16_hi"))
      type = DType::bf16;
    else if (auto reg = data_register(i, access.bytes))
      type = wave.origin_of(one(*reg, 0), e);
  } else if (i.traits.atomic) {
    if (auto types = types_in(isa::name_of(i)); !types.empty())
      type = types.back();
    else
      type = DType::u32;
  } else if (!i.defs.empty()) {
    for (unsigned k = 0; k < std::min<unsigned>(i.defs[0].count, 4) && !type; ++k)
      type = wave.use_of(one(i.defs[0], k), e, access.bytes);
  }
  if (type && fits(*type, access.bytes)) ++votes[argument][*type];
}

} // namespace

std::optional<DType> winner(const TypeVotes& votes) {
  auto best = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  if (best == votes.end()) return std::nullopt;
  return best->first;
}

void vote(const machine::Image& image, const machine::Trace& trace, const machine::WaveTrace& wave_trace,
          const Owner& owner, uint64_t kernarg, std::map<uint32_t, TypeVotes>& votes) {
  WaveReader wave(image, trace, wave_trace);
  std::map<uint32_t, unsigned> seen; // by instruction: a loop says the same each time
  for (size_t e = 0; e < wave.size(); ++e) {
    const machine::AccessPattern* access = wave.pattern(e);
    if (!access || ++seen[wave_trace.events[e].instruction] > 4) continue;
    if (access->space == machine::Space::scalar && wave.base(e) >= kernarg && wave.base(e) < kernarg + 4096) {
      const Instruction& i = wave.at(e);
      for (unsigned k = 0; !i.defs.empty() && k < i.defs[0].count; ++k)
        if (auto type = wave.use_of(one(i.defs[0], k), e, 4)) ++votes[uint32_t(wave.base(e) - kernarg) + 4 * k][*type];
      continue;
    }
    auto lane = std::ranges::find_if(access->offset, [](uint32_t o) { return o != machine::inactive_lane; });
    if (lane == access->offset.end() || access->space == machine::Space::lds) continue;
    if (auto argument = owner(wave.base(e) + *lane)) vote_access(wave, e, *argument, votes);
  }
}

} // namespace asmevo::launch
