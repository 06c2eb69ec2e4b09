#include "search/merge.h"

#include "analysis/liveness.h"
#include "analysis/repair.h"
#include "gate/original.h"
#include "search/alignment.h"

#include <algorithm>
#include <map>
#include <set>

namespace asmevo::search {
namespace {

/// A program with what is asked of it here.
struct Side {
  const recover::Program* program = nullptr;
  const recover::Function* function = nullptr;
  std::vector<Line> lines;
  analysis::Liveness liveness;

  const recover::Item& item(size_t line) const { return program->items[lines[line].item]; }
  const analysis::RegisterSet& live_after(size_t item) const { return liveness.after[item - function->first]; }
  const analysis::RegisterSet& live_at_entry() const { return liveness.before.front(); }
  analysis::RegisterSet written(size_t first, size_t last) const { // by lines
    analysis::RegisterSet set;
    for (size_t line = first; line < last; ++line)
      if (item(line).kind == recover::ItemKind::instruction)
        set |= liveness.registers.set_of(item(line).instruction.defs);
    return set;
  }
};

std::expected<Side, std::string> side_of(const recover::Program& program, const std::string& kernel) {
  const auto function = gate::function_of(program, kernel);
  if (!function) return std::unexpected(function.error().message);
  if ((*function)->first == (*function)->last) return std::unexpected("the kernel is empty");
  const analysis::Graph graph = analysis::control_flow(program, **function);
  return Side{&program, *function, lines_of(program, **function), analysis::liveness(program, **function, graph)};
}

bool same_change(const Change& a, const Side& first, const Change& b, const Side& second) {
  if (a.first[0] != b.first[0] || a.last[0] != b.last[0] || a.last[1] - a.first[1] != b.last[1] - b.first[1])
    return false;
  for (size_t k = 0; k < a.last[1] - a.first[1]; ++k)
    if (first.lines[a.first[1] + k].key != second.lines[b.first[1] + k].key) return false;
  return true;
}

/// One change of the second version, as an edit of the first.
struct Moved {
  Change change;
  recover::Edit edit;
};

class Merger {
public:
  Merger(const Side& base, const Side& onto, const Side& other, Alignment to_onto, Alignment to_other)
      : base_(base), onto_(onto), other_(other), to_onto_(std::move(to_onto)), to_other_(std::move(to_other)) {}

  std::expected<std::vector<Moved>, std::string> run() {
    name_labels();
    std::vector<Moved> moved;
    for (const Change& change : to_other_.changes) {
      const bool there = std::ranges::any_of(
          to_onto_.changes, [&](const Change& known) { return same_change(known, onto_, change, other_); });
      if (there) continue;
      const auto place = place_of(change);
      if (!place)
        return std::unexpected(fmt::format("both change items [{}, {}) of their ancestor", item_at(change.first[0]),
                                           item_at(change.last[0])));
      auto text = text_of(change);
      if (!text) return std::unexpected(text.error());
      moved.push_back({change, {place->first, place->second, *std::move(text)}});
    }
    return moved;
  }

private:
  size_t item_at(size_t line) const {
    return line < base_.lines.size() ? base_.lines[line].item : base_.function->last;
  }

  /// Items of `onto` that are still what the change replaces, with nothing new among or beside them.
  std::optional<std::pair<size_t, size_t>> place_of(const Change& change) const {
    const size_t first = change.first[0], last = change.last[0];
    const auto line_of = [&](size_t line) -> std::optional<size_t> {
      return line == base_.lines.size() ? onto_.lines.size() : to_onto_.to[line];
    };
    const std::optional<size_t> before = first == 0 ? std::optional<size_t>(0) : to_onto_.to[first - 1];
    const std::optional<size_t> end = line_of(last);
    const size_t begin = first == 0 ? 0 : before.value_or(0) + 1;
    if (!before || !end || *end - begin != last - first) return std::nullopt;
    for (size_t line = first; line < last; ++line)
      if (to_onto_.to[line] != begin + (line - first)) return std::nullopt;
    const size_t next = *end < onto_.lines.size() ? onto_.lines[*end].item : onto_.function->last;
    if (first == last) return std::pair(next, next);
    return std::pair(onto_.lines[begin].item, onto_.lines[*end - 1].item + 1);
  }

  void name_labels() {
    std::set<std::string> taken;
    for (const recover::Item& item : onto_.program->items)
      if (item.kind == recover::ItemKind::label) taken.insert(item.text);
    for (size_t line = 0; line < base_.lines.size(); ++line)
      if (const auto a = to_other_.to[line], b = to_onto_.to[line];
          a && b && base_.item(line).kind == recover::ItemKind::label)
        names_[other_.item(*a).text] = onto_.item(*b).text;
    size_t number = 0;
    for (const Change& change : to_other_.changes)
      for (size_t line = change.first[1]; line < change.last[1]; ++line) {
        if (other_.item(line).kind != recover::ItemKind::label) continue;
        std::string name;
        do name = fmt::format(".Lmerged{}", number++);
        while (taken.contains(name));
        names_[other_.item(line).text] = name;
      }
  }

  std::expected<std::string, std::string> text_of(const Change& change) const {
    std::string text;
    for (size_t line = change.first[1]; line < change.last[1]; ++line) {
      recover::Item item = other_.item(line);
      std::string& named = item.kind == recover::ItemKind::label ? item.text : item.target;
      if (!named.empty()) {
        const auto name = names_.find(named);
        if (name == names_.end()) return std::unexpected(fmt::format("{} is a label that the other has not", named));
        if (item.kind != recover::ItemKind::label)
          if (const size_t at = item.text.find(named); at != item.text.npos)
            item.text.replace(at, named.size(), name->second);
        named = name->second;
      }
      text += analysis::item_text(item) + "\n";
    }
    return text;
  }

  const Side &base_, &onto_, &other_;
  Alignment to_onto_, to_other_;
  std::map<std::string, std::string> names_; // of labels: what the second calls them, what they are called in the first
};

std::string register_text(const analysis::RegisterSet& set) {
  for (size_t bit = 0; bit < analysis::register_bits; ++bit)
    if (set[bit])
      return bit < analysis::vgpr_unit   ? fmt::format("s{}", bit)
             : bit < analysis::agpr_unit ? fmt::format("v{}", bit - analysis::vgpr_unit)
             : bit < analysis::scc_unit  ? fmt::format("a{}", bit - analysis::agpr_unit)
             : bit == analysis::scc_unit ? "scc"
                                         : "mode";
  return {};
}

/// Where an item of `onto` stands once the edits are made, each line of which is an item.
size_t after_edits(size_t item, const std::vector<Moved>& moved) {
  size_t at = item;
  for (const Moved& one : moved)
    if (one.edit.first <= item) at = at + (one.change.last[1] - one.change.first[1]) - (one.edit.last - one.edit.first);
  return at;
}

/// A register that one version newly writes and that holds something of the other's there; empty where there is none.
std::string clash(const Side& merged, const Side& base, const Side& onto, const Side& other,
                  const std::vector<Change>& onto_changes, const std::vector<Moved>& moved) {
  const auto found = [&](const Side& from, const Change& change, size_t last_item, size_t merged_item) {
    const analysis::RegisterSet fresh =
        from.written(change.first[1], change.last[1]) & ~base.written(change.first[0], change.last[0]);
    return register_text(merged.live_after(merged_item) & fresh & ~from.live_after(last_item));
  };
  for (const Moved& one : moved) {
    const size_t count = one.change.last[1] - one.change.first[1];
    if (count == 0) continue;
    const size_t first = after_edits(one.edit.first, moved) + (one.edit.last - one.edit.first) - count;
    if (std::string name = found(other, one.change, other.lines[one.change.last[1] - 1].item, first + count - 1);
        !name.empty())
      return name;
  }
  for (const Change& change : onto_changes) {
    if (change.first[1] == change.last[1]) continue;
    const size_t item = onto.lines[change.last[1] - 1].item;
    if (std::string name = found(onto, change, item, after_edits(item, moved)); !name.empty()) return name;
  }
  return register_text(merged.live_at_entry() & ~(onto.live_at_entry() | other.live_at_entry()));
}

} // namespace

std::expected<std::vector<recover::Edit>, std::string> merge(const recover::Program& base, const recover::Program& onto,
                                                             const recover::Program& other, const std::string& kernel,
                                                             const isa::Codec& codec) {
  std::array<Side, 3> sides;
  for (size_t k = 0; const recover::Program* program : {&base, &onto, &other}) {
    auto side = side_of(*program, kernel);
    if (!side) return std::unexpected(side.error());
    sides[k++] = *std::move(side);
  }
  auto to_onto = align(sides[0].lines, sides[1].lines), to_other = align(sides[0].lines, sides[2].lines);
  if (!to_onto || !to_other) return std::unexpected("they differ too much from their ancestor");
  const std::vector<Change> onto_changes = to_onto->changes;
  auto moved = Merger(sides[0], sides[1], sides[2], *std::move(to_onto), *std::move(to_other)).run();
  if (!moved) return std::unexpected(moved.error());
  std::vector<recover::Edit> edits;
  for (const Moved& one : *moved) edits.push_back(one.edit);
  if (edits.empty()) return edits;
  const auto merged = recover::apply(onto, edits, codec);
  if (!merged) return std::unexpected(fmt::format("the merged code does not assemble: {}", merged.error().message));
  size_t items = onto.items.size();
  for (const Moved& one : *moved)
    items = items + (one.change.last[1] - one.change.first[1]) - (one.edit.last - one.edit.first);
  if (merged->items.size() != items) return std::unexpected("the merged code has other lines than were put together");
  auto side = side_of(*merged, kernel);
  if (!side) return std::unexpected(side.error());
  if (std::string name = clash(*side, sides[0], sides[1], sides[2], onto_changes, *moved); !name.empty())
    return std::unexpected(fmt::format("both need {} where the other uses it", name));
  return edits;
}

} // namespace asmevo::search
