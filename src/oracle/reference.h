// K0's side of the oracle: what it left behind in each way, and what is known about it.
#pragma once

#include "oracle/compare.h"
#include "oracle/oracle.h"
#include "oracle/way.h"

#include <functional>
#include <map>
#include <mutex>
#include <tuple>

namespace asmevo::oracle {

/// K0 after one run.
struct OriginalRun {
  uint64_t instructions = 0;
  std::map<std::string, Expected> results; // by buffer name
};

/// What the examination of K0 on one case found.
struct CaseFacts {
  std::map<std::string, launch::Tolerance> tolerance; // of each result, after calibration
  std::map<std::string, ElementSet> untouched;
  bool any_schedule = true;  // no schedule that was tried changes K0's results beyond the tolerance
  bool late_loads = true;    // nor does it when results of loads arrive only when waits force them
  bool any_placement = true; // nor do addresses
  bool any_firmware = true;  // nor does firmware that preloads no kernel arguments
  bool any_crowd = true;     // nor do schedules where special values are many
  bool any_undefined = true; // nor does what registers and LDS hold that nothing has written
  uint64_t instructions = 0;
  bool steady = false;                 // nothing that was tried changes K0's results at all
  bool heavy = false, special = false; // oracle::Looks
  /// The case that stands for this one: itself, or one that differs in its random input only, where both are large.
  size_t leader = 0;
};

struct Reference::Impl {
  Impl(device::Loaded original, launch::Launch launch, Policy policy);

  device::Loaded original;
  launch::Launch launch;
  Policy policy;
  std::string original_hash;
  std::vector<CaseFacts> facts; // a case each
  std::vector<std::string> notes;
  machine::Fidelity fidelity;
  bool keeps_followers = true;
  uint64_t seed = 0; // of the examination; whoever verifies with it meets the same inputs again

  /// K0 on case `index` in `way`, but always with the default schedule: candidates may not need more luck than that.
  Result<std::shared_ptr<const OriginalRun>> run(device::Device& device, size_t index, const Way& wanted,
                                                 const Options& options);
  /// The same from an outcome that is known already.
  std::shared_ptr<const OriginalRun> keep(size_t index, const Way& way, const Options& options,
                                          device::Outcome outcome);
  /// Forgets runs of seeds other than that of the examination, whose inputs do not come again.
  void forget(uint64_t seed);
  /// Forgets every run of case `index`.
  void drop(size_t index);

  /// Whether a candidate runs case `index` in way number `way`. Of cases that are alike and large each but the first
  /// way is asked of one, which depends on the seed; of the leader where the others' results are not kept.
  bool asks(size_t index, size_t way, const Options& options) const;

  /// The way as it can be asked of a candidate, given what K0 itself depends on.
  Way allowed(size_t index, const Way& way) const;

private:
  using Key = std::tuple<size_t, uint64_t, bool, uint64_t, uint64_t, unsigned, bool, bool>;
  static Key key_of(size_t index, const Way& way, const Options& options);

  /// One run, which whoever asks first makes while others wait for it.
  struct Slot {
    std::mutex making;
    std::shared_ptr<const OriginalRun> run; // null until made
  };
  std::shared_ptr<Slot> slot_of(const Key& key);
  std::shared_ptr<const OriginalRun> run_of(size_t index, const Way& way, const Options& options,
                                            device::Outcome outcome) const;

  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Slot>> runs_;
};

/// Fills facts, notes and fidelity. `seen` is told of each case as soon as its facts are known.
using Seen = std::function<Result<void>(size_t index)>;
Result<void> examine(device::Device& device, Reference::Impl& reference, const Options& options, const Seen& seen = {});

/// Launches K0 once. Errors for whatever means that the launch does not fit K0.
Result<device::Outcome> launch_original(device::Device& device, const Reference::Impl& reference, const launch::Case& c,
                                        device::LaunchOptions options, const Options& oracle_options);

/// Elements that hold the poison of `poison_seed`, by their bits.
ElementSet poisoned_elements(const launch::Buffer& buffer, std::span<const uint8_t> bytes, uint64_t poison_seed);

/// "gpu fault: ..." with pc, wave and lane; budget and deadlock alike.
std::string fault_text(const device::Outcome& outcome, uint64_t budget);

} // namespace asmevo::oracle
