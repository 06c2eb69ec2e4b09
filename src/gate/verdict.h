// A verdict is a value: what the gate found about one candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace asmevo::gate {

enum class Outcome : uint8_t {
  accepted,
  assembly_failure,
  static_inconsistency,
  divergence,
  runtime_fault,
  guard_corruption,
  timing_unstable,
  insufficient_speedup,
  duplicate
};
inline constexpr size_t outcome_count = size_t(Outcome::duplicate) + 1;
std::string_view outcome_name(Outcome);
std::optional<Outcome> outcome_from_name(std::string_view);

/// How equivalence with K0 was established, strongest last.
enum class Equivalence : uint8_t { tested, tested_strict_clean, proved };
std::string_view equivalence_name(Equivalence);
std::optional<Equivalence> equivalence_from_name(std::string_view);

/// Present exactly when equivalence was established: binds it to what was compared. All fields sha256.
struct Receipt {
  std::string original, candidate, cases, policy;
  Equivalence equivalence = Equivalence::tested;
  unsigned case_count = 0;
};

struct Timing {
  double original_seconds = 0, candidate_seconds = 0; // medians
  double speedup = 1;
  double cv = 0;            // of the speedup over the draws
  double low = 1, high = 1; // 5th and 95th percentile of the speedup over the draws
  double faster = 1;        // share of the draws in which the candidate is faster than K0
  std::string device;       // "simulated MI300X"
};

/// `evidence` is at most 4 KiB of text and says where: line and column, address, buffer and index. A verdict is
/// complete: nothing else is needed to report it, store it or learn from it.
struct Verdict {
  Outcome outcome = Outcome::assembly_failure;
  std::string evidence;
  std::optional<Timing> timing;   // present exactly for timing_unstable, insufficient_speedup, accepted
  std::optional<Receipt> receipt; // present exactly when equivalence was established
};

inline constexpr size_t evidence_limit = 4096;
/// `text`, or its beginning and how much was left out when it is longer than the limit.
std::string bounded_evidence(std::string text);

} // namespace asmevo::gate
