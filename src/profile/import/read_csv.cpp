// Three kinds of tables, told apart by their columns: PC samples, statistics of a thread trace, counters.
#include "profile/import/csv.h"
#include "profile/import/record.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace asmevo::profile {

namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

class Columns {
public:
  explicit Columns(const Fields& names) {
    for (size_t i = 0; i < names.size(); ++i) at_.emplace(lower(names[i]), i);
  }
  bool has(const std::vector<std::string_view>& names) const {
    return std::ranges::all_of(names, [&](std::string_view n) { return at_.contains(std::string(n)); });
  }
  /// Empty where there is no such column.
  std::string_view get(const Fields& fields, const std::string& name) const {
    const auto found = at_.find(name);
    return found == at_.end() ? std::string_view() : std::string_view(fields[found->second]);
  }

private:
  std::map<std::string, size_t> at_;
};

std::optional<double> number(std::string_view text) {
  double value = 0;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<uint64_t> address(std::string_view text) {
  uint64_t value = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A table being read: what its rows add to.
struct Table {
  const std::string& path;
  Columns columns;
  Reading reading;

  Result<double> amount(const Fields& fields, const char* name, size_t line) const {
    const std::string_view text = columns.get(fields, name);
    const auto value = number(text);
    if (!value || *value < 0) return fail("{}:{}: {} is \"{}\", which is no amount", path, line, name, text);
    return *value;
  }
};

// rocprofv3: Sample_Timestamp, Exec_Mask, Dispatch_Id, Instruction, Instruction_Comment, Correlation_Id, and from
// stochastic sampling Wave_Issued_Instruction, Instruction_Type, Stall_Reason, Wave_Count.
Result<void> add_sample(Table& table, const Fields& fields, size_t line) {
  Record record{.text = std::string(table.columns.get(fields, "instruction")),
                .dispatch = std::string(table.columns.get(fields, "dispatch_id"))};
  const std::string issued = lower(table.columns.get(fields, "wave_issued_instruction"));
  if (!table.columns.has({"wave_issued_instruction"})) {
    record.plain = 1;
  } else if (issued == "1" || issued == "true") {
    record.issued = 1;
  } else if (issued == "0" || issued == "false") {
    const std::string_view name = table.columns.get(fields, "stall_reason");
    const auto reason = not_issued_from(name);
    if (!reason) return fail("{}:{}: \"{}\" is no reason for not issuing", table.path, line, name);
    record.not_issued[size_t(*reason)] = 1;
  } else {
    return fail("{}:{}: Wave_Issued_Instruction is \"{}\", not 0 or 1", table.path, line, issued);
  }
  table.reading.records.push_back(std::move(record));
  return {};
}

// rocprofv3 --att: CodeObj, Vaddr, Instruction, Hitcount, Latency, Stall, Idle, Source. Latency holds the stall.
Result<void> add_statistics(Table& table, const Fields& fields, size_t line) {
  const std::string_view text = table.columns.get(fields, "instruction");
  if (text.starts_with(';')) return {}; // the name of a kernel
  const std::string_view at = table.columns.get(fields, "vaddr");
  Record record{.code_object = std::string(table.columns.get(fields, "codeobj")),
                .address = address(at),
                .text = std::string(text)};
  if (!record.address) return fail("{}:{}: Vaddr is \"{}\", which is no address", table.path, line, at);
  AE_TRY(record.issues, table.amount(fields, "hitcount", line));
  AE_TRY(const double latency, table.amount(fields, "latency", line));
  AE_TRY(record.stall, table.amount(fields, "stall", line));
  AE_TRY(record.idle, table.amount(fields, "idle", line));
  record.issued = std::max(0.0, latency - record.stall);
  table.reading.records.push_back(std::move(record));
  return {};
}

// A row a counter and dispatch (rocprofv3) ...
Result<void> add_counter(Table& table, const Fields& fields, size_t line) {
  AE_TRY(const double value, table.amount(fields, "counter_value", line));
  table.reading.counters.push_back({.kernel = std::string(table.columns.get(fields, "kernel_name")),
                                    .dispatch = std::string(table.columns.get(fields, "dispatch_id")),
                                    .name = std::string(table.columns.get(fields, "counter_name")),
                                    .value = value});
  return {};
}

// ... or a row a dispatch and a column a counter (rocprof-compute). Columns that describe the dispatch:
constexpr std::string_view dispatch_columns[] = {"dispatch_id",
                                                 "gpu_id",
                                                 "queue_id",
                                                 "queue_index",
                                                 "pid",
                                                 "tid",
                                                 "grid_size",
                                                 "grd",
                                                 "workgroup_size",
                                                 "wgr",
                                                 "lds_per_workgroup",
                                                 "lds",
                                                 "scr",
                                                 "scratch_per_workitem",
                                                 "arch_vgpr",
                                                 "accum_vgpr",
                                                 "sgpr",
                                                 "wave_size",
                                                 "sig",
                                                 "obj",
                                                 "kernel_name",
                                                 "start_timestamp",
                                                 "end_timestamp",
                                                 "correlation_id",
                                                 "kernel_id",
                                                 "node",
                                                 "index",
                                                 ""};

Result<void> add_counters(Table& table, const Fields& names, const Fields& fields, size_t line) {
  const std::string kernel(table.columns.get(fields, "kernel_name"));
  const std::string dispatch(table.columns.get(fields, "dispatch_id"));
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::ranges::find(dispatch_columns, lower(names[i])) != std::end(dispatch_columns) || fields[i].empty())
      continue;
    const auto value = number(fields[i]);
    if (!value) return fail("{}:{}: {} is \"{}\", which is no number", table.path, line, names[i], fields[i]);
    table.reading.counters.push_back({.kernel = kernel,
                                      .dispatch = dispatch.empty() ? fmt::format("row {}", line) : dispatch,
                                      .name = names[i],
                                      .value = *value});
  }
  return {};
}

} // namespace

Result<Reading> read_csv(std::string_view text, const std::string& path) {
  Fields names;
  std::optional<Table> table;
  std::function<Result<void>(const Fields&, size_t)> add;
  const auto choose = [&](const Fields& header) -> Result<void> {
    names = header;
    table.emplace(Table{path, Columns(header), {}});
    Columns& columns = table->columns;
    Reading& reading = table->reading;
    if (columns.has({"sample_timestamp", "dispatch_id", "instruction"})) {
      reading.source = columns.has({"wave_issued_instruction"}) ? "rocprofv3 PC samples (stochastic)"
                                                                : "rocprofv3 PC samples (host trap)";
      reading.unit = "samples";
      add = [&](const Fields& fields, size_t line) { return add_sample(*table, fields, line); };
    } else if (columns.has({"codeobj", "vaddr", "instruction", "hitcount", "latency", "stall", "idle"})) {
      reading.source = "thread trace statistics of rocprofv3";
      reading.unit = "clk";
      add = [&](const Fields& fields, size_t line) { return add_statistics(*table, fields, line); };
    } else if (columns.has({"kernel_name", "counter_name", "counter_value"})) {
      reading.source = "counters of rocprofv3";
      add = [&](const Fields& fields, size_t line) { return add_counter(*table, fields, line); };
    } else if (columns.has({"kernel_name"}) && !columns.has({"kind"})) {
      reading.source = "counters of rocprof-compute";
      add = [&](const Fields& fields, size_t line) { return add_counters(*table, names, fields, line); };
    } else {
      return fail(
          "{}:1: no table that can be read: neither PC samples (Sample_Timestamp, Dispatch_Id, Instruction, ...), "
          "nor thread trace statistics (CodeObj, Vaddr, Instruction, Hitcount, ...), nor counters (Kernel_Name, "
          "...)",
          path);
    }
    return {};
  };
  AE_CHECK(each_row(text, path, choose, [&](const Fields& fields, size_t line) { return add(fields, line); }));
  return std::move(table->reading);
}

} // namespace asmevo::profile
