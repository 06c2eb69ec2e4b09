#include "report/text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace asmevo::report {
namespace {

struct Unit {
  double seconds;
  const char* name;
};
constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};

std::string time_left(const search::Snapshot& snapshot) {
  double by_clock = INFINITY, by_count = INFINITY;
  if (snapshot.budget.seconds > 0) by_clock = std::max(0.0, snapshot.budget.seconds - snapshot.elapsed_seconds);
  if (snapshot.budget.evaluations > 0 && snapshot.evaluations > 0)
    by_count = snapshot.elapsed_seconds / double(snapshot.evaluations) *
               double(std::max<int64_t>(0, snapshot.budget.evaluations - snapshot.evaluations));
  double left = std::min(by_clock, by_count);
  if (!std::isfinite(left)) return {};
  return left >= 120 ? fmt::format(", about {:.0f} min left", left / 60) : fmt::format(", about {:.0f} s left", left);
}

} // namespace

std::string duration(double seconds) {
  const Unit* unit = std::ranges::find_if(units, [&](const Unit& u) { return std::abs(seconds) >= u.seconds; });
  if (unit == std::end(units)) unit = std::end(units) - 1;
  double value = seconds / unit->seconds;
  int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, unit->name);
}

std::string grouped(uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string table(const Rows& rows) {
  size_t width = 0;
  for (const auto& [name, value] : rows) width = std::max(width, name.size());
  std::string out;
  for (const auto& [name, value] : rows) out += fmt::format("{:<{}}  {}\n", name, width, value);
  return out;
}

std::string progress_line(const search::Snapshot& snapshot) {
  std::string out = fmt::format("{}", snapshot.evaluations);
  if (snapshot.budget.evaluations) out += fmt::format("/{}", snapshot.budget.evaluations);
  out += fmt::format(" evaluations, best {:.3f}x", snapshot.best_speedup);
  for (size_t i = 0; i < snapshot.counts.size(); ++i)
    if (snapshot.counts[i]) out += fmt::format(", {} {}", gate::outcome_name(gate::Outcome(i)), snapshot.counts[i]);
  return out + time_left(snapshot);
}

std::string_view equivalence_words(gate::Equivalence equivalence) {
  constexpr std::string_view words[] = {"tested", "tested + strict clean", "proved"};
  return words[size_t(equivalence)];
}

std::string accepted_line(const search::Attempt& attempt) {
  std::string why = attempt.proposal.rationale.empty() ? "" : ": " + attempt.proposal.rationale;
  return fmt::format("#{} accepted {:.3f}x ({}, {}){}", attempt.number, attempt.verdict.timing->speedup,
                     attempt.proposal.rule, equivalence_words(attempt.verdict.receipt->equivalence), why);
}

std::string fidelity_line(const machine::Fidelity& fidelity) {
  std::string names;
  if (!fidelity.approximate_mnemonics.empty())
    names = fmt::format(" ({})", fmt::join(fidelity.approximate_mnemonics, ", "));
  return fmt::format("{} instructions exact, {} approximate{}, 0 unsupported", grouped(fidelity.exact),
                     grouped(fidelity.approximate), names);
}

std::string equivalence_line(const gate::Receipt& receipt) {
  const std::string cases =
      fmt::format("{} case{} of the launch", receipt.case_count, receipt.case_count == 1 ? "" : "s");
  switch (receipt.equivalence) {
  case gate::Equivalence::proved:
    return fmt::format("proved for all inputs, and tested on {}", cases);
  case gate::Equivalence::tested_strict_clean:
    return fmt::format("tested + strict clean on {} (empirical: other launches are not covered)", cases);
  case gate::Equivalence::tested:
    break;
  }
  return fmt::format("tested on {} (empirical: other launches are not covered)", cases);
}

std::string speedup_line(const gate::Timing& timing) {
  return fmt::format("{:.3f}x (5-95 %: {:.3f}-{:.3f}x, cv {:.2f} %)", timing.speedup, timing.low, timing.high,
                     timing.cv * 100);
}

std::string sensitivity_text(const timing::Sensitivity& s, bool comparison) {
  constexpr size_t shown = 8;
  const auto line = [](const timing::Effect& e) {
    const timing::Shifted& p = *e.parameter;
    return fmt::format("{} ({}; {:.6g} ± {:.6g} {}): {:.4f}x at {:.6g}, {:.4f}x at {:.6g}\n", p.name, p.meaning,
                       p.value, p.error, p.unit, e.low, p.value - p.error, e.high, p.value + p.error);
  };
  std::string out;
  const auto deciding = size_t(std::ranges::count_if(s.effects, &timing::Effect::decides));
  if (comparison) {
    out = fmt::format("verdict: {} ({:.4f}x with every parameter at its value); it {}\n", timing::order_name(s.verdict),
                      s.nominal, deciding ? "depends on" : "holds at both ends of every parameter's error bar");
    for (size_t i = 0; i < deciding; ++i) out += "  " + line(s.effects[i]);
  }
  if (s.effects.size() == deciding) return out;
  out += fmt::format("{} effects on the {}\n", deciding ? "other" : "largest", comparison ? "speedup" : "time");
  for (size_t i = deciding; i < std::min(s.effects.size(), deciding + shown); ++i) out += "  " + line(s.effects[i]);
  return out;
}

std::string final_table(const FinalReport& report) {
  Rows rows = {{"kernel", report.info.kernel}, {"device", report.device}, {"T(K0)", duration(report.original_seconds)}};
  if (report.best && report.best->timing) {
    rows.emplace_back("T(K')", duration(report.best->timing->candidate_seconds));
    rows.emplace_back("speedup", speedup_line(*report.best->timing));
  } else {
    rows.emplace_back("speedup", "none found: the output is K0, byte for byte");
  }
  rows.emplace_back("evaluations",
                    fmt::format("{} in {:.1f} s, {}", report.summary.snapshot.evaluations,
                                report.summary.snapshot.elapsed_seconds, search::ending_name(report.summary.ending)));
  if (report.best && report.best->receipt) rows.emplace_back("equivalence", equivalence_line(*report.best->receipt));
  rows.emplace_back("fidelity", fidelity_line(report.fidelity));
  rows.emplace_back("run", report.directory);
  return table(rows);
}

} // namespace asmevo::report
