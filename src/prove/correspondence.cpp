#include "prove/correspondence.h"

#include <algorithm>

namespace asmevo::prove {
namespace {

using recover::Item;
using recover::ItemKind;
using recover::Program;

struct Pair {
  size_t item[2];
};

std::vector<size_t> labels_of(const Program& program, const recover::Function& function) {
  std::vector<size_t> labels;
  for (size_t i = function.first; i < function.last; ++i)
    if (program.items[i].kind == ItemKind::label) labels.push_back(i);
  return labels;
}

Correspondence from_pairs(const Program& a, const recover::Function& f, const Program& b, const recover::Function& g,
                          const std::vector<Pair>& pairs) {
  Correspondence result;
  Region region{{f.first, g.first}, {0, 0}};
  for (const Pair& pair : pairs) {
    const auto number = static_cast<uint32_t>(result.number[0].size());
    result.number[0][a.items[pair.item[0]].text] = number;
    result.number[1][b.items[pair.item[1]].text] = number;
    for (size_t side = 0; side < 2; ++side) region.last[side] = pair.item[side];
    if (region.first[0] != region.last[0] || region.first[1] != region.last[1]) result.regions.push_back(region);
    for (size_t side = 0; side < 2; ++side) region.first[side] = pair.item[side];
  }
  region.last[0] = f.last;
  region.last[1] = g.last;
  result.regions.push_back(region);
  return result;
}

/// The target of a branch or reference, in words that both programs share; nothing where it has no counterpart.
std::optional<std::string> meaning_of(const std::string& target, const Correspondence& c, size_t side) {
  if (const auto found = c.number[side].find(target); found != c.number[side].end())
    return fmt::format("#{}", found->second);
  return target;
}

bool same_instruction(const Item& a, const Item& b, const Correspondence& c) {
  const isa::Instruction &x = a.instruction, &y = b.instruction;
  if (x.mnemonic != y.mnemonic || x.encoding != y.encoding || x.suffix != y.suffix || x.size != y.size) return false;
  if (a.target.empty() != b.target.empty()) return false;
  if (a.target.empty()) return x.words == y.words;
  if (meaning_of(a.target, c, 0) != meaning_of(b.target, c, 1)) return false;
  const auto without = [](const Item& item) {
    std::string text = item.text;
    if (const size_t at = text.find(item.target); at != std::string::npos) text.erase(at, item.target.size());
    return text;
  };
  return x.defs == y.defs && x.uses == y.uses && without(a) == without(b);
}

bool same_item(const Item& a, const Item& b, const Correspondence& c) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
  case ItemKind::instruction:
    return same_instruction(a, b, c);
  case ItemKind::label:
    return meaning_of(a.text, c, 0) == meaning_of(b.text, c, 1);
  default:
    return a.text == b.text;
  }
}

} // namespace

std::vector<Correspondence> correspondences(const Program& a, const recover::Function& f, const Program& b,
                                            const recover::Function& g) {
  const std::vector<size_t> first = labels_of(a, f), second = labels_of(b, g);
  std::vector<Correspondence> result;
  std::unordered_map<std::string_view, size_t> place;
  for (size_t k = 0; k < second.size(); ++k) place[b.items[second[k]].text] = k;
  std::vector<Pair> by_name;
  size_t after = 0;
  for (size_t label : first) {
    const auto found = place.find(a.items[label].text);
    if (found == place.end() || found->second < after) continue;
    by_name.push_back({{label, second[found->second]}});
    after = found->second + 1;
  }
  // Names that a recoverer made of addresses say little; where there are as many labels, the order says more.
  if (first.size() == second.size()) {
    std::vector<Pair> by_order;
    for (size_t k = 0; k < first.size(); ++k) by_order.push_back({{first[k], second[k]}});
    result.push_back(from_pairs(a, f, b, g, by_order));
    if (by_name.size() == first.size()) return result;
  }
  result.push_back(from_pairs(a, f, b, g, by_name));
  return result;
}

bool same_items(const Program& a, const Program& b, const Region& region, const Correspondence& c) {
  const size_t count = region.last[0] - region.first[0];
  if (region.last[1] - region.first[1] != count) return false;
  for (size_t k = 0; k < count; ++k)
    if (!same_item(a.items[region.first[0] + k], b.items[region.first[1] + k], c)) return false;
  return true;
}

Region differing_part(const Program& a, const Program& b, const Region& region, const Correspondence& c) {
  Region part = region;
  const auto both = [&] { return part.first[0] < part.last[0] && part.first[1] < part.last[1]; };
  while (both() && same_item(a.items[part.first[0]], b.items[part.first[1]], c)) ++part.first[0], ++part.first[1];
  while (both() && same_item(a.items[part.last[0] - 1], b.items[part.last[1] - 1], c)) --part.last[0], --part.last[1];
  return part;
}

} // namespace asmevo::prove
