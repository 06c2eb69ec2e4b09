// Results for people: short tables and lines.
#pragma once

#include "oracle/oracle.h"
#include "search/controller.h"
#include "timing/sensitivity.h"

#include <string>
#include <utility>
#include <vector>

namespace asmevo::report {

/// Three significant digits and a unit: "12.3 us", "4.56 ms".
std::string duration(double seconds);

/// 1234567 as "1,234,567".
std::string grouped(uint64_t count);

/// Rows of a name and a value, names padded to one width.
using Rows = std::vector<std::pair<std::string, std::string>>;
std::string table(const Rows& rows);

/// "37/200 evaluations, best 1.412x, accepted 4, duplicate 12, about 41 s left".
std::string progress_line(const search::Snapshot& snapshot);

/// "tested", "tested + strict clean", "proved".
std::string_view equivalence_words(gate::Equivalence equivalence);

/// "#12 accepted 1.214x (tighten-waits, proved): vmcnt(0) is stronger than needed".
std::string accepted_line(const search::Attempt& attempt);

/// "1,234 instructions exact, 56 approximate (v_exp_f32, v_rcp_f32), 0 unsupported".
std::string fidelity_line(const machine::Fidelity& fidelity);

/// "tested on 8 cases of the launch (empirical: other launches are not covered)", or more where more is known.
std::string equivalence_line(const gate::Receipt& receipt);

/// "1.214x (5-95 %: 1.190-1.240x, cv 0.80 %)".
std::string speedup_line(const gate::Timing& timing);

/// Which parameters the comparison rests on, and the largest effects; lines. Of one program: the largest effects.
std::string sensitivity_text(const timing::Sensitivity& sensitivity, bool comparison);

struct FinalReport {
  const search::RunInfo& info;
  const search::Summary& summary;
  std::optional<gate::Verdict> best; // of the best version; nothing when that is K0
  double original_seconds = 0;
  std::string device;
  machine::Fidelity fidelity;
  std::string directory;
};
/// The table at the end of `optimize`.
std::string final_table(const FinalReport& report);

} // namespace asmevo::report
