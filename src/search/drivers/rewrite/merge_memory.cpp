// Two neighbouring accesses in one instruction.
//
// A vector memory instruction costs an issue, an address cycle and a counter slot whatever its width, so two dword
// loads from neighbouring addresses are better as one dwordx2, and two LDS accesses from one base as one read2 or
// write2. The wide load needs consecutive registers: it loads into fresh ones, and moves before the first uses (which
// copy propagation usually removes) bring the values where the code expects them. Stores are merged only where their
// data lies consecutively already; ds_write2 takes two unrelated registers.
#include "search/drivers/rewrite/arrival.h"
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/private_buffer.h"
#include "search/drivers/rewrite/rules.h"

#include <algorithm>
#include <charconv>

namespace asmevo::search::rewrite {

namespace {

enum class Shape : uint8_t { wide_load, wide_store, lds_read2, lds_write2 };

struct Merge {
  std::string_view narrow, wide;
  Shape shape;
  uint8_t dwords; // of the narrow access
};

constexpr Merge merges[] = {
    {"global_load_dword", "global_load_dwordx2", Shape::wide_load, 1},
    {"global_load_dwordx2", "global_load_dwordx4", Shape::wide_load, 2},
    {"flat_load_dword", "flat_load_dwordx2", Shape::wide_load, 1},
    {"flat_load_dwordx2", "flat_load_dwordx4", Shape::wide_load, 2},
    {"buffer_load_dword", "buffer_load_dwordx2", Shape::wide_load, 1},
    {"buffer_load_dwordx2", "buffer_load_dwordx4", Shape::wide_load, 2},
    {"global_store_dword", "global_store_dwordx2", Shape::wide_store, 1},
    {"global_store_dwordx2", "global_store_dwordx4", Shape::wide_store, 2},
    {"flat_store_dword", "flat_store_dwordx2", Shape::wide_store, 1},
    {"flat_store_dwordx2", "flat_store_dwordx4", Shape::wide_store, 2},
    {"buffer_store_dword", "buffer_store_dwordx2", Shape::wide_store, 1},
    {"buffer_store_dwordx2", "buffer_store_dwordx4", Shape::wide_store, 2},
    {"ds_read_b32", "ds_read2_b32", Shape::lds_read2, 1},
    {"ds_read_b64", "ds_read2_b64", Shape::lds_read2, 2},
    {"ds_write_b32", "ds_write2_b32", Shape::lds_write2, 1},
    {"ds_write_b64", "ds_write2_b64", Shape::lds_write2, 2},
};

/// An access split into what must be equal for a merge and its offset.
struct Access {
  size_t item = 0;
  const Merge* merge = nullptr;
  InstructionText text;
  int64_t offset = 0;
  std::string address; // address operands and modifiers without the offset
  size_t data = 0;     // index of the data operand
};

/// Takes " offset:N" out of modifiers.
int64_t take_offset(std::string& modifiers) {
  size_t at = modifiers.find(" offset:");
  if (at == std::string::npos) return 0;
  size_t digits = at + 8, end = modifiers.find(' ', digits);
  if (end == std::string::npos) end = modifiers.size();
  int64_t value = 0;
  std::from_chars(modifiers.data() + digits, modifiers.data() + end, value);
  modifiers.erase(at, end - at);
  return value;
}

std::optional<Access> access_at(const Facts& facts, size_t item) {
  if (!facts.is_instruction(item)) return std::nullopt;
  std::string_view name = isa::name_of(facts.instruction(item));
  auto merge = std::ranges::find(merges, name, &Merge::narrow);
  if (merge == std::end(merges)) return std::nullopt;
  Access access;
  access.item = item;
  access.merge = &*merge;
  access.text = parse_instruction(facts.program.items[item].text);
  access.offset = take_offset(access.text.modifiers);
  // Loads name the data first, global, flat and DS stores second, buffer instructions always first.
  bool data_first = merge->shape == Shape::wide_load || merge->shape == Shape::lds_read2 || name.starts_with("buffer");
  access.data = data_first ? 0 : 1;
  if (access.text.operands.size() <= access.data) return std::nullopt;
  for (size_t i = 0; i < access.text.operands.size(); ++i)
    if (i != access.data) access.address += access.text.operands[i] + ",";
  access.address += access.text.modifiers;
  return access;
}

isa::RegisterRange data_of(const Access& access) {
  return operand_registers(access.text.operands[access.data]).value_or(isa::RegisterRange{isa::File::scc, 0, 0});
}

bool addresses_unchanged(const Facts& facts, const Access& a, const Access& b) {
  for (size_t i = 0; i < a.text.operands.size(); ++i)
    if (auto range = operand_registers(a.text.operands[i]); range && i != a.data)
      if (written_between(facts, *range, a.item, b.item)) return false;
  return !written_between(facts, exec, a.item, b.item);
}

/// Whether an access may move between the two items: no barrier or other effect, no store over a moved load, no access
/// at all over a moved store.
bool memory_quiet(const Facts& facts, size_t first, size_t last, bool moving_store) {
  for (size_t item = first + 1; item < last; ++item) {
    if (!facts.is_instruction(item)) return false;
    const isa::Traits& t = facts.instruction(item).traits;
    if (t.barrier || t.atomic || t.may_store || (t.side_effects && !t.waitcnt) || (moving_store && t.may_load))
      return false;
  }
  return true;
}

bool offsets_fit(const Access& low, const Access& high) {
  int64_t bytes = low.merge->dwords * 4;
  if (low.merge->shape == Shape::wide_load || low.merge->shape == Shape::wide_store)
    return high.offset - low.offset == bytes;
  auto fits = [&](int64_t offset) { return offset % bytes == 0 && offset / bytes <= 255; };
  return low.offset != high.offset && fits(low.offset) && fits(high.offset);
}

/// The merged instruction with `data` as its data operand(s).
std::string wide_text(const Access& low, const Access& high, const std::vector<std::string>& data) {
  InstructionText text = low.text;
  text.mnemonic = low.merge->wide;
  text.operands.erase(text.operands.begin() + long(low.data));
  text.operands.insert(text.operands.begin() + long(low.data), data.begin(), data.end());
  int64_t bytes = low.merge->dwords * 4;
  bool lds = low.merge->shape == Shape::lds_read2 || low.merge->shape == Shape::lds_write2;
  if (lds)
    text.modifiers = fmt::format(" offset0:{} offset1:{}", low.offset / bytes, high.offset / bytes) + text.modifiers;
  else if (low.offset != 0)
    text.modifiers = fmt::format(" offset:{}", low.offset) + text.modifiers;
  return write_instruction(text) + "\n";
}

std::string moves_text(const isa::RegisterRange& to, uint16_t from) {
  std::string text;
  for (uint16_t i = 0; i < to.count; ++i) text += fmt::format("v_mov_b32 v{}, v{}\n", to.first + i, from + i);
  return text;
}

/// Loads: one wide load at the first, into registers that nothing uses, and moves before the first uses.
std::optional<Idea> merged_loads(const Facts& facts, const analysis::Block& block, const Access& a, const Access& b) {
  const Access &low = a.offset < b.offset ? a : b, &high = a.offset < b.offset ? b : a;
  isa::RegisterRange low_data = data_of(low), high_data = data_of(high);
  if (low_data.file != isa::File::vgpr || high_data.file != isa::File::vgpr) return std::nullopt;
  if (facts.instruction(a.item).traits.lds != facts.instruction(b.item).traits.lds) return std::nullopt;
  if (read_between(facts, data_of(b), a.item + 1, b.item) || written_between(facts, data_of(b), a.item, b.item))
    return std::nullopt;
  uint16_t count = uint16_t(2 * low.merge->dwords);
  uint32_t fresh = (facts.vgprs_used + 1) & ~1u;
  if (fresh + count > facts.vgpr_budget) return std::nullopt;

  struct Arrival {
    size_t at;
    std::string text;
  };
  uint16_t half = low.merge->dwords;
  Arrival arrivals[2] = {{arrival(facts, block, low.item, low_data), moves_text(low_data, uint16_t(fresh))},
                         {arrival(facts, block, high.item, high_data), moves_text(high_data, uint16_t(fresh + half))}};
  // The value of the first load must not be wanted before the second's place in an order that the edits would break.
  if (arrivals[0].at == b.item || arrivals[1].at == b.item) return std::nullopt;
  if (arrivals[1].at < arrivals[0].at) std::swap(arrivals[0], arrivals[1]);
  isa::RegisterRange wide{isa::File::vgpr, uint16_t(fresh), count};
  std::vector<recover::Edit> edits = {{a.item, a.item + 1, wide_text(low, high, {register_text(wide)})},
                                      {b.item, b.item + 1, ""}};
  if (arrivals[0].at == arrivals[1].at)
    edits.push_back({arrivals[0].at, arrivals[0].at, arrivals[0].text + arrivals[1].text});
  else
    for (const Arrival& arrival : arrivals) edits.push_back({arrival.at, arrival.at, arrival.text});
  std::ranges::sort(edits, {}, &recover::Edit::first);
  return Idea{std::move(edits),
              {},
              fmt::format("two {} as one {}", low.merge->narrow, low.merge->wide),
              facts.heat_of(a.item, b.item + 1)};
}

std::optional<Idea> merged_stores(const Facts& facts, const Access& a, const Access& b) {
  const Access &low = a.offset < b.offset ? a : b, &high = a.offset < b.offset ? b : a;
  isa::RegisterRange low_data = data_of(low), high_data = data_of(high);
  if (written_between(facts, data_of(a), a.item + 1, b.item)) return std::nullopt;
  std::vector<std::string> data = {low.text.operands[low.data], high.text.operands[high.data]};
  if (low.merge->shape == Shape::wide_store) {
    bool adjacent = low_data.file == high_data.file && low_data.first + low_data.count == high_data.first &&
                    low_data.first % 2 == 0 && low_data.file == isa::File::vgpr;
    if (!adjacent) return std::nullopt;
    data = {register_text({isa::File::vgpr, low_data.first, uint16_t(low_data.count * 2)})};
  }
  return Idea{{{a.item, a.item + 1, ""}, {b.item, b.item + 1, wide_text(low, high, data)}},
              {},
              fmt::format("two {} as one {}", low.merge->narrow, low.merge->wide),
              facts.heat_of(a.item, b.item + 1)};
}

} // namespace

std::vector<Idea> merge_memory(const Facts& facts) {
  std::vector<Idea> ideas;
  const PrivateBuffer swizzled(facts); // neighbouring dwords of a lane do not lie side by side there
  for (const analysis::Block& block : facts.graph.blocks) {
    std::vector<Access> open; // accesses that a later one may join
    for (size_t item = block.first; item < block.last; ++item) {
      auto access = access_at(facts, item);
      if (!access || swizzled.may_be_used_by(item)) continue;
      for (const Access& earlier : open) {
        if (earlier.merge != access->merge || earlier.address != access->address) continue;
        bool store = access->merge->shape == Shape::wide_store || access->merge->shape == Shape::lds_write2;
        const Access &low = earlier.offset < access->offset ? earlier : *access,
                     &high = earlier.offset < access->offset ? *access : earlier;
        if (!offsets_fit(low, high) || !addresses_unchanged(facts, earlier, *access) ||
            !memory_quiet(facts, earlier.item, item, store))
          continue;
        auto idea = store ? merged_stores(facts, earlier, *access) : merged_loads(facts, block, earlier, *access);
        if (idea) ideas.push_back(std::move(*idea));
        break;
      }
      open.push_back(std::move(*access));
    }
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
