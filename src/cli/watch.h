// What strict mode finds when a kernel runs on the cases of a launch, as a linter's findings.
#pragma once

#include "cli/source.h"
#include "report/findings.h"

namespace asmevo::cli {

struct WatchOptions {
  std::string file, launch, kernel, device = "auto";
};

/// Rules S001 and on: one a kind of finding, and one for runs that do not end as they should.
std::span<const analysis::Rule> watch_rules();

struct Watched {
  std::vector<report::Lint> lints;
  std::vector<std::string> gaps; // what was not watched
  bool stopped = false;          // by a signal
};

/// Errors: those of open_setting().
Result<Watched> watch(const Source& source, const WatchOptions& options, const volatile bool* stop);

/// Where an item stands.
report::Spot spot_of(const Source& source, size_t item);

} // namespace asmevo::cli
