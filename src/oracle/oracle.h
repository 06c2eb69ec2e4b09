// The oracle: O(x) = run(K0, x).
//
// No source and no reference implementation exist, only the binary K0. So a candidate is right on an input when it
// leaves the same memory behind as K0 does, up to a policy of rounding. What makes this hard is being fooled. A buffer
// of zeros is within 1e-2 of a softmax over wide rows; a kernel that does nothing is right when the output still holds
// the answer from the launch before; a missing wait gives the right sum under most schedules. So before any candidate
// is judged the reference examines K0 itself (does it depend on the schedule, on what the output held, on where buffers
// are?) and the policy (would zeros, a shifted or a scaled output pass?), and every candidate then runs each case
// several ways: other seeds, other poison, other addresses, another schedule, after an earlier launch.
//
//     auto reference = oracle::Reference::create(device, k0, launch, policy);
//     auto judgement = oracle::verify(*device, *reference, candidate, options);
#pragma once

#include "device/device.h"
#include "oracle/policy.h"
#include "oracle/ulp_histogram.h"

#include <map>
#include <memory>

namespace asmevo::oracle {

enum class Finding : uint8_t { equivalent, divergence, runtime_fault, guard_corruption, read_only_damage, stopped };
std::string_view finding_name(Finding);

/// What was established about a candidate. `evidence` is at most 4 KiB: buffer, index, values, or fault with its pc.
struct Judgement {
  Finding finding = Finding::divergence;
  std::string evidence; // for `equivalent`: what was run
  // What the judgement is about, for receipts; sha256.
  std::string original, candidate, cases, policy;
  unsigned case_count = 0;                  // cases that passed
  unsigned runs = 0;                        // launches of the candidate
  std::map<std::string, UlpHistogram> ulps; // floating-point results over all runs that were compared
};

/// Heavy cases, those that cost many times what all lighter ones of the launch cost together, may be looked at twice
/// instead of in every way: as the launch file gives them, and, of a candidate that is worth it, with another input,
/// after an earlier launch and at other addresses, and under other turns or late loads as the seed will have it. Rare
/// values come together in few of many inputs: light cases with special values may be looked at again, and no others.
enum class Looks : uint8_t { all, first, second, special };

struct Options {
  uint64_t seed = 0; // other seeds give other inputs, poison, addresses and schedules: for a second verification
  Looks looks = Looks::all;
  const volatile bool* stop = nullptr;
};

/// K0 on every case of a launch, run when first needed and kept. Several threads may verify against one Reference.
struct Trial;

class Reference {
public:
  /// Runs K0 on all cases. Errors: K0 does not load, faults, writes outside its buffers or into inputs (the launch
  /// names them wrongly), depends on what its outputs held before, has integer outputs that depend on the schedule, or
  /// the policy cannot tell its output from zeros, a shifted or a scaled one.
  static Result<Reference> create(device::Device& device, device::Loaded original, launch::Launch launch, Policy policy,
                                  const Options& options = {});
  /// The same, and `candidate` judged, for whoever will judge no other: what K0 leaves behind on a large case that
  /// leads no others is compared at once and not kept. Nothing is judged where K0 or the launch is at fault.
  static Result<Trial> verify_once(device::Device& device, device::Loaded original, launch::Launch launch,
                                   Policy policy, const device::Loaded& candidate, const Options& options);
  Reference(Reference&&) noexcept;
  Reference& operator=(Reference&&) noexcept;
  ~Reference();

  const device::Loaded& original() const;
  const launch::Launch& launch() const;
  const Policy& policy() const;
  /// Facts about K0 and the policy that a report must tell: "K0's `sum` varies with the schedule: bound widened to
  /// ...".
  const std::vector<std::string>& notes() const;
  /// False for a case that differs from an earlier one in its random input only and is large: what that one shows of
  /// other ways to run it holds for both.
  bool leads(size_t index) const;
  /// Instructions exact and approximate over all cases.
  const machine::Fidelity& fidelity() const;

  struct Impl;
  Impl& impl() { return *impl_; }

private:
  explicit Reference(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

struct Trial {
  Reference reference;
  Judgement judgement;
};

/// Judges a candidate on all cases of the reference. Errors only for what is no property of the candidate.
Result<Judgement> verify(device::Device& device, Reference& reference, const device::Loaded& candidate,
                         const Options& options = {});

} // namespace asmevo::oracle
