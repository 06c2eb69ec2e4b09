// What the readers of profilers' files hand over, before anything is matched with an object.
#pragma once

#include "profile/profile.h"
#include "support/result.h"

#include <map>
#include <nlohmann/json.hpp>
#include <span>

namespace asmevo::profile {

/// Why hardware says that a sampled wave did not issue, in the order of rocprofiler's enumeration (pc_sampling.h,
/// rocprofiler_pc_sampling_instruction_not_issued_reason_t), which files use as an index.
enum class NotIssued : uint8_t {
  none,
  no_instruction_available,
  alu_dependency,
  waitcnt,
  internal_instruction,
  barrier_wait,
  arbiter_not_win,
  arbiter_win_ex_stall,
  other_wait,
  sleep_wait,
  count_
};
inline constexpr size_t not_issued_count = size_t(NotIssued::count_);
/// From the enumerator's name, with or without its prefix. Nothing for others.
std::optional<NotIssued> not_issued_from(std::string_view name);

/// What is known of one instruction.
struct Record {
  std::string code_object;         // as the file numbers them
  std::optional<uint64_t> address; // in the object; nothing: the text alone says which instruction it is
  std::string text;                // empty where the file has none
  std::string dispatch;            // of records without address
  double issues = 0;
  double issued = 0;                                 // samples that issued, or clocks of issue
  std::array<double, not_issued_count> not_issued{}; // samples
  double plain = 0;                                  // samples of which only the place is known
  double stall = 0, idle = 0;                        // clocks of a thread trace
};

/// A counter of one dispatch.
struct CounterValue {
  std::string kernel, dispatch, name;
  double value = 0;
};

struct Reading {
  std::string source, unit;
  std::vector<Record> records;
  std::vector<CounterValue> counters;
  std::vector<std::string> notes;
};

// One a format. `path` is for messages.
Result<Reading> read_code_json(const nlohmann::json& document, const std::string& path);
Result<Reading> read_samples_json(const nlohmann::json& document, const std::string& path);
Result<Reading> read_csv(std::string_view text, const std::string& path);
Result<Reading> read_rocpd(const std::string& path);

/// Any of them but a database, by its content.
Result<Reading> read_text(std::string_view text, const std::string& path);

} // namespace asmevo::profile
