#include "cli/execution.h"

#include "recover/recover.h"
#include "report/text.h"

#include <charconv>

namespace asmevo::cli {
namespace {

using nlohmann::json;

template <class T> bool number(std::string_view text, T& value) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  return error == std::errc{} && end == text.data() + text.size();
}

/// The two sides of the separator; the second is empty without one.
std::pair<std::string_view, std::string_view> split(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == text.npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

struct ScheduleName {
  std::string_view name;
  machine::Schedule schedule;
};
constexpr ScheduleName schedules[] = {
    {"round-robin", machine::Schedule::round_robin},
    {"run-to-barrier", machine::Schedule::run_to_barrier},
    {"random", machine::Schedule::seeded_random},
    {"late-loads", machine::Schedule::late_loads},
};

Result<void> read_schedule(const std::string& text, machine::RunOptions& run) {
  const auto [name, seed] = split(text, ':');
  for (const ScheduleName& s : schedules) {
    if (s.name != name) continue;
    run.schedule = s.schedule;
    if (!seed.empty() && (s.schedule != machine::Schedule::seeded_random || !number(seed, run.seed))) break;
    return {};
  }
  return fail("--schedule: {} is not one of round-robin, run-to-barrier, random[:SEED], late-loads", text);
}

Result<void> read_wave(const char* option, const std::string& text, std::optional<uint32_t>& workgroup,
                       std::optional<uint32_t>& wave) {
  if (text.empty()) return {};
  const auto [first, second] = split(text, '.');
  uint32_t group = 0, number_in_group = 0;
  if (!number(first, group) || (!second.empty() && !number(second, number_in_group)))
    return fail("{}: {} is no workgroup, nor a workgroup and a wave as in 3.0", option, text);
  workgroup = group;
  if (!second.empty()) wave = number_in_group;
  return {};
}

Result<void> read_trace(const ExecutionOptions& options, machine::Debugging& debugging) {
  const bool filtered = !options.trace_pc.empty() || !options.trace_wave.empty() || !options.trace_register.empty() ||
                        options.trace_lane >= 0;
  if (!options.trace && !filtered) return {};
  machine::TraceFilter& filter = debugging.trace.emplace();
  if (!options.trace_pc.empty()) {
    const auto [first, last] = split(options.trace_pc, ':');
    if (!number(first, filter.first) || (!last.empty() && !number(last, filter.last)))
      return fail("--trace-pc: {} is no address, nor a range as in 0x1900:0x1a00", options.trace_pc);
    if (last.empty()) filter.last = filter.first + 1;
  }
  AE_CHECK(read_wave("--trace-wave", options.trace_wave, filter.workgroup, filter.wave));
  if (options.trace_lane > 63) return fail("--trace-lane: {} is no lane; a wave has 0 to 63", options.trace_lane);
  if (options.trace_lane >= 0) filter.lane = unsigned(options.trace_lane);
  if (options.trace_register.empty()) return {};
  filter.written = machine::parse_registers(options.trace_register);
  if (!filter.written)
    return fail("--trace-register: {} is no register as in v3, s[4:7], a0, vcc, exec, m0, scc", options.trace_register);
  return {};
}

Result<void> read_dumps(const ExecutionOptions& options, machine::Debugging& debugging) {
  std::optional<uint32_t> workgroup, wave;
  AE_CHECK(read_wave("--dump-wave", options.dump_wave, workgroup, wave));
  for (const std::string& text : options.dump_at) {
    machine::DumpRequest request{.workgroup = workgroup.value_or(0), .wave = wave};
    const auto [address, arrival] = split(text, ':');
    if (!number(address, request.address) || (!arrival.empty() && !number(arrival, request.arrival)) ||
        request.arrival == 0)
      return fail("--dump-at: {} is no address, nor an address and an arrival as in 0x1900:3", text);
    debugging.dumps.push_back(request);
  }
  return {};
}

} // namespace

void execution_options(CLI::App& app, ExecutionOptions& o) {
  app.add_option("--schedule", o.schedule, "round-robin, run-to-barrier, random[:SEED] or late-loads")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--strict", o.strict, "look for missing waits, hazards, races and what is read but never written");
  app.add_flag("--trace", o.trace, "show each instruction with what it writes");
  app.add_option("--trace-pc", o.trace_pc, "trace only this address, or [FIRST, LAST)")->type_name("FIRST[:LAST]");
  app.add_option("--trace-wave", o.trace_wave, "trace only this workgroup, or this wave of it")
      ->type_name("GROUP[.WAVE]");
  app.add_option("--trace-lane", o.trace_lane, "show only this lane of vector registers and memory")->type_name("N");
  app.add_option("--trace-register", o.trace_register, "trace only instructions that write it")->type_name("REGISTER");
  app.add_option("--trace-limit", o.trace_limit, "lines after which the trace ends")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--dump-at", o.dump_at, "show registers and LDS when a wave arrives there (the COUNT-th time)")
      ->type_name("PC[:COUNT]");
  app.add_option("--dump-wave", o.dump_wave, "whose, if not all of workgroup 0's")->type_name("GROUP[.WAVE]");
  app.add_flag("--coverage", o.coverage, "show how often each basic block is executed");
  app.add_option("--max-instructions", o.max_instructions, "give up after so many wave-instructions")->type_name("N");
  app.add_option("--max-seconds", o.max_seconds, "give up after so long")->type_name("S");
}

Execution::Execution(const Setting& setting)
    : setting_(setting), program_([&]() -> std::optional<recover::Program> {
        auto program = recover::recover(setting.input.object, setting.input.codec);
        if (!program) return std::nullopt;
        return std::move(*program);
      }()),
      disassembly_(*setting.loaded.image, setting.input.codec, program_ ? &*program_ : nullptr) {}

Result<std::unique_ptr<Execution>> Execution::create(const ExecutionOptions& options, const Setting& setting,
                                                     bool json) {
  auto execution = std::unique_ptr<Execution>(new Execution(setting));
  execution->json_ = json;
  execution->limit_ = options.trace_limit;
  machine::RunOptions& run = execution->run_;
  AE_CHECK(read_schedule(options.schedule, run));
  run.strict = options.strict;
  if (options.max_instructions) run.instruction_budget = options.max_instructions;
  if (options.max_seconds > 0) run.wall_budget = std::chrono::milliseconds(int64_t(options.max_seconds * 1000));
  machine::Debugging& debugging = execution->debugging_;
  AE_CHECK(read_trace(options, debugging));
  AE_CHECK(read_dumps(options, debugging));
  debugging.coverage = options.coverage;
  if (options.coverage && !execution->program_)
    return fail("{}: cannot be recovered, so that its basic blocks are not known", setting.input.object->path);
  execution->debugs_ = debugging.trace || !debugging.dumps.empty() || debugging.coverage;
  return execution;
}

void Execution::prepare(machine::RunOptions& run) {
  text_.clear();
  traced_ = 0;
  lines_ = json::array();
  dumps_ = json::array();
  run.schedule = run_.schedule;
  run.seed = run_.seed;
  run.strict = run_.strict;
  run.instruction_budget = run_.instruction_budget;
  run.wall_budget = run_.wall_budget;
  if (!debugs_) return;
  const std::optional<unsigned> lane = debugging_.trace ? debugging_.trace->lane : std::nullopt;
  debugging_.on_line = [this, lane](const machine::TraceLine& line) {
    if (traced_++ >= limit_) return;
    if (json_)
      lines_.push_back(report::to_json(line, disassembly_, lane));
    else
      text_ += report::text_of(line, disassembly_, lane);
  };
  debugging_.on_dump = [this](const machine::Dump& dump) {
    if (json_)
      dumps_.push_back(report::to_json(dump, disassembly_));
    else
      text_ += report::text_of(dump, disassembly_);
  };
  run.debugging = &debugging_;
}

std::string Execution::collect(const device::Outcome& outcome, json& document) const {
  std::string text = text_;
  if (debugging_.trace) document["trace"] = lines_;
  if (traced_ > limit_) {
    text += fmt::format("  {} more lines; --trace-limit takes them\n", report::grouped(traced_ - limit_));
    document["trace_lines_left_out"] = traced_ - limit_;
  }
  if (!debugging_.dumps.empty()) document["dumps"] = dumps_;
  if (debugging_.coverage) {
    const auto blocks = report::count_blocks(*program_, *setting_.loaded.image, outcome.executed);
    text += report::text_of(blocks);
    document["coverage"] = report::to_json(blocks);
  }
  if (!outcome.standing.empty()) {
    text += report::text_of(outcome.standing, disassembly_);
    document["standing"] = report::to_json(outcome.standing, disassembly_);
  }
  if (run_.strict) {
    text += report::text_of(outcome.strict, disassembly_);
    document["strict"] = report::to_json(outcome.strict, disassembly_);
  }
  return text;
}

} // namespace asmevo::cli
