#include "oracle/policy.h"

#include "support/hash.h"

namespace asmevo::oracle {

using launch::DType;
using launch::Tolerance;

// `relative` is about two units in the last place of the 16- and 8-bit types; for f32 and f64, whose results usually
// are sums of thousands of terms, some hundred. `scaled` is half of that: an element that cancels to nothing still
// carries the rounding of its terms.
Policy default_policy() {
  Policy policy;
  policy.by_dtype = {
      {DType::f64, {.relative = 1e-12, .scaled = 5e-13, .cosine = 0.999999999}},
      {DType::f32, {.relative = 2e-5, .scaled = 1e-5, .cosine = 0.9999999}},
      {DType::f16, {.relative = 2e-3, .scaled = 1e-3, .cosine = 0.99999}},
      {DType::bf16, {.relative = 1.6e-2, .scaled = 8e-3, .cosine = 0.9999}},
      {DType::fp8, {.relative = 0.125, .scaled = 0.03, .cosine = 0.99}},
      {DType::fp8_ocp, {.relative = 0.125, .scaled = 0.03, .cosine = 0.99}},
      {DType::bf8, {.relative = 0.25, .scaled = 0.06, .cosine = 0.98}},
      {DType::bf8_ocp, {.relative = 0.25, .scaled = 0.06, .cosine = 0.98}},
      {DType::fp4, {.relative = 0.34, .scaled = 0.1, .cosine = 0.95}},
  };
  return policy;
}

Tolerance Policy::of(const launch::Case& c, const launch::Buffer& buffer) const {
  if (auto set = c.tolerance.find(buffer.name); set != c.tolerance.end()) return set->second;
  if (auto found = by_dtype.find(buffer.dtype); found != by_dtype.end()) return found->second;
  return {}; // exact
}

std::string Policy::hash() const {
  std::string text = fmt::format("budget {} {}\n", budget_factor, budget_slack);
  for (auto& [dtype, t] : by_dtype)
    text += fmt::format("{} {:a} {:a} {:a} {:a}\n", launch::name_of(dtype), t.absolute, t.relative, t.scaled, t.cosine);
  return sha256_hex(text);
}

bool allows_float_rewrites(const Policy& policy, const launch::Launch& launch) {
  for (const launch::Case& c : launch.cases)
    for (const launch::Buffer& buffer : c.buffers) {
      Tolerance t = policy.of(c, buffer);
      if (launch::is_result(buffer.role) && launch::is_floating(buffer.dtype) && t.absolute + t.relative + t.scaled > 0)
        return true;
    }
  return false;
}

} // namespace asmevo::oracle
