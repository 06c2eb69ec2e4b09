// JSON of rocprofv3 and of rocprof-compute-viewer.
//
// Sample files reach hundreds of megabytes, so they are parsed without positions; a message names the element instead
// (code[17]). Every value is checked for its type before it is used.
#include "profile/import/record.h"

#include <algorithm>
#include <cmath>

namespace asmevo::profile {

namespace {

using nlohmann::json;

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::optional<double> amount(const json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  return std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> address(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  return std::nullopt;
}

std::string id_text(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Column names of code.json, which are a list or, in older versions, one text.
std::vector<std::string> header_of(const json& document) {
  std::vector<std::string> names;
  const json* header = member(document, "header");
  if (!header) return names;
  if (header->is_array())
    for (const json& name : *header) names.push_back(name.is_string() ? name.get<std::string>() : "");
  if (header->is_string()) {
    std::string text = header->get<std::string>();
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      const size_t first = std::min(text.find_first_not_of(' ', begin), end);
      names.push_back(text.substr(first, end - first));
      begin = end + 1;
    }
  }
  return names;
}

class CodeJson {
public:
  CodeJson(const json& document, const std::string& path) : path_(path) {
    const std::vector<std::string> names = header_of(document);
    for (size_t i = 0; i < names.size(); ++i) at_.emplace(names[i], i);
  }

  bool has(const char* column) const { return at_.contains(column); }

  /// Nothing for a row that only names a kernel.
  Result<std::optional<Record>> record(const json& row, size_t number) const {
    const auto place = [&] { return fmt::format("{}: code[{}]", path_, number); };
    if (!row.is_array()) return fail("{}: is no list", place());
    const json* text = cell(row, "ISA");
    if (!text || !text->is_string()) return fail("{}: ISA is no text", place());
    if (text->get_ref<const std::string&>().starts_with(';')) return std::optional<Record>();
    Record record{.text = text->get<std::string>()};
    const json *object = cell(row, "Codeobj"), *vaddr = cell(row, "Vaddr");
    record.address = vaddr ? address(*vaddr) : std::nullopt;
    if (!record.address) return fail("{}: Vaddr is no address", place());
    if (object) record.code_object = id_text(*object);
    double latency = 0;
    for (const auto& [column, into] : {std::pair("Hit", &record.issues), std::pair("Latency", &latency),
                                       std::pair("Stall", &record.stall), std::pair("Idle", &record.idle)}) {
      const json* value = cell(row, column);
      const auto found = value ? amount(*value) : std::nullopt;
      if (!found) return fail("{}: {} is no amount", place(), column);
      *into = *found;
    }
    record.issued = std::max(0.0, latency - record.stall);
    return std::optional(std::move(record));
  }

  /// The columns of PC samples.
  Result<Record> samples(const json& row, Record record, size_t number) const {
    record.issues = record.issued = record.stall = record.idle = 0;
    const json *issued = cell(row, "PC_Issued"), *reasons = cell(row, "Stall_Reasons"),
               *stalled = cell(row, "PC_Stalled");
    const auto count = issued ? amount(*issued) : std::nullopt;
    const auto all = stalled ? amount(*stalled) : std::nullopt;
    if (!count || !all || !reasons || !reasons->is_array() || reasons->size() > not_issued_count)
      return fail("{}: code[{}]: PC_Issued, PC_Stalled and Stall_Reasons are no counts", path_, number);
    record.issued = *count;
    double named = 0;
    for (size_t i = 0; i < reasons->size(); ++i) {
      const auto value = amount((*reasons)[i]);
      if (!value) return fail("{}: code[{}]: Stall_Reasons[{}] is no count", path_, number, i);
      record.not_issued[i] = *value;
      named += *value;
    }
    if (named > *all)
      return fail("{}: code[{}]: {} samples by reason, but {} stalled in all", path_, number, named, *all);
    record.not_issued[size_t(NotIssued::none)] += *all - named;
    return record;
  }

private:
  const json* cell(const json& row, const char* column) const {
    const auto found = at_.find(column);
    return found == at_.end() || found->second >= row.size() ? nullptr : &row[found->second];
  }

  const std::string& path_;
  std::map<std::string, size_t> at_;
};

} // namespace

std::optional<NotIssued> not_issued_from(std::string_view name) {
  constexpr std::string_view prefix = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
  constexpr std::string_view names[] = {
      "NONE",         "NO_INSTRUCTION_AVAILABLE", "ALU_DEPENDENCY",       "WAITCNT",    "INTERNAL_INSTRUCTION",
      "BARRIER_WAIT", "ARBITER_NOT_WIN",          "ARBITER_WIN_EX_STALL", "OTHER_WAIT", "SLEEP_WAIT"};
  static_assert(std::size(names) == not_issued_count);
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const auto* found = std::ranges::find(names, name);
  return found == std::end(names) ? std::nullopt : std::optional(NotIssued(found - names));
}

Result<Reading> read_code_json(const json& document, const std::string& path) {
  const CodeJson code(document, path);
  for (const char* column : {"ISA", "Vaddr", "Hit", "Latency", "Stall", "Idle"})
    if (!code.has(column)) return fail("{}: its header has no column {}", path, column);
  const json* rows = member(document, "code");
  if (!rows || !rows->is_array()) return fail("{}: has no code: the trace was not decoded", path);

  Reading traced{.source = "thread trace of rocprof-compute-viewer", .unit = "clk"};
  Reading sampled{.source = "PC samples of rocprof-compute-viewer", .unit = "samples"};
  double clocks = 0, samples = 0;
  const bool has_samples = code.has("PC_Issued");
  for (size_t i = 0; i < rows->size(); ++i) {
    AE_TRY(std::optional<Record> record, code.record((*rows)[i], i));
    if (!record) continue;
    clocks += record->issued + record->stall + record->idle;
    if (has_samples) {
      AE_TRY(Record counted, code.samples((*rows)[i], *record, i));
      samples += counted.issued + std::accumulate(counted.not_issued.begin(), counted.not_issued.end(), 0.0);
      sampled.records.push_back(std::move(counted));
    }
    traced.records.push_back(std::move(*record));
  }
  if (clocks == 0) return has_samples ? std::move(sampled) : std::move(traced);
  if (samples > 0) traced.notes.push_back(fmt::format("{} PC samples beside the thread trace were left out", samples));
  return traced;
}

Result<Reading> read_samples_json(const json& document, const std::string& path) {
  const json* tool = member(document, "rocprofiler-sdk-tool");
  std::vector<const json*> processes;
  if (tool && tool->is_array())
    for (const json& process : *tool) processes.push_back(&process);
  else if (tool)
    processes.push_back(tool);

  Reading reading{.source = "rocprofv3 PC samples", .unit = "samples"};
  for (size_t p = 0; p < processes.size(); ++p) {
    const json* buffers = member(*processes[p], "buffer_records");
    const json* strings = member(*processes[p], "strings");
    const json* texts = strings ? member(*strings, "pc_sample_instructions") : nullptr;
    for (const char* kind : {"pc_sample_stochastic", "pc_sample_host_trap"}) {
      const json* records = buffers ? member(*buffers, kind) : nullptr;
      if (!records || !records->is_array()) continue;
      for (size_t i = 0; i < records->size(); ++i) {
        const auto place = [&] { return fmt::format("{}: {}[{}]", path, kind, i); };
        const json& entry = (*records)[i];
        const json* record = member(entry, "record");
        const json* pc = record ? member(*record, "pc") : nullptr;
        const json* offset = pc ? member(*pc, "code_object_offset") : nullptr;
        const json* object = pc ? member(*pc, "code_object_id") : nullptr;
        Record r{.address = offset ? address(*offset) : std::nullopt};
        if (!r.address || !object) return fail("{}: has no code_object_id and code_object_offset", place());
        r.code_object = fmt::format("{}{}", processes.size() > 1 ? fmt::format("{}:", p) : "", id_text(*object));
        const json* index = member(entry, "inst_index");
        if (texts && texts->is_array() && index && index->is_number_integer() && index->get<int64_t>() >= 0) {
          const auto at = index->get<uint64_t>();
          if (at >= texts->size() || !(*texts)[at].is_string())
            return fail("{}: inst_index {} is not in pc_sample_instructions", place(), at);
          r.text = (*texts)[at].get<std::string>();
        }
        const json* issued = member(*record, "wave_issued");
        if (!issued) {
          r.plain = 1;
        } else if (*issued == 1 || *issued == true) {
          r.issued = 1;
        } else {
          const json* snapshot = member(*record, "snapshot");
          const json* name = snapshot ? member(*snapshot, "stall_reason") : nullptr;
          const auto reason =
              name && name->is_string() ? not_issued_from(name->get_ref<const std::string&>()) : std::nullopt;
          if (!reason) return fail("{}: did not issue, and has no stall_reason that is known", place());
          r.not_issued[size_t(*reason)] = 1;
        }
        reading.records.push_back(std::move(r));
      }
    }
  }
  if (reading.records.empty())
    return fail("{}: has no PC samples (buffer_records.pc_sample_stochastic, pc_sample_host_trap)", path);
  return reading;
}

} // namespace asmevo::profile
