// What a linter found, for people (code frames), for programs (JSON) and for code hosts (SARIF 2.1.0).
#pragma once

#include "analysis/check.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::report {

/// One end of a finding.
struct Spot {
  uint32_t line = 0;               // 1-based in the listing; 0 where it has none
  std::optional<uint64_t> address; // in its section
  std::string section;             // ".text", as a rule
};

struct Lint {
  std::string rule, kernel, message;
  Spot at;
  std::optional<Spot> cause; // the other end, where it is another instruction
};

/// The lines around both ends, marked:
///
///      39 |   global_load_dword v5, v[0:1], off      <- cause
///         | ...
///      44 |   v_add_f32_e32 v6, v5, v5               <- here
///
/// `listing` holds the lines; ends without a line are left out.
std::string code_frame(const Lint& lint, const std::vector<std::string>& listing);

nlohmann::json to_json(const Lint& lint);

/// A SARIF log of one run. Findings in assembly have regions with lines, those in code objects have addresses.
/// Source: OASIS SARIF 2.1.0.
nlohmann::json sarif(const std::string& file, bool text, const std::vector<Lint>& findings,
                     const std::vector<analysis::Rule>& rules);

} // namespace asmevo::report
