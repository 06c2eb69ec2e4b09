// How `run` executes a kernel and what it shows of it: schedules, strict mode, traces, dumps, coverage, budgets.
#pragma once

#include "cli/setting.h"
#include "cli/verb.h"
#include "report/execution.h"

namespace asmevo::cli {

struct ExecutionOptions {
  std::string schedule = "round-robin";
  bool strict = false, trace = false, coverage = false;
  std::string trace_pc, trace_wave, trace_register;
  int trace_lane = -1;
  uint64_t trace_limit = 20'000; // lines; what is written is kept until the end of the run
  std::vector<std::string> dump_at;
  std::string dump_wave;
  uint64_t max_instructions = 0;
  double max_seconds = 0;
};

void execution_options(CLI::App& app, ExecutionOptions& options);

/// One execution with what was asked for. Lives as long as the launch that it is for.
class Execution {
public:
  /// Errors: text that is no address, register, wave or schedule.
  static Result<std::unique_ptr<Execution>> create(const ExecutionOptions& options, const Setting& setting, bool json);

  /// Before each launch: what is collected begins anew.
  void prepare(machine::RunOptions& run);
  /// What was collected, as text and as members of `document`.
  std::string collect(const device::Outcome& outcome, nlohmann::json& document) const;

private:
  explicit Execution(const Setting& setting);

  const Setting& setting_;
  std::optional<recover::Program> program_; // for labels; nothing where the object cannot be recovered
  report::Disassembly disassembly_;
  machine::RunOptions run_;
  machine::Debugging debugging_;
  bool debugs_ = false, json_ = false;
  uint64_t limit_ = 0, traced_ = 0; // lines of the trace
  std::string text_;                // of traces and dumps
  nlohmann::json lines_, dumps_;
};

} // namespace asmevo::cli
