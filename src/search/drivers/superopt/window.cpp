#include "search/drivers/superopt/window.h"

#include "search/drivers/rewrite/local.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

namespace asmevo::search::superopt {
namespace {

using analysis::RegisterSet;
using isa::File;
using isa::RegisterRange;
using rewrite::Facts;

constexpr size_t nowhere = ~size_t{0};
constexpr RegisterRange scc{File::scc, 0, 1};

/// An operand: registers or a number.
struct Source {
  std::optional<RegisterRange> range;
  uint32_t constant = 0;
};

/// An instruction of the block, taken apart; `opcode` is null where it cannot be in a window.
struct Line {
  const Opcode* opcode = nullptr;
  std::vector<Source> sources;
  std::optional<RegisterRange> result, second;
};

std::optional<uint32_t> number_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return negative ? 0 - value : value;
}

/// Registers that a window may name: no EXEC, M0 and the like.
bool is_plain(const RegisterRange& range) {
  if (range.file == File::vgpr) return true;
  constexpr uint16_t last_sgpr = 101;
  return range.file == File::sgpr && (range.first + range.count - 1 <= last_sgpr ||
                                      (range.first >= isa::vcc_lo && range.first + range.count <= isa::vcc_hi + 1));
}

std::optional<Source> source_of(const std::string& text, Type type) {
  const bool dressed = text.starts_with('-') && text.size() > 1 && (text[1] < '0' || text[1] > '9');
  if (dressed || text.starts_with('|')) return std::nullopt;
  const auto range = rewrite::operand_registers(text);
  if (!range) {
    const auto number = number_of(text);
    if (!number || type == Type::bit) return std::nullopt;
    return Source{.range = std::nullopt, .constant = *number};
  }
  if (!is_plain(*range) || range->count != (type == Type::word ? 1 : 2)) return std::nullopt;
  return Source{.range = range};
}

Line taken_apart(const recover::Item& item, Opcodes& opcodes) {
  const isa::Instruction& i = item.instruction;
  if (item.raw || !item.target.empty() || i.suffix != isa::Suffix::none || i.traits.relative) return {};
  const Opcode* opcode = opcodes.of(i);
  if (!opcode) return {};
  const rewrite::InstructionText text = rewrite::parse_instruction(item.text);
  if (!text.modifiers.empty()) return {};
  Line line{.opcode = opcode};
  const bool vector = opcode->unit == Unit::vector;
  const bool immediate = i.encoding == isa::Encoding::sopk;
  size_t at = 0;
  const auto written = [&](Type type) -> std::optional<RegisterRange> {
    if (at >= text.operands.size()) return std::nullopt;
    const auto range = rewrite::operand_registers(text.operands[at++]);
    const bool fits = range && is_plain(*range) && range->count == (type == Type::word ? 1 : 2);
    return fits ? range : std::nullopt;
  };
  if (opcode->result != Type::none && !(line.result = written(opcode->result))) return {};
  if (vector && opcode->second != Type::none && !(line.second = written(opcode->second))) return {};
  if (!vector && opcode->second != Type::none) line.second = scc;
  uint8_t count = opcode->count - (opcode->reads_scc ? 1 : 0);
  uint8_t k = 0;
  if (immediate && isa::name_of(i) != "s_movk_i32") { // the destination is the first source
    if (!opcode->scalar || opcode->result == Type::none || !opcode->scalar->reads_destination) return {};
    line.sources.push_back({.range = line.result});
    k = 1;
  } else if (opcode->scalar && opcode->scalar->reads_destination) {
    return {};
  }
  for (; k < count; ++k) {
    if (at >= text.operands.size()) return {};
    const auto source = source_of(text.operands[at++], opcode->sources[k]);
    if (!source) return {};
    line.sources.push_back(*source);
    // An immediate is 16 bits, sign-extended.
    if (immediate && !source->range) line.sources.back().constant = uint32_t(int32_t(int16_t(source->constant)));
  }
  if (at != text.operands.size()) return {};
  if (opcode->reads_scc) line.sources.push_back({.range = scc});
  return line;
}

/// The block with who writes and reads what.
class Reader {
public:
  Reader(const Facts& facts, const analysis::Block& block, Opcodes& opcodes)
      : facts_(facts), block_(block), opcodes_(opcodes) {
    for (size_t item = block.first; item < block.last; ++item) {
      const bool here = facts.is_instruction(item);
      lines_.push_back(here ? taken_apart(facts.program.items[item], opcodes) : Line{});
      const isa::Instruction none;
      const isa::Instruction& i = here ? facts.instruction(item) : none;
      writes_.push_back(facts.liveness.registers.set_of(i.defs));
      reads_.push_back(facts.liveness.registers.set_of(i.uses));
    }
  }

  const Line& line(size_t item) const { return lines_[item - block_.first]; }
  const RegisterSet& writes(size_t item) const { return writes_[item - block_.first]; }
  const RegisterSet& reads(size_t item) const { return reads_[item - block_.first]; }

  /// The last item before `item` that writes the unit.
  size_t writer(size_t unit, size_t item) const {
    while (item-- > block_.first)
      if (writes(item).test(unit)) return item;
    return nowhere;
  }

  /// Whether any of `items` but `left_out` writes the unit, from `first` up to `last`.
  template <class LeftOut> bool written(size_t unit, size_t first, size_t last, LeftOut left_out) const {
    for (size_t item = first; item < last; ++item)
      if (writes(item).test(unit) && !left_out(item)) return true;
    return false;
  }

  /// Whether what `item` writes to the unit is read by anything but `left_out`, or may be behind the block.
  template <class LeftOut> bool wanted(size_t unit, size_t item, LeftOut left_out) const {
    for (size_t at = item + 1; at < block_.last; ++at) {
      if (reads(at).test(unit) && !left_out(at)) return true;
      // Under another EXEC a write leaves some lanes as they were.
      if (writes(at).test(unit) && (!analysis::is_vector_unit(unit) || !exec_changes(item, at))) return false;
    }
    return facts_.live_after(block_.last - 1).test(unit);
  }

  bool exec_changes(size_t first, size_t last) const {
    for (size_t item = first; item < last; ++item)
      if (writes(item).test(isa::exec_lo) || writes(item).test(isa::exec_hi)) return true;
    return false;
  }

  size_t unit_of(const RegisterRange& range, size_t k = 0) const {
    return facts_.liveness.registers.first_of(range) + k;
  }

  const Facts& facts_;
  const analysis::Block& block_;
  Opcodes& opcodes_;

private:
  std::vector<Line> lines_;
  std::vector<RegisterSet> writes_, reads_;
};

/// A window from the items that it is to have.
class Builder {
public:
  Builder(const Reader& reader, std::vector<size_t> items, std::optional<size_t> other_root)
      : reader_(reader), items_(std::move(items)) {
    window_.items = items_;
    window_.other_root = other_root;
    std::ranges::copy(items_, std::inserter(members_, members_.end()));
  }

  std::optional<Window> run() {
    window_.scalar = reader_.line(root()).opcode->unit == Unit::scalar;
    find_kept();
    for (size_t item : items_)
      if (!read_inputs(item)) return std::nullopt;
    if (window_.other_root) name_pairs();
    for (size_t item : items_)
      if (!add(item)) return std::nullopt;
    if (!finish() || !holds_at_root()) return std::nullopt;
    for (size_t item : items_)
      if (item != root() && removed(item)) window_.removed.push_back(item);
    return std::move(window_);
  }

private:
  struct Place {
    uint16_t value;
    enum Part : uint8_t { whole, low, high } part;
  };

  size_t root() const { return items_.back(); }
  bool is_root(size_t item) const { return item == root() || item == window_.other_root; }
  bool removed(size_t item) const { return members_.contains(item) && !kept_.contains(item); }

  /// Members whose results somebody else wants.
  void find_kept() {
    for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
      if (is_root(*item)) continue;
      bool wanted = false;
      for (size_t unit = 0; unit < analysis::register_bits; ++unit)
        if (reader_.writes(*item).test(unit))
          wanted |= reader_.wanted(unit, *item, [&](size_t at) { return removed(at); });
      if (wanted) kept_.insert(*item);
    }
  }

  bool inside(size_t unit, size_t item) const {
    const size_t writer = reader_.writer(unit, item);
    return writer != nowhere && members_.contains(writer);
  }

  /// Leaves come before all values: inputs and constants first.
  bool read_inputs(size_t item) {
    const Line& line = reader_.line(item);
    for (size_t k = 0; k < line.sources.size(); ++k) {
      const Source& source = line.sources[k];
      if (!source.range) {
        constant(source.constant);
        continue;
      }
      const Type type = line.opcode->sources[k];
      const size_t count = source.range->count;
      bool any = false, all = true;
      for (size_t n = 0; n < count; ++n) {
        const bool in = inside(reader_.unit_of(*source.range, n), item);
        any |= in;
        all &= in;
      }
      if (all) continue;
      if (type == Type::bit && any) return false;
      if (any || type == Type::word || known_word(*source.range)) { // word by word
        for (uint16_t n = 0; n < count; ++n) {
          const RegisterRange word{source.range->file, uint16_t(source.range->first + n), 1};
          if (inside(reader_.unit_of(word), item)) continue;
          if (type == Type::bit) return false;
          if (!input(word, Type::word, item)) return false;
        }
        continue;
      }
      if (!input(*source.range, type, item)) return false;
    }
    return true;
  }

  bool known_word(const RegisterRange& range) const {
    for (uint16_t n = 0; n < range.count; ++n) {
      const auto found = inputs_.find(reader_.unit_of(range, n));
      if (found != inputs_.end() && window_.sequence.leaves[found->second.value].type == Type::word) return true;
    }
    return false;
  }

  bool input(const RegisterRange& range, Type type, size_t item) {
    const size_t unit = reader_.unit_of(range);
    last_reads_.emplace_back(range, item);
    if (const auto found = inputs_.find(unit); found != inputs_.end()) {
      const Leaf& leaf = window_.sequence.leaves[found->second.value];
      return leaf.type == type || (type == Type::word && leaf.type == Type::wide);
    }
    if (inputs_count_ == most_inputs) return false;
    ++inputs_count_;
    const auto value = uint16_t(window_.sequence.leaves.size());
    const bool scalar = (range.file == File::sgpr && type != Type::bit) || range.file == File::scc;
    window_.sequence.leaves.push_back({.type = type, .scalar = scalar});
    window_.inputs.push_back(range);
    for (uint16_t n = 0; n < range.count; ++n)
      inputs_[reader_.unit_of(range, n)] = {value, range.count == 1 || type == Type::bit ? Place::whole
                                                   : n == 0                              ? Place::low
                                                                                         : Place::high};
    return true;
  }

  uint16_t constant(uint32_t value) {
    std::vector<Leaf>& leaves = window_.sequence.leaves;
    for (uint16_t k = 0; k < leaves.size(); ++k)
      if (leaves[k].constant && leaves[k].value == value) return k;
    leaves.push_back({.constant = true, .value = value});
    window_.inputs.push_back({});
    return uint16_t(leaves.size() - 1);
  }

  // ---- steps ----

  uint16_t naming(const Opcode* opcode, std::array<uint16_t, 4> sources) {
    Step step{.opcode = opcode, .sources = sources};
    std::vector<Step>& steps = window_.sequence.steps;
    const auto found = std::ranges::find(steps, step);
    if (found == steps.end()) {
      steps.push_back(step);
      return window_.sequence.value_of(steps.size() - 1);
    }
    return window_.sequence.value_of(size_t(found - steps.begin()));
  }

  /// Words that lie beside each other can be read as a pair.
  void name_pairs() {
    const std::vector<Leaf>& leaves = window_.sequence.leaves;
    for (uint16_t a = 0; a < leaves.size(); ++a)
      for (uint16_t b = 0; b < leaves.size(); ++b) {
        if (leaves[a].constant || leaves[b].constant || leaves[a].type != Type::word || leaves[b].type != Type::word)
          continue;
        const RegisterRange low = window_.inputs[a], high = window_.inputs[b];
        if (low.file == high.file && low.first + 1 == high.first && low.first % 2 == 0)
          naming(reader_.opcodes_.pair, {a, b});
      }
  }

  const Place* place(size_t unit, size_t item) const {
    const bool in = inside(unit, item);
    const auto& from = in ? made_ : inputs_;
    const auto found = from.find(unit);
    return found == from.end() ? nullptr : &found->second;
  }

  std::optional<uint16_t> word(size_t unit, size_t item) {
    const Place* at = place(unit, item);
    if (!at) return std::nullopt;
    if (at->part == Place::whole) {
      if (window_.sequence.type_of(at->value) != Type::word) return std::nullopt;
      return at->value;
    }
    return naming(at->part == Place::low ? reader_.opcodes_.low : reader_.opcodes_.high, {at->value});
  }

  std::optional<uint16_t> source(const Source& source, Type type, size_t item) {
    if (!source.range) return constant(source.constant);
    const size_t unit = reader_.unit_of(*source.range);
    if (type == Type::word) return word(unit, item);
    const Place* low = place(unit, item);
    if (!low) return std::nullopt;
    if (type == Type::bit) {
      const bool same = window_.sequence.type_of(low->value) == Type::bit && low->part == Place::whole;
      if (!same) return std::nullopt;
      if (source.range->count == 2) {
        const Place* high = place(unit + 1, item);
        if (!high || high->value != low->value) return std::nullopt;
      }
      return low->value;
    }
    const Place* high = place(unit + 1, item);
    if (!high) return std::nullopt;
    if (low->value == high->value && low->part == Place::low && high->part == Place::high) return low->value;
    const auto first = word(unit, item), second = word(unit + 1, item);
    if (!first || !second) return std::nullopt;
    return naming(reader_.opcodes_.pair, {*first, *second});
  }

  bool add(size_t item) {
    const Line& line = reader_.line(item);
    Step step{.opcode = line.opcode, .kept = kept_.contains(item)};
    for (size_t k = 0; k < line.sources.size(); ++k) {
      const auto value = source(line.sources[k], line.opcode->sources[k], item);
      if (!value) return false;
      step.sources[k] = *value;
    }
    window_.sequence.steps.push_back(step);
    const uint16_t value = window_.sequence.value_of(window_.sequence.steps.size() - 1);
    write(line.result, value, line.opcode->result);
    write(line.second, uint16_t(value + 1), Type::bit);
    return true;
  }

  void write(const std::optional<RegisterRange>& range, uint16_t value, Type type) {
    if (!range) return;
    for (uint16_t n = 0; n < range->count; ++n)
      made_[reader_.unit_of(*range, n)] = {value, type != Type::wide ? Place::whole
                                                  : n == 0           ? Place::low
                                                                     : Place::high};
  }

  /// What the window is for: the root's result, alone or with the word before it.
  bool finish() {
    const Line& line = reader_.line(root());
    if (!line.result) return false;
    const size_t unit = reader_.unit_of(*line.result);
    window_.output = *line.result;
    if (!window_.other_root) {
      window_.sequence.result = made_[unit].value;
      return window_.sequence.type_of(window_.sequence.result) != Type::bit;
    }
    const auto low = made_.find(unit - 1);
    if (low == made_.end() || low->second.part != Place::whole) return false;
    window_.output = {line.result->file, uint16_t(line.result->first - 1), 2};
    window_.sequence.result = naming(reader_.opcodes_.pair, {low->second.value, made_[unit].value});
    return true;
  }

  /// Everything that was read must still be there, and nobody may miss what the root does besides.
  bool holds_at_root() const {
    const auto stays = [&](size_t item) { return removed(item) || is_root(item); };
    for (const auto& [range, item] : last_reads_)
      for (uint16_t n = 0; n < range.count; ++n)
        if (reader_.written(reader_.unit_of(range, n), item, root(), stays)) return false;
    if (!window_.scalar && reader_.exec_changes(items_.front(), root())) return false;
    for (size_t item : items_)
      if (is_root(item) && !only_result_is_wanted(item)) return false;
    const bool flag_is_live = reader_.facts_.live_after(root()).test(analysis::scc_unit);
    return !window_.scalar || !flag_is_live;
  }

  bool only_result_is_wanted(size_t item) const {
    const auto nobody_else = [&](size_t at) { return removed(at) || is_root(at); };
    RegisterSet others = reader_.writes(item);
    const RegisterRange& out = window_.output;
    for (uint16_t n = 0; n < out.count; ++n) {
      const size_t unit = reader_.unit_of(out, n);
      if (!others.test(unit)) continue;
      others.reset(unit);
      // The lower word of a pair is written later than it was.
      for (size_t at = item + 1; at < root(); ++at)
        if ((reader_.reads(at).test(unit) || reader_.writes(at).test(unit)) && !nobody_else(at)) return false;
    }
    for (size_t unit = 0; unit < analysis::register_bits; ++unit)
      if (others.test(unit) && reader_.wanted(unit, item, nobody_else)) return false;
    return true;
  }

  const Reader& reader_;
  std::vector<size_t> items_;
  std::set<size_t> members_, kept_;
  Window window_;
  std::map<size_t, Place> inputs_, made_; // by unit
  std::vector<std::pair<RegisterRange, size_t>> last_reads_;
  size_t inputs_count_ = 0;
};

/// Sets of items that end in one root, grown by whoever writes what they read.
class Grower {
public:
  Grower(const Reader& reader, size_t root, std::optional<size_t> other) : reader_(reader), other_(other) {
    items_ = {root};
    if (other) items_.push_back(*other);
  }

  std::vector<Window> run() {
    grow({});
    std::ranges::stable_sort(windows_, std::ranges::greater(), [](const Window& w) { return w.items.size(); });
    return std::move(windows_);
  }

private:
  /// The writers of what the items read, the latest first.
  std::vector<size_t> producers() const {
    std::set<size_t, std::greater<>> found;
    for (size_t item : items_)
      for (const Source& source : reader_.line(item).sources)
        for (uint16_t n = 0; source.range && n < source.range->count; ++n) {
          const size_t writer = reader_.writer(reader_.unit_of(*source.range, n), item);
          if (writer == nowhere || std::ranges::find(items_, writer) != items_.end()) continue;
          if (reader_.line(writer).opcode) found.insert(writer);
        }
    return {found.begin(), found.end()};
  }

  void grow(std::set<size_t> refused) {
    if (windows_.size() >= most_windows_of_a_root || tries_ >= 8 * most_windows_of_a_root) return;
    std::optional<size_t> next;
    if (items_.size() < most_window_items)
      for (size_t producer : producers())
        if (!refused.contains(producer) && fits(producer)) {
          next = producer;
          break;
        }
    if (!next) return take();
    items_.push_back(*next);
    grow(refused);
    items_.pop_back();
    refused.insert(*next);
    grow(std::move(refused));
  }

  /// Scalar windows have scalar instructions alone.
  bool fits(size_t item) const {
    return reader_.line(items_[0]).opcode->unit == Unit::vector || reader_.line(item).opcode->unit == Unit::scalar;
  }

  void take() {
    ++tries_;
    std::vector<size_t> items = items_;
    std::ranges::sort(items);
    if (auto window = Builder(reader_, std::move(items), other_).run()) windows_.push_back(*std::move(window));
  }

  const Reader& reader_;
  std::optional<size_t> other_;
  std::vector<size_t> items_;
  std::vector<Window> windows_;
  size_t tries_ = 0;
};

/// Where the item adds a carry: the item that the carry and the lower word come from.
std::optional<size_t> lower_half(const Reader& reader, size_t item) {
  const Line& line = reader.line(item);
  if (line.opcode->name != "v_addc_co_u32" && line.opcode->name != "v_subb_co_u32") return std::nullopt;
  const std::optional<RegisterRange>& carry = line.sources[2].range;
  if (!carry || line.result->first % 2 != 1) return std::nullopt;
  const size_t writer = reader.writer(reader.unit_of(*carry), item);
  if (writer == nowhere || !reader.line(writer).opcode || !reader.line(writer).second) return std::nullopt;
  const Line& low = reader.line(writer);
  if (low.opcode->unit != Unit::vector || low.opcode->result != Type::word || *low.second != *carry)
    return std::nullopt;
  if (low.result->file != line.result->file || low.result->first + 1 != line.result->first) return std::nullopt;
  return writer;
}

} // namespace

std::vector<std::vector<Window>> windows_of(const Facts& facts, const analysis::Block& block, Opcodes& opcodes) {
  const Reader reader(facts, block, opcodes);
  std::vector<std::vector<Window>> roots;
  for (size_t item = block.first; item < block.last; ++item) {
    const Line& line = reader.line(item);
    if (!line.opcode || !line.result || line.opcode->result == Type::bit) continue;
    std::vector<Window> windows = Grower(reader, item, std::nullopt).run();
    if (const auto low = lower_half(reader, item))
      std::ranges::move(Grower(reader, item, low).run(), std::back_inserter(windows));
    if (!windows.empty()) roots.push_back(std::move(windows));
  }
  return roots;
}

// ---- text ----

namespace {

std::string constant_text(uint32_t value) {
  const auto number = int32_t(value);
  return number >= -16 && number <= 64 ? fmt::format("{}", number) : fmt::format("{:#x}", value);
}

/// Registers for values that are made on the way.
class Allocation {
public:
  Allocation(const Facts& facts, const Window& window) : busy_(facts.live_after(window.root())) {
    for (size_t k = 0; k < window.inputs.size(); ++k)
      if (!window.sequence.leaves[k].constant) busy_ |= facts.liveness.registers.set_of({{window.inputs[k]}});
    vgprs_ = facts.vgpr_budget;
    // Scalar registers are taken from those that the window itself wrote: there always are enough of them.
    for (size_t item : window.items)
      for (const RegisterRange& range : facts.instruction(item).defs)
        for (uint16_t n = 0; range.file == File::sgpr && n < range.count; ++n)
          if (range.first + n < isa::flat_scratch_lo) sgprs_.push_back(uint16_t(range.first + n));
  }

  std::optional<RegisterRange> take(File file, uint16_t count) {
    if (file == File::vgpr) {
      for (uint16_t first = 0; first + count <= vgprs_; first += count)
        if (const RegisterRange range{file, first, count}; is_free(range)) return taken(range);
      return std::nullopt;
    }
    for (uint16_t first : sgprs_)
      if (const RegisterRange range{file, first, count}; count == 1 && is_free(range)) return taken(range);
    return std::nullopt;
  }

  /// The result's own registers may hold what comes before it, unless something still reads what is in them.
  bool is_free(const RegisterRange& range) const {
    for (uint16_t n = 0; n < range.count; ++n)
      if (busy_.test(analysis::bit_of(range.file, uint16_t(range.first + n)))) return false;
    return true;
  }
  RegisterRange taken(const RegisterRange& range) {
    for (uint16_t n = 0; n < range.count; ++n) busy_.set(analysis::bit_of(range.file, uint16_t(range.first + n)));
    return range;
  }

private:
  RegisterSet busy_;
  uint32_t vgprs_ = 0;
  std::vector<uint16_t> sgprs_;
};

/// The registers of a part of a pair, or of two words as one. Nothing where they do not lie so.
std::optional<RegisterRange> named(std::string_view naming, const RegisterRange& first, const RegisterRange& second) {
  if (naming == "low") return RegisterRange{first.file, first.first, 1};
  if (naming == "high") return RegisterRange{first.file, uint16_t(first.first + 1), 1};
  if (first.file != second.file || first.first + 1 != second.first || first.first % 2 != 0) return std::nullopt;
  return RegisterRange{first.file, first.first, 2};
}

/// Sources in the order in which the short form can have them.
void arrange(const Opcode& opcode, std::vector<std::string>& sources) {
  const auto is_vgpr = [](const std::string& text) { return text.starts_with('v') && !text.starts_with("vcc"); };
  if (opcode.unit == Unit::vector && opcode.commutes && opcode.short_form && is_vgpr(sources[0]) &&
      !is_vgpr(sources[1]))
    std::swap(sources[0], sources[1]);
}

} // namespace

std::optional<std::string> text_of(const Facts& facts, const Window& window, const Sequence& replacement,
                                   std::vector<RegisterRange>& overwritten) {
  Allocation registers(facts, window);
  std::vector<std::optional<RegisterRange>> places(replacement.leaves.size() + 2 * replacement.steps.size());
  for (size_t k = 0; k < window.inputs.size(); ++k)
    if (!window.sequence.leaves[k].constant) places[k] = window.inputs[k];
  std::string text;
  for (size_t k = 0; k < replacement.steps.size(); ++k) {
    const Step& step = replacement.steps[k];
    const uint16_t value = replacement.value_of(k);
    if (step.opcode->unit == Unit::naming) {
      const auto first = places[step.sources[0]];
      const auto second = step.opcode->count == 2 ? places[step.sources[1]] : first;
      if (!first || !second || !(places[value] = named(step.opcode->name, *first, *second))) return std::nullopt;
      continue;
    }
    std::vector<std::string> sources;
    for (uint8_t s = 0; s < step.opcode->count; ++s) {
      const uint16_t source = step.sources[s];
      // A constant that was left open in the replacement is the window's own.
      if (replacement.is_leaf(source) && replacement.leaves[source].constant)
        sources.push_back(constant_text(source < window.sequence.leaves.size() ? window.sequence.leaves[source].value
                                                                               : replacement.leaves[source].value));
      else if (places[source])
        sources.push_back(rewrite::register_text(*places[source]));
      else
        return std::nullopt;
    }
    arrange(*step.opcode, sources);
    const bool last = value == replacement.result;
    const auto to = last ? std::optional(window.output)
                         : registers.take(window.output.file, step.opcode->result == Type::wide ? 2 : 1);
    if (!to) return std::nullopt;
    if (!last) overwritten.push_back(*to);
    places[value] = to;
    text += fmt::format("{} {}", step.opcode->name, rewrite::register_text(*to));
    for (const std::string& source : sources) text += ", " + source;
    text += '\n';
  }
  const bool assembles = !text.empty() && facts.codec.assemble(text).has_value();
  return assembles ? std::optional(text) : std::nullopt;
}

} // namespace asmevo::search::superopt
