#include "launch/infer/search.h"

#include "launch/infer/grid.h"

#include <algorithm>
#include <random>
#include <tuple>

namespace asmevo::launch {

namespace {

constexpr int64_t starts[] = {256, 1024, 64, 4096, 16, 1};
constexpr int64_t plausible[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096};
constexpr int random_tries = 150, tries_after_success = 30;

/// More code without losing what works.
bool improves(const ProbeResult& now, const ProbeResult& before) {
  return now.completed && now.collisions <= before.collisions && now.covered() > before.covered() &&
         now.stored * 4 >= before.stored;
}

class Search {
public:
  Search(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop)
      : kernel_(kernel), path_(image.object().path), bench_(image, kernel, stop) {}

  Result<Found> run() {
    if (bench_.found.pointers.empty())
      return fail("{}: kernel `{}` takes no pointer, it can have no result", path_, kernel_.name);
    AE_CHECK(find_start());
    AE_CHECK(read_scalars());
    AE_CHECK(execute_more());
    AE_CHECK(read_scalars());
    AE_CHECK(bench_.fit_grid(values_));
    AE_TRY(Shape main, bench_.explore(values_, true));
    bench_.settle_lds(main);
    bench_.found.shapes.push_back(std::move(main));
    add_tails();
    return std::move(bench_.found);
  }

private:
  // ---- a beginning

  std::vector<Position> workgroup_candidates() const {
    if (const auto& wanted = kernel_.metadata->reqd_workgroup_size) return {*wanted};
    const uint32_t most = kernel_.metadata->max_flat_workgroup_size;
    const uint32_t items = most == 0 || most > 256 ? 256 : most;
    if (bench_.found.item_axes == 1) {
      std::vector<Position> sizes{{items, 1, 1}};
      // 1024 is what compilers say when nobody said anything.
      if (most == 1024) sizes.push_back({64, 1, 1});
      return sizes;
    }
    std::vector<Position> shapes;
    for (uint32_t x : {16u, 64u, 32u, 8u, 128u})
      if (items % x == 0) shapes.push_back({x, items / x, 1});
    if (bench_.found.item_axes == 3 && items % 64 == 0) shapes.push_back({8, 8, items / 64});
    return shapes;
  }

  /// A beginning touches as much as it can of what it is given.
  static auto merit(const ProbeResult& r) { return std::tuple(r.pointers, r.collisions == 0, r.stored); }

  Result<bool> attempt(const Values& values, const Position& workgroup) {
    Position before = std::exchange(bench_.found.workgroup, workgroup);
    AE_TRY(ProbeResult result, bench_.corner(values));
    if (!result.completed) fault_ = result.fault;
    if (result.completed && result.stored > 0 && (!start_ || merit(result) > merit(*start_))) {
      start_ = std::move(result);
      values_ = values;
      return true;
    }
    bench_.found.workgroup = before;
    return false;
  }

  Result<void> find_start() {
    do {
      for (Background background : {Background::zeros, Background::integers, Background::floats}) {
        bench_.found.background = background;
        AE_CHECK(try_equal_values());
        if (start_) return {};
      }
      for (Background background : {Background::zeros, Background::integers}) {
        bench_.found.background = background;
        AE_CHECK(try_random_values());
        if (start_) return {};
      }
    } while (bench_.split_wide_scalars());
    if (!fault_.empty())
      return fail("{}: kernel `{}` faults on every launch that was tried: {}", path_, kernel_.name, fault_);
    return fail("{}: kernel `{}` stores nothing on any launch that was tried", path_, kernel_.name);
  }

  Result<void> try_equal_values() {
    for (int64_t size : starts) {
      if (start_ && size != 1024) break;
      for (const Position& workgroup : workgroup_candidates()) AE_CHECK(attempt(bench_.all_equal(size), workgroup));
    }
    return {};
  }

  /// Equal values do not suit everything: a filter as large as its image leaves no output.
  Result<void> try_random_values() {
    const std::vector<Position> candidates = workgroup_candidates();
    std::mt19937 random(1);
    for (int i = 0, last = random_tries; !bench_.found.scalars.empty() && i < last; ++i) {
      Values values;
      for (const Scalar& s : bench_.found.scalars) values[s.slot.offset] = plausible[random() % std::size(plausible)];
      AE_TRY(bool better, attempt(values, candidates[random() % candidates.size()]));
      if (better) last = std::min(random_tries, i + tries_after_success);
    }
    return {};
  }

  // ---- scalars

  Result<void> read_scalars() {
    AE_TRY(ProbeResult base, bench_.corner(values_, true));
    for (Scalar& s : bench_.found.scalars) {
      for (uint32_t at = s.slot.offset / 4 * 4; at < s.slot.offset + s.slot.size; at += 4)
        if (auto found = base.flow.uses.find(at); found != base.flow.uses.end()) s.uses |= found->second;
      std::optional<DType> voted;
      if (auto votes = base.votes.scalars.find(s.slot.offset); votes != base.votes.scalars.end())
        voted = winner(votes->second);
      const bool integer = s.uses & (use_address | use_guard | use_bound | use_divisor);
      if (!integer) AE_CHECK(try_to_move(s, base));
      const bool floating = (s.uses & use_float) || (voted && is_floating(*voted));
      if (!floating || integer) continue;
      s.type = voted && is_floating(*voted) && size_of(*voted) == s.slot.size ? *voted
               : s.slot.size == 8                                             ? DType::f64
               : s.slot.size == 2                                             ? DType::f16
                                                                              : DType::f32;
      values_.erase(s.slot.offset);
    }
    bench_.found.indexes.insert(base.flow.indexes.begin(), base.flow.indexes.end());
    return {};
  }

  /// What neither an address nor a comparison was seen to follow may still matter.
  Result<void> try_to_move(Scalar& s, const ProbeResult& base) {
    auto value = values_.find(s.slot.offset);
    if (value == values_.end() || s.moves || (s.uses & use_float)) return {};
    for (int64_t other : {int64_t{1}, value->second / 2, value->second * 2}) {
      Values changed = values_;
      changed[s.slot.offset] = other;
      AE_TRY(ProbeResult result, bench_.corner(changed));
      s.moves |= result.completed != base.completed || result.groups != base.groups;
      if (s.moves) break;
    }
    return {};
  }

  // ---- more of the code

  Result<void> execute_more() {
    AE_TRY(ProbeResult best, bench_.corner(values_));
    auto attempt = [&](Values values) -> Result<bool> {
      if (values == values_) return false;
      AE_TRY(ProbeResult result, bench_.corner(values));
      if (!improves(result, best)) return false;
      best = std::move(result);
      values_ = std::move(values);
      return true;
    };
    for (int64_t size : {512, 1024, 2048}) {
      Values values = values_;
      for (auto& [offset, value] : values) value = size;
      AE_CHECK(attempt(std::move(values)));
    }
    for (int round = 0; round < 2; ++round) {
      bool changed = false;
      for (Scalar& s : bench_.found.scalars) {
        if (bench_.prober.tired()) return {};
        if (is_floating(s.type)) {
          AE_TRY(bool better, try_factors(s, best));
          changed |= better;
          continue;
        }
        if (!s.uses && !s.moves) continue;
        for (int64_t value : plausible) {
          Values values = values_;
          values[s.slot.offset] = value;
          AE_TRY(bool better, attempt(std::move(values)));
          changed |= better;
        }
      }
      if (!changed) break;
    }
    return {};
  }

  Result<bool> try_factors(Scalar& s, ProbeResult& best) {
    bool better = false;
    for (double factor : {0.0, 1.0, -1.0}) {
      const double before = std::exchange(s.factor, factor);
      AE_TRY(ProbeResult result, bench_.corner(values_));
      if (improves(result, best)) {
        best = std::move(result);
        better = true;
      } else {
        s.factor = before;
      }
    }
    return better;
  }

  // ---- tails

  /// Shapes that do not fill workgroups, loops and vectors; and a few turns of loops that turn often.
  void add_tails() {
    constexpr std::pair<unsigned, int64_t (*)(int64_t)> changes[] = {
        {~0u, [](int64_t v) { return v > 16 ? v - v / 4 - 3 : v; }},
        {~0u, [](int64_t v) { return v > 64 ? v - 48 : v; }},
        {use_bound, [](int64_t v) { return v > 64 ? v / 4 : v; }},
        {~0u, [](int64_t v) { return std::min<int64_t>(v, 17); }}};
    std::vector<Values> seen{values_};
    for (auto [uses, change] : changes) {
      Values values = values_;
      for (const Scalar& s : bench_.found.scalars)
        if (auto v = values.find(s.slot.offset); v != values.end() && (s.uses & uses || (s.moves && uses == ~0u)))
          v->second = change(v->second);
      if (std::ranges::find(seen, values) != seen.end()) continue;
      seen.push_back(values);
      auto tail = bench_.explore(values, false);
      const Shape& main = bench_.found.shapes[0];
      if (tail && tail->collisions <= main.collisions && tail->instructions <= 2 * main.instructions)
        bench_.found.shapes.push_back(std::move(*tail));
    }
  }

  const object::Kernel& kernel_;
  std::string path_;
  Bench bench_;
  Values values_;
  std::optional<ProbeResult> start_;
  std::string fault_; // of what was tried last
};

} // namespace

Result<Found> search_launch(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop) {
  return Search(image, kernel, stop).run();
}

} // namespace asmevo::launch
