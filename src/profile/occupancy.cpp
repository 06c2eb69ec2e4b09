#include "profile/occupancy.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace asmevo::profile {

namespace {

/// What occupancy depends on, as three plain amounts.
using Amounts = std::array<uint32_t, 3>;
constexpr std::string_view names[] = {"VGPRs", "SGPRs", "bytes of LDS"};

Amounts amounts_of(const isa::Resources& r, isa::Processor processor, uint32_t dynamic_lds) {
  return {isa::total_vgprs(r, processor), isa::total_sgprs(r), r.lds_bytes + dynamic_lds};
}

isa::Resources resources_of(const Amounts& a) { return {.vgprs = a[0], .sgprs = a[1], .lds_bytes = a[2]}; }

uint32_t groups_of(const Amounts& a, isa::Processor processor, uint32_t workgroup_size) {
  return isa::occupancy(resources_of(a), processor, workgroup_size, 0).workgroups_per_cu;
}

} // namespace

std::optional<WhatIf> next_step(const isa::Resources& resources, isa::Processor processor, uint32_t workgroup_size,
                                uint32_t dynamic_lds) {
  const auto groups = [&](const Amounts& a) { return groups_of(a, processor, workgroup_size); };
  const Amounts now = amounts_of(resources, processor, dynamic_lds);
  const uint32_t wanted = groups(now) + 1;
  if (groups({}) < wanted) return {};
  WhatIf what_if;
  Amounts then = now;
  for (size_t i = 0; i < now.size(); ++i) {
    Amounts alone{};
    uint32_t fits = 0, too_much = now[i] + 1; // of this resource, with nothing of the others
    while (too_much - fits > 1) {
      const uint32_t middle = fits + (too_much - fits) / 2;
      alone[i] = middle;
      (groups(alone) >= wanted ? fits : too_much) = middle;
    }
    if (fits == now[i]) continue;
    then[i] = fits;
    what_if.changes.push_back({names[i], now[i], fits});
  }
  what_if.resources = resources_of(then);
  what_if.occupancy = isa::occupancy(what_if.resources, processor, workgroup_size, 0);
  return what_if;
}

std::vector<Spare> spare(const isa::Resources& resources, isa::Processor processor, uint32_t workgroup_size,
                         uint32_t dynamic_lds) {
  const auto groups = [&](const Amounts& a) { return groups_of(a, processor, workgroup_size); };
  const Amounts now = amounts_of(resources, processor, dynamic_lds);
  const Amounts most = {processor >= isa::Processor::gfx90a ? 512u : 256u, 108, isa::lds_size(processor)};
  std::vector<Spare> out;
  for (size_t i = 0; i < now.size(); ++i) {
    Amounts more = now;
    while (more[i] < most[i]) {
      ++more[i];
      if (groups(more) < groups(now)) {
        --more[i];
        break;
      }
    }
    if (more[i] > now[i]) out.push_back({names[i], now[i], more[i] - now[i]});
  }
  return out;
}

std::string words(const WhatIf& what_if) {
  std::string out;
  for (const WhatIf::Change& c : what_if.changes)
    out += fmt::format("{}{} fewer {} ({} instead of {})", out.empty() ? "" : " and ", c.now - c.then, c.resource,
                       c.then, c.now);
  return out;
}

} // namespace asmevo::profile
