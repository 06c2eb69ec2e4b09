// The drivers there are, by name.
#pragma once

#include "search/driver.h"

#include <memory>
#include <span>
#include <string>

namespace asmevo::search {

/// What a driver is made from. A run keeps it, so that resuming makes the same driver.
struct DriverOptions {
  std::string name = "rewrite";
  std::string input; // replay: the file with recorded proposals
};

struct DriverEntry {
  std::string_view name;
  std::string_view summary;
  Result<std::unique_ptr<Driver>> (*make)(const DriverOptions&);
};
std::span<const DriverEntry> all_drivers();

/// Errors: no such driver (the message lists them), or what the driver itself cannot start with.
Result<std::unique_ptr<Driver>> make_driver(const DriverOptions& options);

Result<std::unique_ptr<Driver>> make_rewrite(const DriverOptions& options);  // drivers/rewrite/
Result<std::unique_ptr<Driver>> make_superopt(const DriverOptions& options); // drivers/superopt/
Result<std::unique_ptr<Driver>> make_mcmc(const DriverOptions& options);     // drivers/stochastic/
Result<std::unique_ptr<Driver>> make_mcts(const DriverOptions& options);     // drivers/mcts/
Result<std::unique_ptr<Driver>> make_random(const DriverOptions& options);   // drivers/stochastic/
Result<std::unique_ptr<Driver>> make_replay(const DriverOptions& options);   // drivers/replay.cpp

} // namespace asmevo::search
