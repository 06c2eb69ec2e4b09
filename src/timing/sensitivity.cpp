#include "timing/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace asmevo::timing {

namespace {

double reach(const Effect& e, double nominal) {
  return std::max(std::abs(std::log(e.low / nominal)), std::abs(std::log(e.high / nominal)));
}

void sort(Sensitivity& s) {
  std::erase_if(s.effects, [&](const Effect& e) { return reach(e, s.nominal) == 0; });
  std::ranges::stable_sort(s.effects, [&](const Effect& a, const Effect& b) {
    return std::pair(!a.decides, -reach(a, s.nominal)) < std::pair(!b.decides, -reach(b, s.nominal));
  });
}

} // namespace

std::string_view order_name(Order order) {
  static constexpr std::string_view names[] = {"faster", "slower", "the same"};
  return names[size_t(order)];
}

Order order_of(double speedup, double epsilon) {
  if (speedup > 1 + epsilon) return Order::faster;
  return speedup < 1 / (1 + epsilon) ? Order::slower : Order::same;
}

Sensitivity sensitivity(const Estimate& original, const Estimate& candidate, double epsilon) {
  Sensitivity s{.nominal = original.seconds.front() / candidate.seconds.front()};
  s.verdict = order_of(s.nominal, epsilon);
  for (size_t i = 0; i < std::min(original.shifted.size(), candidate.shifted.size()); ++i) {
    const Shifted &a = original.shifted[i], &b = candidate.shifted[i];
    Effect e{.parameter = &a, .low = a.low_seconds / b.low_seconds, .high = a.high_seconds / b.high_seconds};
    e.decides = order_of(e.low, epsilon) != s.verdict || order_of(e.high, epsilon) != s.verdict;
    s.effects.push_back(e);
  }
  sort(s);
  return s;
}

Sensitivity sensitivity(const Estimate& estimate) {
  Sensitivity s{.nominal = 1};
  for (const Shifted& a : estimate.shifted)
    s.effects.push_back({.parameter = &a,
                         .low = a.low_seconds / estimate.seconds.front(),
                         .high = a.high_seconds / estimate.seconds.front()});
  sort(s);
  return s;
}

} // namespace asmevo::timing
