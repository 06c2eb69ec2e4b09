#include "search/drivers.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace asmevo::search {
namespace {

constexpr DriverEntry drivers[] = {
    {"rewrite", "a catalogue of transformations; needs no model", make_rewrite},
    {"superopt", "the cheapest equal sequence for each window of integer instructions", make_superopt},
    {"mcts", "tree search over sequences of the catalogue's transformations", make_mcts},
    {"mcmc", "a random walk over instructions and operands, as in STOKE", make_mcmc},
    {"random", "random changes: the baseline", make_random},
    {"replay", "recorded proposals, one JSON object a line", make_replay},
};

} // namespace

std::span<const DriverEntry> all_drivers() { return drivers; }

Result<std::unique_ptr<Driver>> make_driver(const DriverOptions& options) {
  const auto* entry = std::ranges::find(drivers, options.name, &DriverEntry::name);
  if (entry != std::end(drivers)) return entry->make(options);
  std::vector<std::string_view> names;
  for (const DriverEntry& known : drivers) names.push_back(known.name);
  return fail("--driver {}: no such driver; there are {}", options.name, fmt::join(names, ", "));
}

} // namespace asmevo::search
