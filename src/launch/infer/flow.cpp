#include "launch/infer/flow.h"

#include "launch/infer/type_words.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace asmevo::launch {

namespace {

using isa::File;
using isa::Instruction;
using isa::RegisterRange;

constexpr size_t most_events = 30'000; // of a wave: loops repeat themselves
constexpr uint32_t kernarg_limit = 4096;

/// Where a register's value came from. Scalars and pointers are numbered by Labels.
struct Origin {
  uint64_t scalars = 0;      // arguments, through integer arithmetic
  uint64_t converted = 0;    // arguments, as floats
  uint64_t loaded = 0;       // pointers whose content it was computed from
  uint64_t raw = 0;          // pointers whose content it is, moved but not yet computed with
  std::optional<DType> made; // the type of the instruction that computed it

  Origin& operator|=(const Origin& other) {
    scalars |= other.scalars, converted |= other.converted, loaded |= other.loaded, raw |= other.raw;
    if (!made) made = other.made;
    return *this;
  }
};

/// Kernarg offsets as bits; what does not fit 64 of them is not followed.
class Labels {
public:
  uint64_t bit(uint32_t offset) {
    auto found = std::ranges::find(offsets_, offset);
    if (found == offsets_.end() && offsets_.size() == 64) return 0;
    size_t index = size_t(found - offsets_.begin());
    if (found == offsets_.end()) offsets_.push_back(offset);
    return uint64_t{1} << index;
  }
  template <class F> void each(uint64_t bits, F&& f) const {
    for (; bits; bits &= bits - 1) f(offsets_[size_t(std::countr_zero(bits))]);
  }

private:
  std::vector<uint32_t> offsets_;
};

/// VCC, EXEC, M0 and SCC carry decisions, not values.
bool carries_values(const RegisterRange& r) {
  return r.file == File::vgpr || r.file == File::agpr || (r.file == File::sgpr && r.first < isa::flat_scratch_lo);
}

uint32_t key(File file, uint32_t index) { return uint32_t(file) << 16 | index; }

class Follower {
public:
  Follower(const machine::Image& image, const machine::Trace& trace, const Owner& owner, uint64_t kernarg, Flow& flow)
      : image_(image), trace_(trace), owner_(owner), kernarg_(kernarg), flow_(flow) {}

  void run(const machine::WaveTrace& wave, const Preloaded& preloaded) {
    registers_.clear();
    seen_.clear();
    for (uint32_t i = 0; i < preloaded.count; ++i)
      registers_[key(File::sgpr, preloaded.first + i)].scalars = labels_.bit(preloaded.offset + 4 * i);
    for (size_t e = 0; e < std::min(wave.events.size(), most_events); ++e) step(wave.events[e]);
  }

private:
  Origin of(const RegisterRange& r) const {
    Origin origin;
    if (!carries_values(r)) return origin;
    for (uint32_t i = 0; i < r.count; ++i)
      if (auto found = registers_.find(key(r.file, r.first + i)); found != registers_.end()) origin |= found->second;
    return origin;
  }

  void set(const RegisterRange& r, const Origin& origin) {
    if (!carries_values(r)) return;
    for (uint32_t i = 0; i < r.count; ++i) registers_[key(r.file, r.first + i)] = origin;
  }

  void step(const machine::TraceEvent& event) {
    const Instruction& i = image_.instructions()[event.instruction];
    unsigned times = ++seen_[event.instruction];
    if (i.traits.smem || i.traits.vmem || i.traits.lds)
      access(i, event);
    else
      compute(i, times > 1);
  }

  // ---- arithmetic

  void compute(const Instruction& i, bool repeated) {
    Origin sources;
    for (const RegisterRange& r : i.uses) sources |= of(r);
    std::string_view name = isa::name_of(i);
    const std::vector<DType> types = types_in(name);
    const bool floats = !types.empty() && is_floating(types.back());
    if (name.starts_with("v_cmp") || name.starts_with("s_cmp")) {
      note(sources.scalars, floats ? use_float : repeated ? use_bound : use_guard);
      vote(sources.raw, types);
      return; // a decision
    }
    if (floats) note(sources.scalars, use_float);
    if (name.find("_rcp") != name.npos || name.find("_div_") != name.npos) note(sources.converted, use_divisor);
    if (!types.empty()) {
      vote(sources.raw, types);
      sources.loaded |= std::exchange(sources.raw, 0);
      if (is_floating(types.front())) {
        const uint64_t scalars = std::exchange(sources.scalars, 0);
        if (!floats) sources.converted |= scalars; // v_cvt_f32_u32
      }
      sources.made = types.front();
    } else if (sources.raw && widens_bf16(i)) {
      labels_.each(sources.raw, [&](uint32_t offset) { ++flow_.types[offset][DType::bf16]; });
    }
    for (const RegisterRange& r : i.defs) set(r, sources);
  }

  void note(uint64_t bits, unsigned use) {
    labels_.each(bits, [&](uint32_t offset) { flow_.uses[offset] |= use; });
  }

  void vote(uint64_t bits, const std::vector<DType>& types) {
    if (!types.empty()) labels_.each(bits, [&](uint32_t offset) { ++flow_.types[offset][types.back()]; });
  }

  // ---- memory

  void access(const Instruction& i, const machine::TraceEvent& event) {
    const bool known = event.pattern != machine::no_pattern;
    const machine::AccessPattern* pattern = known ? &trace_.patterns[event.pattern] : nullptr;
    const MemorySources sources = memory_sources(i);
    Origin data, address;
    for (const RegisterRange& r : sources.data) data |= of(r);
    for (const RegisterRange& r : sources.address) address |= of(r);
    if (known) { // ds_bpermute and the like access nothing
      note(address.scalars, use_address);
      labels_.each(address.loaded | address.raw, [&](uint32_t offset) { flow_.indexes.insert(offset); });
    }
    Origin result;
    if (pattern && pattern->space == machine::Space::scalar && event.base >= kernarg_ &&
        event.base < kernarg_ + kernarg_limit) {
      load_arguments(i, uint32_t(event.base - kernarg_));
      return;
    }
    if (pattern) result = i.traits.lds ? share(*pattern, data) : transfer(*pattern, event, data);
    if (!known && i.traits.lds) (result = data) |= address; // ds_bpermute, ds_swizzle: lanes exchange values
    for (const RegisterRange& r : i.defs) set(r, result);
  }

  void load_arguments(const Instruction& i, uint32_t offset) {
    for (const RegisterRange& r : i.defs)
      for (uint32_t k = 0; k < r.count; ++k) {
        Origin origin;
        origin.scalars = labels_.bit(offset + 4 * k);
        set({r.file, uint16_t(r.first + k), 1}, origin);
      }
  }

  Origin transfer(const machine::AccessPattern& pattern, const machine::TraceEvent& event, const Origin& data) {
    auto lane = std::ranges::find_if(pattern.offset, [](uint32_t o) { return o != machine::inactive_lane; });
    Origin result;
    if (lane == pattern.offset.end()) return result;
    auto argument = owner_(event.base + *lane);
    if (!argument) return result;
    if (pattern.write && data.made && size_of(*data.made) <= pattern.bytes) ++flow_.types[*argument][*data.made];
    if (pattern.write && data.raw) {
      flow_.moved.insert(*argument);
      labels_.each(data.raw, [&](uint32_t offset) { flow_.moved.insert(offset); });
    }
    result.raw = labels_.bit(*argument);
    return result;
  }

  /// LDS is followed by dword, in what the waves of the workgroup did in the order of their numbers.
  Origin share(const machine::AccessPattern& first, const Origin& data) {
    Origin result;
    for (const machine::AccessPattern* p = &first;; p = &trace_.patterns[p->next]) {
      for (uint32_t lane = 0; lane < 64; lane += 7) { // some lanes show what all of them do
        uint32_t offset = p->offset[lane];
        if (offset == machine::inactive_lane) continue;
        for (uint32_t at = offset / 4; at <= (offset + p->bytes - 1) / 4; ++at)
          if (p->write)
            shared_[at] = data;
          else if (auto found = shared_.find(at); found != shared_.end())
            result |= found->second;
      }
      if (p->next == machine::no_pattern) return result;
    }
  }

  const machine::Image& image_;
  const machine::Trace& trace_;
  const Owner& owner_;
  uint64_t kernarg_;
  Flow& flow_;
  Labels labels_;
  std::unordered_map<uint32_t, Origin> registers_, shared_;
  std::unordered_map<uint32_t, unsigned> seen_;
};

} // namespace

std::string names_of_uses(unsigned uses) {
  constexpr std::pair<Use, std::string_view> names[] = {{use_address, "addresses"},
                                                        {use_guard, "comparisons"},
                                                        {use_bound, "bounds of loops"},
                                                        {use_divisor, "divisions"},
                                                        {use_float, "arithmetic on floats"}};
  std::string text;
  for (auto [use, name] : names)
    if (uses & use) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

void follow(const machine::Image& image, const machine::Trace& trace, uint32_t workgroup, const Owner& owner,
            uint64_t kernarg, const Preloaded& preloaded, Flow& flow) {
  Follower follower(image, trace, owner, kernarg, flow);
  // What one wave reads in LDS another may have written: the second round knows it all.
  for (int round = 0; round < 2; ++round)
    for (const machine::WaveTrace& wave : trace.waves)
      if (wave.workgroup == workgroup) follower.run(wave, preloaded);
}

} // namespace asmevo::launch
