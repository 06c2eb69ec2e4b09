// The edits that lead from one program to another.
//
// Items that both have (same original address and text, or the same label) in the same order are anchors; a longest
// increasing run of them stays, and what lies between two anchors is one edit. That keeps proposals local however many
// steps it took to make the second program.
#include "analysis/repair.h"
#include "search/drivers/rewrite/rule.h"

#include <algorithm>
#include <unordered_map>

namespace asmevo::search::rewrite {

namespace {

std::string anchor_key(const recover::Item& item) {
  return item.kind == recover::ItemKind::label ? ":" + item.text : fmt::format("{}:{}", item.origin, item.text);
}

struct Anchor {
  size_t before, after;
};

/// Pairs in increasing order of both indices; the longest such sequence (patience sorting over `before`).
std::vector<Anchor> anchors_of(const recover::Program& before, const recover::Program& after) {
  std::unordered_map<std::string, size_t> index;
  for (size_t i = 0; i < before.items.size(); ++i)
    if (before.items[i].origin >= 0 || before.items[i].kind == recover::ItemKind::label)
      index[anchor_key(before.items[i])] = i;

  std::vector<Anchor> pairs;
  for (size_t i = 0; i < after.items.size(); ++i)
    if (auto at = index.find(anchor_key(after.items[i])); at != index.end()) pairs.push_back({at->second, i});

  std::vector<size_t> tails;                     // index into pairs of the smallest end of a run of each length
  std::vector<size_t> previous(pairs.size(), 0); // index + 1 of the one before in its run
  for (size_t p = 0; p < pairs.size(); ++p) {
    auto at = std::ranges::lower_bound(tails, pairs[p].before, {}, [&](size_t t) { return pairs[t].before; });
    if (at != tails.begin()) previous[p] = *(at - 1) + 1;
    if (at == tails.end())
      tails.push_back(p);
    else
      *at = p;
  }
  std::vector<Anchor> run;
  for (size_t p = tails.empty() ? 0 : tails.back() + 1; p != 0; p = previous[p - 1]) run.push_back(pairs[p - 1]);
  std::ranges::reverse(run);
  return run;
}

/// The edit between two anchors, without what both sides begin and end with: a wait that was put back as it was.
std::optional<recover::Edit> edit_between(const recover::Program& before, size_t b, size_t b_end,
                                          const recover::Program& after, size_t a, size_t a_end) {
  auto same = [&](size_t i, size_t j) {
    return before.items[i].kind == after.items[j].kind && before.items[i].text == after.items[j].text;
  };
  while (b < b_end && a < a_end && same(b, a)) ++b, ++a;
  while (b < b_end && a < a_end && same(b_end - 1, a_end - 1)) --b_end, --a_end;
  if (b == b_end && a == a_end) return std::nullopt;
  recover::Edit edit{b, b_end, ""};
  for (size_t i = a; i < a_end; ++i) edit.text += analysis::item_text(after.items[i]) + "\n";
  return edit;
}

} // namespace

std::vector<recover::Edit> difference(const recover::Program& before, const recover::Program& after) {
  std::vector<Anchor> anchors = anchors_of(before, after);
  anchors.push_back({before.items.size(), after.items.size()});
  std::vector<recover::Edit> edits;
  size_t b = 0, a = 0;
  for (const Anchor& anchor : anchors) {
    if (auto edit = edit_between(before, b, anchor.before, after, a, anchor.after)) edits.push_back(std::move(*edit));
    b = anchor.before + 1;
    a = anchor.after + 1;
  }
  return edits;
}

} // namespace asmevo::search::rewrite
