#include "launch/infer/element_type.h"

#include "launch/infer/type_words.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

using isa::Instruction;
using isa::RegisterRange;

constexpr size_t horizon = 400; // instructions between a load and its first use, or a store and its last producer
constexpr int most_moves = 4;

bool is_move(std::string_view name) {
  return name == "v_mov_b32" || name == "v_mov_b64" || name == "v_pk_mov_b32" || name == "s_mov_b32" ||
         name == "s_mov_b64" || name == "v_accvgpr_write_b32" || name == "v_accvgpr_read_b32" ||
         name == "v_cndmask_b32" || name == "v_readfirstlane_b32";
}

bool touches(const std::vector<RegisterRange>& list, const RegisterRange& reg) {
  return std::ranges::any_of(list, [&](const RegisterRange& r) { return r.overlaps(reg); });
}

RegisterRange one(RegisterRange range, unsigned index) { return {range.file, uint16_t(range.first + index), 1}; }

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

void vote_access(const WaveReader& wave, size_t e, uint32_t argument, std::map<uint32_t, TypeVotes>& votes) {
  const Instruction& i = wave.at(e);
  const machine::AccessPattern& access = *wave.pattern(e);
  std::optional<DType> type;
  if (access.write && !i.traits.atomic) {
    if (isa::name_of(i).ends_with("_d16_hi"))
      type = DType::bf16;
    else if (auto data = memory_sources(i).data; !data.empty())
      type = wave.origin_of(one(data[0], 0), e);
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
          const Owner& owner, uint64_t kernarg, Votes& votes) {
  WaveReader wave(image, trace, wave_trace);
  std::map<uint32_t, unsigned> seen; // by instruction: a loop says the same each time
  for (size_t e = 0; e < wave.size(); ++e) {
    const machine::AccessPattern* access = wave.pattern(e);
    if (!access || ++seen[wave_trace.events[e].instruction] > 4) continue;
    if (access->space == machine::Space::scalar && wave.base(e) >= kernarg && wave.base(e) < kernarg + 4096) {
      const Instruction& i = wave.at(e);
      for (unsigned k = 0; !i.defs.empty() && k < i.defs[0].count; ++k)
        if (auto type = wave.use_of(one(i.defs[0], k), e, 4))
          ++votes.scalars[uint32_t(wave.base(e) - kernarg) + 4 * k][*type];
      continue;
    }
    auto lane = std::ranges::find_if(access->offset, [](uint32_t o) { return o != machine::inactive_lane; });
    if (lane == access->offset.end() || access->space == machine::Space::lds) continue;
    if (auto argument = owner(wave.base(e) + *lane)) vote_access(wave, e, *argument, votes.elements);
  }
}

} // namespace asmevo::launch
