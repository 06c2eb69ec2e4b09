// The part of the controller that merges branches (merge.h): between rounds, what another branch has won is tried on
// the best version. The result must be faster than both, by the same rule as every candidate.
#include "search/controller.h"

#include "search/merge.h"

#include <algorithm>

namespace asmevo::search {
namespace {

constexpr int64_t composition_streams = int64_t{1} << 62; // apart from those of workers

std::vector<int64_t> ancestors_of(const std::vector<Version>& versions, int64_t version) {
  std::vector<int64_t> line;
  for (; version >= 0; version = versions[size_t(version)].parent) line.push_back(version);
  return line;
}

} // namespace

/// The newest version of another branch that was not tried on the best one yet; of a line only its end.
std::optional<int64_t> Controller::next_to_merge(int64_t onto) {
  const std::vector<int64_t> line = ancestors_of(versions_, onto);
  for (auto version = versions_.rbegin(); version != versions_.rend(); ++version) {
    const int64_t id = version->id;
    if (std::ranges::find(line, id) != line.end() || versions_[size_t(onto)].other_parent == id) continue;
    const bool continued = std::ranges::any_of(versions_, [&](const Version& v) { return v.parent == id; });
    const std::vector<int64_t> own = ancestors_of(versions_, id);
    if (continued || std::ranges::find(own, onto) != own.end()) continue;
    if (tried_.insert({onto, id}).second) return id;
  }
  return std::nullopt;
}

Result<bool> Controller::compose() {
  for (int k = 0; k < most_compositions; ++k) {
    if (stopped()) return end(Ending::interrupted);
    if (!replaying() && spent()) return end(Ending::budget_spent);
    const int64_t onto = best_version();
    const std::optional<int64_t> other = next_to_merge(onto);
    if (!other) return true;
    AE_TRY(const bool more, compose(onto, *other));
    if (!more) return false;
  }
  return true;
}

Result<bool> Controller::compose(int64_t onto, int64_t other) {
  const std::vector<int64_t> line = ancestors_of(versions_, onto), others = ancestors_of(versions_, other);
  const int64_t base = *std::ranges::find_first_of(line, others);
  AE_TRY(const auto base_at, standpoints_.at(versions_[size_t(base)]));
  AE_TRY(const auto onto_at, standpoints_.at(versions_[size_t(onto)]));
  AE_TRY(const auto other_at, standpoints_.at(versions_[size_t(other)]));
  auto edits = merge(base_at->program, onto_at->program, other_at->program, bench_.original->kernel, *bench_.codec);
  if (!edits || edits->empty()) {
    decide({.kind = DecisionKind::conflict,
            .version = other,
            .reason = fmt::format("not merged into version {}: {}", onto,
                                  edits ? "that has all of its changes" : edits.error())});
    leave_branch(other);
    return true;
  }
  Trial trial{.stream = composition_streams | int64_t(attempts_.size() + 1),
              .parent = onto,
              .proposal = {.edits = *std::move(edits),
                           .rule = "merge",
                           .rationale = fmt::format("what version {} changed since version {}", other, base),
                           .auto_waits = true},
              .at = onto_at,
              .other_parent = other,
              .needed = std::max(versions_[size_t(onto)].speedup, versions_[size_t(other)].speedup)};
  if (replaying()) {
    const Attempt& recorded = recorded_[attempts_.size()];
    if (recorded.other_parent != other || recorded.parent != onto) {
      driver_changed_ = true;
      return true;
    }
    absorb(recorded);
  } else {
    AE_TRY(const bool judged, judge(trial));
    if (!judged) return end(Ending::interrupted);
    if (show_) show_(snapshot(&attempts_.back()));
  }
  if (!attempts_.back().version) {
    leave_branch(other);
    return true;
  }
  for (size_t w = 0; w < workers_.size(); ++w)
    if (plan_.version_of(w) == onto || plan_.version_of(w) == other) plan_.move(w, *attempts_.back().version);
  return true;
}

/// What a branch won is in the best version already, or is of no use there: those who follow it go elsewhere.
void Controller::leave_branch(int64_t version) {
  for (size_t w = 0; w < workers_.size(); ++w)
    if (plan_.version_of(w) == version) plan_.leave(w);
}

} // namespace asmevo::search
