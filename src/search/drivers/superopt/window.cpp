#include "search/drivers/superopt/window.h"

#include "search/drivers/superopt/lines.h"

#include <algorithm>
#include <set>

namespace asmevo::search::superopt {
namespace {

using analysis::RegisterSet;
using isa::File;
using isa::RegisterRange;
using rewrite::Facts;

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
  std::vector<std::vector<Window>> roots;
  for (size_t item = block.first; item < block.last; ++item) // registers are not those that are named
    if (facts.is_instruction(item) && isa::name_of(facts.instruction(item)).starts_with("s_set_gpr_idx")) return roots;
  const Reader reader(facts, block, opcodes);
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

} // namespace asmevo::search::superopt
