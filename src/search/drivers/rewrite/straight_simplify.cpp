// Straight-line code with less in it.
//
// A compiler computes a condition where it needs it, under the mask of the region that it stands in, and so in each
// region anew. But what a lane gets that is not active in the region nobody asks: an address is read by a load under
// the same mask, and a comparison is met with the region's own mask before it narrows EXEC. Where that is so the
// instruction may as well run in all lanes, and then it is the same instruction in each of the regions.
#include "search/drivers/rewrite/straight_simplify.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace asmevo::search::rewrite {

namespace {

/// Lanes of a lane mask that somebody looks at: those of some masks, or all.
struct Seen {
  bool everywhere = false;
  std::set<int> masks;
};

bool is_bitwise(const Node& node) {
  constexpr std::array names = {"s_and_b64", "s_or_b64", "s_xor_b64", "s_andn2_b64", "s_orn2_b64", "s_mov_b64"};
  return node.instruction->traits.salu && std::ranges::find(names, node.text.mnemonic) != names.end();
}

/// Vector instructions that look at a lane mask lane by lane.
bool selects_by_lane(const isa::Instruction& i) {
  const std::string_view name = isa::name_of(i);
  return name == "v_cndmask_b32" || name == "v_addc_co_u32" || name == "v_subb_co_u32" || name == "v_subbrev_co_u32";
}

class Widening {
public:
  explicit Widening(StraightCode& code) : code_(code), seen_(code.values.size()) {}

  void run() {
    for (size_t n = code_.nodes.size(); n-- > 0;) look_at(code_.nodes[n]);
  }

private:
  void look_at(Node& node) {
    Seen results;
    for (const Operand& write : node.writes) {
      const ValueId value = write.parts[0].value;
      if (code_.is_fixed(value)) results.everywhere = true;
      join(results, seen_[value]);
      if (code_.mask_of(value) != no_mask) results.everywhere = true;
    }
    for (const Operand& read : node.reads)
      for (const Part& part : read.parts) see(node, part.value, results);
    if (can_widen(node, results)) {
      node.mask = StraightCode::entry_mask;
      for (const Operand& write : node.writes) {
        Value& value = code_.values[write.parts[0].value];
        if (value.mask != no_mask) value.mask = StraightCode::entry_mask;
      }
    }
  }

  void see(const Node& node, ValueId value, const Seen& results) {
    if (code_.values[value].range.file != isa::File::sgpr) return;
    Seen& seen = seen_[value];
    // A condition that narrows a mask only counts within it.
    const int made = node.writes.empty() ? no_mask : code_.mask_of(node.writes[0].parts[0].value);
    const bool narrows = made != no_mask && node.text.mnemonic == "s_and_b64";
    if (narrows && code_.mask_of(value) == no_mask)
      seen.masks.insert(code_.masks[size_t(made)].parent);
    else if (is_bitwise(node) && !node.scc_is_read && made == no_mask)
      join(seen, results);
    else if (selects_by_lane(*node.instruction))
      seen.masks.insert(node.mask);
    else
      seen.everywhere = true;
  }

  bool can_widen(const Node& node, const Seen& results) {
    if (node.mask == no_mask || node.mask == StraightCode::entry_mask || !node.only_computes) return false;
    if (!node.instruction->traits.valu || crosses_lanes(*node.instruction) || node.writes.size() != 1) return false;
    const Operand& write = node.writes[0];
    const Value& value = code_.values[write.parts[0].value];
    if (code_.is_fixed(write.parts[0].value) || meets_another(write.parts[0].value)) return false;
    if (value.range.file == isa::File::vgpr) return true;
    return !results.everywhere &&
           std::ranges::all_of(results.masks, [&](int mask) { return code_.within(mask, node.mask); });
  }

  /// Whether another value lies in the same register, where other lanes or a later instruction want it.
  bool meets_another(ValueId value) {
    if (code_.is_alone(value)) return false;
    for (ValueId other = 0; other < code_.values.size(); ++other)
      if (other != value && code_.root(other) == code_.root(value) &&
          code_.values[other].range.overlaps(code_.values[value].range))
        return true;
    return false;
  }

  static void join(Seen& into, const Seen& other) {
    into.everywhere |= other.everywhere;
    into.masks.insert(other.masks.begin(), other.masks.end());
  }

  StraightCode& code_;
  std::vector<Seen> seen_; // by value
};

/// What must be equal for two instructions to compute the same.
std::string key_of(const StraightCode& code, const Node& node) {
  std::string key = fmt::format("{}{}@{}", base_mnemonic(node.text.mnemonic), node.text.modifiers, node.mask);
  for (size_t o = 0; o < node.text.operands.size(); ++o) {
    if (std::ranges::find(node.writes, o, &Operand::index) != node.writes.end()) continue;
    const std::string& text = node.text.operands[o];
    const auto read = std::ranges::find(node.reads, o, &Operand::index);
    if (read == node.reads.end()) {
      key += "," + text;
      continue;
    }
    key += text.starts_with('-') ? ",-" : ",";
    if (text.find('|') != text.npos) key += "|";
    for (const Part& part : read->parts) {
      const Part now = code.resolved(part);
      key += fmt::format("v{}.{} ", now.value, now.offset);
    }
  }
  return key;
}

bool can_be_shared(StraightCode& code, const Node& node) {
  if (!node.only_computes || crosses_lanes(*node.instruction) || node.writes.size() != 1) return false;
  if (node.reads_scc || node.scc_is_read) return false;
  const ValueId value = node.writes[0].parts[0].value;
  return code.is_alone(value) && !code.is_fixed(value);
}

void share(StraightCode& code) {
  std::map<std::string, ValueId> known;
  for (Node& node : code.nodes) {
    if (node.is_gone || !can_be_shared(code, node)) continue;
    const ValueId value = node.writes[0].parts[0].value;
    const auto [at, fresh] = known.try_emplace(key_of(code, node), value);
    if (fresh) continue;
    code.values[value].same_as = {at->second, 0};
    node.is_gone = true;
  }
}

// ---- scalar loads ----

struct ScalarLoad {
  size_t node = 0;
  std::vector<Part> base;
  uint32_t offset = 0;
};

std::optional<ScalarLoad> scalar_load(StraightCode& code, size_t number) {
  const Node& node = code.nodes[number];
  const InstructionText& text = node.text;
  if (node.is_gone || text.mnemonic != "s_load_dword" || text.operands.size() != 3 || !text.modifiers.empty() ||
      node.reads.size() != 1 || node.writes.size() != 1)
    return std::nullopt;
  const ValueId value = node.writes[0].parts[0].value;
  if (!code.is_alone(value) || code.is_fixed(value)) return std::nullopt;
  uint32_t offset = 0;
  std::string_view digits = text.operands[2];
  if (!digits.starts_with("0x")) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data() + 2, digits.data() + digits.size(), offset, 16);
  if (error != std::errc{} || end != digits.data() + digits.size() || offset >= (1u << 20)) return std::nullopt;
  std::vector<Part> base;
  for (const Part& part : node.reads[0].parts) base.push_back(code.resolved(part));
  return ScalarLoad{number, std::move(base), offset};
}

/// Loads of neighbouring words through one base as one load, in place of the first of them. All of them happen: nothing
/// is read that was not read before.
void merge_loads(StraightCode& code) {
  const bool stores = std::ranges::any_of(code.nodes, [](const Node& node) {
    return node.instruction->traits.may_store && !node.instruction->traits.salu;
  });
  if (stores) return;
  std::map<std::vector<Part>, std::vector<ScalarLoad>> by_base;
  for (size_t n = 0; n < code.nodes.size(); ++n)
    if (const auto load = scalar_load(code, n)) by_base[load->base].push_back(*load);
  for (auto& [base, loads] : by_base) {
    std::ranges::stable_sort(loads, {}, &ScalarLoad::offset);
    for (size_t first = 0; first < loads.size();) {
      size_t count = 1;
      while (first + count < loads.size() && loads[first + count].offset == loads[first].offset + 4 * count) ++count;
      count = count >= 8 ? 8 : count >= 4 ? 4 : count >= 2 ? 2 : 1;
      if (count > 1) {
        const auto width = uint16_t(count);
        size_t at = loads[first].node;
        for (size_t k = first; k < first + count; ++k) at = std::min(at, loads[k].node);
        const ValueId wide = code.add_value({.range = {isa::File::sgpr, 0, width}, .placeless = true, .maker = at});
        Operand write{0, {}};
        for (uint16_t k = 0; k < width; ++k) {
          write.parts.push_back({wide, k});
          Node& node = code.nodes[loads[first + k].node];
          code.values[node.writes[0].parts[0].value].same_as = {wide, k};
          node.is_gone = true;
        }
        Node& node = code.nodes[at];
        node.is_gone = false;
        node.text.mnemonic = fmt::format("s_load_dwordx{}", count);
        node.text.operands[0] = register_text({isa::File::sgpr, 0, width});
        node.text.operands[2] = fmt::format("0x{:x}", loads[first].offset);
        node.writes = {std::move(write)};
      }
      first += count;
    }
  }
}

/// From the end: what computes for nobody.
void drop_unwanted(StraightCode& code) {
  std::vector<bool> wanted(code.values.size(), false);
  for (const int mask : code.skips) wanted[code.resolved({code.masks[size_t(mask)].value, 0}).value] = true;
  for (const Node& node : code.nodes)
    if (!node.is_gone && node.mask != no_mask)
      wanted[code.resolved({code.masks[size_t(node.mask)].value, 0}).value] = true;
  for (size_t n = code.nodes.size(); n-- > 0;) {
    Node& node = code.nodes[n];
    if (node.is_gone) continue;
    const bool needed = !node.only_computes || node.scc_is_read || node.writes.empty() ||
                        std::ranges::any_of(node.writes, [&](const Operand& write) {
                          const ValueId value = write.parts[0].value;
                          // Beside or below another value it is a part of what that one's readers see.
                          return wanted[value] || code.is_fixed(value) || !code.is_alone(value);
                        });
    if (!needed) {
      node.is_gone = true;
      continue;
    }
    for (const Operand& read : node.reads)
      for (const Part& part : read.parts) wanted[code.resolved(part).value] = true;
  }
}

} // namespace

void simplify(StraightCode& code) {
  Widening(code).run();
  share(code);
  merge_loads(code);
  drop_unwanted(code);
}

} // namespace asmevo::search::rewrite
