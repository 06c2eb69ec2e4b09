// A version as drivers see it: recovered, loaded, timed, with its hot windows.
//
// Making one costs as much as timing a candidate does. Workers stay where they are for many evaluations and come back
// to where they were, so a few are kept.
#pragma once

#include "gate/pipeline.h"
#include "search/lineage.h"
#include "search/window.h"

#include <deque>
#include <memory>

namespace asmevo::search {

struct Standpoint {
  int64_t version = -1;
  device::Loaded loaded;
  recover::Program program;
  timing::Estimate estimate;      // with attribution
  std::vector<HotWindow> windows; // the hottest first
};

class Standpoints {
public:
  /// Both must outlive it.
  Standpoints(gate::Bench& bench, const Lineage& lineage) : bench_(bench), lineage_(lineage) {}
  Result<std::shared_ptr<const Standpoint>> at(const Version& version);
  void keep(size_t most) { most_ = most; }

private:
  Result<std::shared_ptr<const Standpoint>> make(const Version& version);

  gate::Bench& bench_;
  const Lineage& lineage_;
  size_t most_ = 2;
  std::deque<std::shared_ptr<const Standpoint>> kept_; // the last used last
};

} // namespace asmevo::search
