// Which uncertain parameter decides a comparison.
//
// The draws say how sure a speedup is; they do not say why it is unsure. Here each parameter is moved to the two ends
// of its error bar, alone, with all others at their values. Where the verdict changes on the way, it rests on that
// parameter, and a measurement of it would settle the matter.
#pragma once

#include "timing/timing.h"

namespace asmevo::timing {

enum class Order : uint8_t { faster, slower, same };
std::string_view order_name(Order);
/// `same` within 1 / (1 + epsilon) to 1 + epsilon.
Order order_of(double speedup, double epsilon);

struct Effect {
  const Shifted* parameter = nullptr; // of the first estimate
  double low = 0, high = 0;           // ratio with the parameter at value - error, value + error
  bool decides = false;               // the verdict differs from the nominal one at one of them
};

struct Sensitivity {
  double nominal = 0; // ratio with every parameter at its value
  Order verdict = Order::same;
  std::vector<Effect> effects; // those that decide first, then by how far they move the ratio; none without effect
};

/// Of T(original) / T(candidate); both estimates were made with EstimateOptions::sensitivity on the same device.
Sensitivity sensitivity(const Estimate& original, const Estimate& candidate, double epsilon);
/// Of T / T(nominal) of one program; nothing decides.
Sensitivity sensitivity(const Estimate& estimate);

} // namespace asmevo::timing
