// How many waves fit with so many vector registers.
#pragma once

#include "isa/resources.h"
#include "search/drivers/rewrite/rule.h"

namespace asmevo::search::rewrite {

class RegisterSteps {
public:
  /// Nothing for functions that are no kernel.
  static std::optional<RegisterSteps> of(const Facts& facts);

  /// Whether the declaration is what the code needs, and so follows it in both directions. One that has room to spare,
  /// for reasons of its own, only grows.
  bool declared_exactly() const { return exact_; }
  /// That the code names or the dispatcher fills.
  uint32_t vgprs() const { return vgprs_; }
  uint32_t agprs() const { return agprs_; }
  uint32_t initial() const { return initial_; }

  /// Waves a SIMD as far as registers go: what the declaration would be if the code needed these.
  uint32_t waves(uint32_t vgprs, uint32_t agprs) const;
  /// Whether as many waves fit as do now, be it registers or LDS that bounds them.
  bool keeps_waves(uint32_t vgprs, uint32_t agprs) const { return waves(vgprs, agprs) >= wanted_; }
  /// The most VGPRs with which another wave fits, where they are at most a quarter fewer than `used`.
  std::optional<uint32_t> next_below(uint32_t used) const;

private:
  RegisterSteps(const isa::Target& target, const isa::Resources& declared) : target_(target), declared_(declared) {}
  isa::Resources with(uint32_t vgprs, uint32_t agprs) const;
  uint32_t granules(const isa::Resources& r) const;

  isa::Target target_;
  isa::Resources declared_; // without LDS, which the waves of a workgroup share
  bool exact_ = false;
  uint32_t vgprs_ = 0, agprs_ = 0, initial_ = 0, wanted_ = 0;
};

} // namespace asmevo::search::rewrite
