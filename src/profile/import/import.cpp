// Which format a path is, by what is in it.
#include "profile/import.h"

#include "profile/import/match.h"

#include <algorithm>
#include <filesystem>

namespace asmevo::profile {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t deepest = 64;

/// Members that the readers look at; all others are dropped while parsing, which most of such a file is.
constexpr std::string_view used[] = {"code",
                                     "header",
                                     "rocprofiler-sdk-tool",
                                     "buffer_records",
                                     "pc_sample_stochastic",
                                     "pc_sample_host_trap",
                                     "record",
                                     "pc",
                                     "code_object_id",
                                     "code_object_offset",
                                     "wave_issued",
                                     "snapshot",
                                     "stall_reason",
                                     "inst_index",
                                     "strings",
                                     "pc_sample_instructions"};

/// Builds the document without those members.
class Reader : public nlohmann::json_sax<json> {
public:
  json document;
  std::string problem;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t&) override { return add(nullptr); }
  bool key(std::string& name) override {
    if (skipped_ == 0) {
      skip_next_ = std::ranges::find(used, name) == std::end(used);
      key_ = std::move(name);
    }
    return true;
  }
  bool start_object(size_t) override { return start(json::object()); }
  bool start_array(size_t) override { return start(json::array()); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }
  bool parse_error(size_t, const std::string&, const json::exception& error) override {
    problem = error.what();
    return false;
  }

private:
  /// Where a value goes; null where it is not wanted.
  json* place() {
    if (skipped_ > 0 || std::exchange(skip_next_, false)) return nullptr;
    if (open_.empty()) return &document;
    if (open_.back()->is_object()) return &(*open_.back())[key_];
    open_.back()->push_back(nullptr);
    return &open_.back()->back();
  }

  template <class T> bool add(T&& value) {
    if (json* at = place()) *at = std::forward<T>(value);
    return true;
  }

  bool start(json container) {
    json* at = place();
    if (!at) {
      ++skipped_;
      return true;
    }
    *at = std::move(container);
    open_.push_back(at);
    if (open_.size() <= deepest) return true;
    problem = fmt::format("nested deeper than {}", deepest);
    return false;
  }

  bool end() {
    if (skipped_ > 0)
      --skipped_;
    else
      open_.pop_back();
    return true;
  }

  std::vector<json*> open_; // containers, the innermost last; only that one grows
  std::string key_;
  bool skip_next_ = false;
  size_t skipped_ = 0; // containers open that are not wanted
};

Result<json> parse(std::string_view text, const std::string& path) {
  Reader reader;
  if (!json::sax_parse(text, &reader)) return fail("{}: is no JSON document: {}", path, reader.problem);
  return std::move(reader.document);
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
  return text.starts_with(std::string_view("SQLite format 3\0", 16)) ? read_rocpd(path) : read_text(text, path);
}

} // namespace

Result<Reading> read_text(std::string_view text, const std::string& path) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return fail("{}: is empty", path);
  if (text[first] != '{') return read_csv(text, path);
  AE_TRY(const json document, parse(text, path));
  if (document.is_object() && document.contains("code")) return read_code_json(document, path);
  if (document.is_object() && document.contains("rocprofiler-sdk-tool")) return read_samples_json(document, path);
  return fail("{}: has neither code (rocprof-compute-viewer) nor rocprofiler-sdk-tool (rocprofv3)", path);
}

Result<Profile> import_profile(const std::string& path, const Subject& subject) {
  AE_TRY(const std::string file, file_of(path));
  AE_TRY(const Reading reading, read(file));
  return match(reading, subject, file);
}

} // namespace asmevo::profile
