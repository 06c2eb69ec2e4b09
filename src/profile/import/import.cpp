// Which format a path is, by what is in it.
#include "profile/import.h"

#include "profile/import/match.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::profile {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int deepest = 64;

/// Members that are large and of no use here.
constexpr std::string_view skipped[] = {"hip_api",         "hsa_api",
                                        "marker_api",      "rccl_api",
                                        "rocdecode_api",   "rocjpeg_api",
                                        "kernel_dispatch", "memory_copy",
                                        "hw_id",           "corr_id",
                                        "wrkgrp_id",       "memory_allocation",
                                        "scratch_memory",  "counter_collection",
                                        "host_functions",  "callback_records"};

Result<json> parse(std::string_view text, const std::string& path) {
  const auto wanted = [](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key)
      return std::ranges::find(skipped, parsed.get_ref<const std::string&>()) == std::end(skipped);
    return depth <= deepest;
  };
  try {
    return json::parse(text, wanted);
  } catch (const json::exception& error) {
    return fail("{}: is no JSON document: {}", path, error.what());
  }
}

/// The file to read of a folder: a viewer's, or a workload of rocprof-compute.
Result<std::string> file_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return path;
  for (const char* name : {"code.json", "pmc_perf.csv"})
    if (fs::is_regular_file(fs::path(path) / name, error)) return (fs::path(path) / name).string();
  std::vector<std::string> found; // in ui_output_agent_..._dispatch_...
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    if (fs::is_regular_file(entry->path() / "code.json", error))
      found.push_back((entry->path() / "code.json").string());
  if (found.empty()) return fail("{}: has no code.json and no pmc_perf.csv", path);
  if (found.size() > 1) {
    std::ranges::sort(found);
    return fail("{}: has {} traces, as {}; name one", path, found.size(), found.front());
  }
  return found.front();
}

Result<Reading> read(const std::string& path) {
  AE_TRY(const Bytes bytes, read_file(path));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(std::string_view("SQLite format 3\0", 16))) return read_rocpd(path);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return fail("{}: is empty", path);
  if (text[first] != '{') return read_csv(text, path);
  AE_TRY(const json document, parse(text, path));
  if (document.is_object() && document.contains("code")) return read_code_json(document, path);
  if (document.is_object() && document.contains("rocprofiler-sdk-tool")) return read_samples_json(document, path);
  return fail("{}: has neither code (rocprof-compute-viewer) nor rocprofiler-sdk-tool (rocprofv3)", path);
}

} // namespace

Result<Profile> import_profile(const std::string& path, const Subject& subject) {
  AE_TRY(const std::string file, file_of(path));
  AE_TRY(const Reading reading, read(file));
  return match(reading, subject, file);
}

} // namespace asmevo::profile
