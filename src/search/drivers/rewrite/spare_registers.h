// Vector registers that can hold something more.
#pragma once

#include "search/drivers/rewrite/points.h"
#include "search/drivers/rewrite/register_steps.h"

namespace asmevo::search::rewrite {

class SpareRegisters {
public:
  /// Nothing where it is not in the text which registers are meant.
  static std::optional<SpareRegisters> of(const Facts& facts);

  /// A register that holds nothing at these points, taken from now on: one of `liked` if that can be, else the one that
  /// costs least, a VGPR before an AGPR. None that costs a wave.
  std::optional<isa::RegisterRange> take(const Points& points, const std::vector<isa::RegisterRange>& liked);
  void give_back(const isa::RegisterRange& taken, const Points& points);

  uint32_t vgprs() const { return vgprs_; }
  uint32_t agprs() const { return agprs_; }

private:
  SpareRegisters(const Facts& facts, const RegisterSteps& steps);
  bool may_take(const isa::RegisterRange& one, const Points& points) const;
  size_t index_of(const isa::RegisterRange& one) const;

  RegisterSteps steps_;
  std::vector<Points> busy_;               // VGPRs, then AGPRs; by what was there
  std::vector<std::vector<Points>> taken_; // likewise; by what was put there
  uint32_t vgprs_, agprs_;                 // how many are named
};

} // namespace asmevo::search::rewrite
