// Vector arithmetic that gives the same in every lane, once.
//
// What a compiler derives from arguments of the kernel in floating point it keeps in vector registers, and the integer
// arithmetic that follows: the reciprocal of a divisor, refined by two multiplications that take four times as long as
// other instructions, is the same in all 64 lanes. One lane's value goes to a scalar register (v_readfirstlane), the
// scalar unit does the arithmetic, and vector instructions read the result from there.
//
// A value is the same in every lane where everything that it is computed from is: constants, scalar registers and such
// values, all under the same EXEC. Where EXEC is empty, what is read is of no lane, but then nobody looks at what comes
// of it: results are read by vector instructions under that EXEC only.
#include "search/drivers/rewrite/local.h"
#include "search/drivers/rewrite/rules.h"
#include "search/drivers/rewrite/scalar_registers.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace asmevo::search::rewrite {

namespace {

struct Form {
  std::string_view vector, scalar;
  double clocks; // of the vector unit
  bool turned;   // operands the other way round
  bool writes_scc;
};
constexpr std::array forms = {
    Form{"v_mul_lo_u32", "s_mul_i32", 16, false, false},    Form{"v_mul_hi_u32", "s_mul_hi_u32", 16, false, false},
    Form{"v_mul_hi_i32", "s_mul_hi_i32", 16, false, false}, Form{"v_add_u32", "s_add_i32", 4, false, true},
    Form{"v_sub_u32", "s_sub_i32", 4, false, true},         Form{"v_subrev_u32", "s_sub_i32", 4, true, true},
    Form{"v_and_b32", "s_and_b32", 4, false, true},         Form{"v_or_b32", "s_or_b32", 4, false, true},
    Form{"v_xor_b32", "s_xor_b32", 4, false, true},         Form{"v_lshlrev_b32", "s_lshl_b32", 4, true, true},
    Form{"v_lshrrev_b32", "s_lshr_b32", 4, true, true},     Form{"v_ashrrev_i32", "s_ashr_i32", 4, true, true},
    Form{"v_max_i32", "s_max_i32", 4, false, true},         Form{"v_min_i32", "s_min_i32", 4, false, true},
    Form{"v_max_u32", "s_max_u32", 4, false, true},         Form{"v_min_u32", "s_min_u32", 4, false, true},
};
constexpr double move_clocks = 4, least_gain = 8;

/// A result of vector arithmetic that depends, lane by lane, on the operands and nothing else.
bool computes_one_register(const isa::Instruction& i, const InstructionText& text) {
  const isa::Traits& t = i.traits;
  if (!t.valu || t.mfma || t.side_effects || t.relative || i.suffix != isa::Suffix::none || crosses_lanes(i))
    return false;
  if (i.defs.size() != 1 || i.explicit_defs != 1 || i.defs[0].file != isa::File::vgpr || i.defs[0].count != 1)
    return false;
  const bool counts_lanes = isa::name_of(i).starts_with("v_mbcnt");
  return !counts_lanes && !text.operands.empty() && !keeps_a_part(i, text, i.defs[0]);
}

/// Instructions that take one bit for each lane from a scalar register.
bool reads_lane_mask(const isa::Instruction& i) {
  constexpr std::array names = {"v_cndmask_b32",    "v_addc_co_u32",  "v_subb_co_u32",
                                "v_subbrev_co_u32", "v_div_fmas_f32", "v_div_fmas_f64"};
  return std::ranges::find(names, isa::name_of(i)) != names.end();
}

struct Source {
  std::string text;           // constant or scalar register
  std::optional<size_t> node; // another of the nodes
  std::optional<size_t> item; // what computes it in the vector unit, where it stays
};

struct Scalarised {
  size_t item = 0;
  const Form* form = nullptr;
  std::array<Source, 2> sources;
  uint16_t vgpr = 0;
  size_t end = 0; // the item that writes the register again; or the end of its stretch
  bool is_wanted_behind = false;
  size_t component = 0;
};

/// One block's nodes: uniform arithmetic that the scalar unit can do.
class Uniform {
public:
  Uniform(const Facts& facts, const analysis::Block& block) : facts_(facts), block_(block), held_(512) {}

  std::vector<Scalarised> find() {
    size_t stretch = block_.first;
    for (size_t item = block_.first; item < block_.last; ++item) {
      if (!facts_.is_instruction(item)) continue;
      const isa::Instruction& i = facts_.instruction(item);
      if (writes(i, exec)) {
        close(stretch, item);
        stretch = item + 1;
        std::ranges::fill(held_, Holder{});
        continue;
      }
      look_at(item, i);
    }
    close(stretch, block_.last);
    return std::move(nodes_);
  }

private:
  struct Holder {
    bool uniform = false;
    size_t item = 0;
    std::optional<size_t> node;
  };

  void look_at(size_t item, const isa::Instruction& i) {
    const InstructionText text = parse_instruction(facts_.program.items[item].text);
    const bool uniform = computes_one_register(i, text) && !reads_lane_mask(i) && !facts_.program.items[item].raw &&
                         std::ranges::all_of(i.uses, [&](const isa::RegisterRange& use) { return is_uniform(use); });
    std::optional<size_t> node;
    if (uniform) node = node_at(item, i, text);
    for (const isa::RegisterRange& def : i.defs)
      if (def.file == isa::File::vgpr)
        for (uint16_t v = def.first; v < def.first + def.count && v < held_.size(); ++v) {
          if (held_[v].node) nodes_[*held_[v].node].end = item;
          held_[v] = {uniform, item, node};
        }
  }

  bool is_uniform(const isa::RegisterRange& use) const {
    if (use.file == isa::File::agpr) return false;
    if (use.file != isa::File::vgpr) return true;
    for (uint16_t v = use.first; v < use.first + use.count; ++v)
      if (v >= held_.size() || !held_[v].uniform) return false;
    return true;
  }

  std::optional<size_t> node_at(size_t item, const isa::Instruction& i, const InstructionText& text) {
    const auto form = std::ranges::find(forms, isa::name_of(i), &Form::vector);
    if (form == forms.end() || !text.modifiers.empty() || text.operands.size() != 3) return std::nullopt;
    if (form->writes_scc && facts_.live_after(item)[analysis::scc_unit]) return std::nullopt;
    Scalarised node{.item = item, .form = form, .sources = {}, .vgpr = i.defs[0].first, .end = 0};
    for (size_t k = 0; k < 2; ++k) {
      const std::string& operand = text.operands[k + 1];
      const auto range = operand_registers(operand);
      if (!range || range->file == isa::File::sgpr)
        node.sources[k].text = operand;
      else if (const Holder& holder = held_[range->first]; holder.node)
        node.sources[k].node = holder.node;
      else
        node.sources[k].item = holder.item;
    }
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }

  /// Values do not outlive a stretch of one EXEC as scalars.
  void close(size_t first, size_t last) {
    for (uint16_t v = 0; v < held_.size(); ++v)
      if (held_[v].node && nodes_[*held_[v].node].item >= first) {
        nodes_[*held_[v].node].end = last;
        nodes_[*held_[v].node].is_wanted_behind = facts_.live_after(last - 1)[analysis::bit_of(isa::File::vgpr, v)];
      }
  }

  const Facts& facts_;
  const analysis::Block& block_;
  std::vector<Holder> held_; // by VGPR
  std::vector<Scalarised> nodes_;
};

/// Whether an instruction may read a scalar register in the place of a VGPR; its text then.
std::optional<std::string> reading_scalar(const Facts& facts, size_t item, uint16_t vgpr, const std::string& scalar) {
  const isa::Instruction& i = facts.instruction(item);
  const isa::RegisterRange from{isa::File::vgpr, vgpr, 1};
  if (!i.traits.valu || i.traits.mfma || i.suffix != isa::Suffix::none || i.has_literal || reads_lane_mask(i) ||
      crosses_lanes(i) || i.traits.relative || i.encoding == isa::Encoding::vop3p || facts.program.items[item].raw)
    return std::nullopt;
  for (const isa::RegisterRange& use : i.uses)
    if (use.file == isa::File::sgpr && !use.overlaps(exec)) return std::nullopt; // there is one way in for scalars
  InstructionText text = parse_instruction(facts.program.items[item].text);
  if (!i.defs.empty() && i.defs[0].overlaps(from) && keeps_a_part(i, text, from)) return std::nullopt;
  size_t changed = 0;
  for (size_t o = i.explicit_defs; o < text.operands.size(); ++o) {
    const auto range = operand_registers(text.operands[o]);
    if (!range || !range->overlaps(from)) continue;
    if (*range != from) return std::nullopt;
    const size_t at = text.operands[o].find(register_text(from));
    text.operands[o].replace(at, register_text(from).size(), scalar);
    ++changed;
    const bool second = o + 1 == text.operands.size() && text.operands.size() > 2;
    if (second && text.mnemonic.ends_with("_e32")) text.mnemonic.replace(text.mnemonic.size() - 4, 4, "_e64");
  }
  const auto read = size_t(std::ranges::count_if(i.uses, [&](const auto& use) { return use.overlaps(from); }));
  return changed > 0 && changed == read ? std::optional(write_instruction(text)) : std::nullopt;
}

class Rewriting {
public:
  Rewriting(const Facts& facts, std::vector<Scalarised> nodes) : facts_(facts), nodes_(std::move(nodes)) {
    for (size_t n = 0; n < nodes_.size(); ++n) nodes_[n].component = n;
    for (size_t n = 0; n < nodes_.size(); ++n)
      for (const Source& source : nodes_[n].sources)
        if (source.node) join(nodes_[*source.node].component, nodes_[n].component);
  }

  /// The edits of every component that is worth it; how many instructions became scalar.
  size_t run(Idea& idea) {
    size_t count = 0;
    for (size_t c = 0; c < nodes_.size(); ++c) {
      if (nodes_[c].component != c) continue;
      std::vector<size_t> members;
      for (size_t n = 0; n < nodes_.size(); ++n)
        if (nodes_[n].component == c) members.push_back(n);
      if (carry_out(members)) count += members.size();
    }
    for (auto& [item, text] : edits_) idea.edits.push_back({item, item + 1, text});
    return count;
  }

private:
  void join(size_t a, size_t b) {
    for (Scalarised& node : nodes_)
      if (node.component == b) node.component = a;
  }

  bool carry_out(const std::vector<size_t>& members) {
    std::map<size_t, std::string> edits, first_lane; // by item; by definition in the vector unit
    double gain = 0;
    std::map<size_t, std::string> scalar;
    const std::vector<isa::RegisterRange> registers = unused_sgprs(facts_, taken_ + 3 * members.size());
    size_t next = taken_;
    const auto fresh = [&] { return next < registers.size() ? register_text(registers[next++]) : std::string(); };
    for (const size_t n : members) {
      const Scalarised& node = nodes_[n];
      std::string text;
      std::array<std::string, 2> operands;
      for (size_t k = 0; k < 2; ++k) {
        const Source& source = node.sources[k];
        operands[k] = source.node ? scalar[*source.node] : source.text;
        if (!source.item) continue;
        std::string& copy = first_lane[*source.item];
        if (copy.empty()) {
          if ((copy = fresh()).empty()) return false;
          text += fmt::format("v_readfirstlane_b32 {}, {}\n", copy,
                              register_text(facts_.instruction(*source.item).defs[0]));
          gain -= move_clocks;
        }
        operands[k] = copy;
      }
      if ((scalar[n] = fresh()).empty()) return false;
      if (node.form->turned) std::swap(operands[0], operands[1]);
      text += fmt::format("{} {}, {}, {}\n", node.form->scalar, scalar[n], operands[0], operands[1]);
      gain += node.form->clocks;
      if (!read_as_scalar(node, scalar[n], members, edits)) {
        text += fmt::format("v_mov_b32_e32 {}, {}\n", register_text({isa::File::vgpr, node.vgpr, 1}), scalar[n]);
        gain -= move_clocks;
      }
      edits[node.item] = text;
    }
    if (gain < least_gain) return false;
    taken_ = next;
    edits_.merge(edits);
    return true;
  }

  /// Whether every reader of a node's result can read the scalar register; their edits.
  bool read_as_scalar(const Scalarised& node, const std::string& scalar, const std::vector<size_t>& members,
                      std::map<size_t, std::string>& edits) const {
    if (node.is_wanted_behind) return false;
    std::map<size_t, std::string> found;
    const isa::RegisterRange range{isa::File::vgpr, node.vgpr, 1};
    for (size_t item = node.item + 1; item < facts_.function.last && item <= node.end; ++item) {
      if (!facts_.is_instruction(item) || !reads(facts_.instruction(item), range)) continue;
      const bool member = std::ranges::any_of(members, [&](size_t n) { return nodes_[n].item == item; });
      if (member) continue;
      const auto text = reading_scalar(facts_, item, node.vgpr, scalar);
      if (!text || edits.contains(item) || edits_.contains(item)) return false;
      found[item] = *text + "\n";
    }
    edits.merge(found);
    return true;
  }

  const Facts& facts_;
  std::vector<Scalarised> nodes_;
  std::map<size_t, std::string> edits_; // by item
  size_t taken_ = 0;                    // scalar registers
};

} // namespace

std::vector<Idea> scalar_arithmetic(const Facts& facts) {
  std::vector<Idea> ideas;
  for (const analysis::Block& block : facts.graph.blocks) {
    Idea idea;
    const size_t count = Rewriting(facts, Uniform(facts, block).find()).run(idea);
    if (count == 0) continue;
    idea.rationale = fmt::format("{} vector instructions that give the same in every lane, by the scalar unit", count);
    idea.promise = facts.heat_of(block.first, block.last);
    ideas.push_back(std::move(idea));
  }
  return ideas;
}

} // namespace asmevo::search::rewrite
