// How far a grid goes, and what the whole of it touches.
#pragma once

#include "launch/infer/search.h"

namespace asmevo::launch {

/// A kernel on the bench: values become trials, and what was found so far shapes them.
class Bench {
public:
  Bench(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop);

  Prober prober;
  Found found;

  /// Likewise, of the prober.
  bool split_wide_scalars();
  Values all_equal(int64_t size) const;
  Trial trial(const Values& values, const Position& grid) const;
  /// The corner workgroup and its neighbours along the axes that the kernel looks at.
  Result<ProbeResult> corner(const Values& values, bool flow = false);

  /// Changes sizes until there are several workgroups and not too many.
  Result<void> fit_grid(Values& values);
  /// Grid, extents, roles and content for `values`. `define`: types and ranges of content are found out with it.
  Result<Shape> explore(const Values& values, bool define);
  /// As much dynamic LDS as was accessed, from now on.
  void settle_lds(const Shape& shape);

private:
  struct Count {
    uint32_t groups = 1;
    bool limited = true;
  };
  struct Grid {
    std::array<Count, 3> axes;
    uint64_t groups = 1, cost = 0;
    Position position() const { return {axes[0].groups, axes[1].groups, axes[2].groups}; }
  };

  Position corner_grid() const;
  Result<std::optional<GroupUse>> group_at(const Values& values, unsigned axis, uint32_t n);
  Result<Count> count_along(const Values& values, unsigned axis);
  Result<Count> count_until_overlap(const Values& values, unsigned axis);
  Result<Grid> measure(const Values& values, const ProbeResult& corner);
  Result<bool> shrink(Values& values, Grid& grid);
  Result<bool> grow(Values& values, Grid& grid, unsigned axis);
  static void clamp(Grid& grid);

  std::vector<uint32_t> sample(const Position& grid) const;
  Result<void> look(Trial trial, Shape& shape);
  Result<void> look_with_content(const Trial& trial, Shape& shape);
  Result<void> look_at_extremes(const Trial& trial, Shape& shape);
  void define_types(const Shape& shape);
  std::map<uint32_t, Trial::Content> backgrounds() const;
  std::map<uint32_t, Trial::Content> contents(const Shape& shape, std::optional<bool> extreme) const;

  std::string path_, name_;
  uint32_t fixed_lds_ = 0, free_lds_ = 0;
  bool lds_settled_ = false;
  std::map<uint32_t, TypeVotes> votes_;
};

} // namespace asmevo::launch
