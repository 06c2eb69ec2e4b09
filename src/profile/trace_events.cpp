#include "profile/trace_events.h"

#include "support/json.h"

#include <algorithm>
#include <map>

namespace asmevo::profile {

namespace {

// Numbers of tracks: viewers take 0 for the idle task, and expect a thread's to be its own in all processes.
uint32_t process_of(const timing::Slice& s) { return s.simd + 1; }
uint32_t thread_of(const timing::Slice& s) { return (s.simd + 1) * 100 + s.slot; }

std::string json_string(const std::string& text) { return write_json(nlohmann::json(text)); }

std::string microseconds(int64_t clocks) { return fmt::format("{}.{:03}", clocks / 1000, clocks % 1000); }

class Writer {
public:
  void metadata(uint32_t process, uint32_t thread, const char* what, const std::string& name) {
    next();
    fmt::format_to(std::back_inserter(out_), R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})",
                   process, thread, what, json_string(name));
  }

  void complete(const timing::Slice& s, const std::string& name, const char* category, const std::string& arguments) {
    next();
    fmt::format_to(std::back_inserter(out_),
                   R"({{"ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":"{}","args":{{{}}}}})",
                   process_of(s), thread_of(s), microseconds(s.begin), microseconds(s.end - s.begin), name, category,
                   arguments);
  }

  std::string finish(const std::string& title) {
    return out_ + fmt::format("\n],\"displayTimeUnit\":\"ns\",\"otherData\":{{\"title\":{},\"unit\":"
                              "\"1 ns is one shader clock\"}}}}\n",
                              json_string(title));
  }

private:
  void next() { out_ += std::exchange(first_, false) ? "\n" : ",\n"; }

  std::string out_ = "{\"traceEvents\":[";
  bool first_ = true;
};

/// Each wave from its first slice to its last.
std::vector<timing::Slice> waves_of(const std::vector<timing::Slice>& timeline) {
  std::map<std::pair<uint64_t, uint32_t>, timing::Slice> waves;
  for (const timing::Slice& s : timeline) {
    timing::Slice& wave = waves.try_emplace({s.workgroup, s.wave}, s).first->second;
    wave.begin = std::min(wave.begin, s.begin);
    wave.end = std::max(wave.end, s.end);
  }
  std::vector<timing::Slice> out;
  for (const auto& [id, wave] : waves) out.push_back(wave);
  return out;
}

void name_tracks(Writer& writer, const std::vector<timing::Slice>& waves) {
  std::map<uint32_t, std::string> processes;
  std::map<std::pair<uint32_t, uint32_t>, std::string> threads;
  for (const timing::Slice& s : waves) {
    processes[process_of(s)] = fmt::format("SIMD {}", s.simd);
    threads[{process_of(s), thread_of(s)}] = fmt::format("wave slot {}", s.slot);
  }
  for (const auto& [process, name] : processes) writer.metadata(process, 0, "process_name", name);
  for (const auto& [track, name] : threads) writer.metadata(track.first, track.second, "thread_name", name);
}

} // namespace

std::string trace_events(const std::vector<timing::Slice>& timeline, const TraceNames& names) {
  Writer writer;
  // Enclosing slices come first: of two that begin together the one written first holds the other.
  const std::vector<timing::Slice> waves = waves_of(timeline);
  name_tracks(writer, waves);
  for (const timing::Slice& w : waves)
    writer.complete(w, json_string(fmt::format("workgroup {} wave {}", w.workgroup, w.wave)), "wave", "");

  std::map<uint32_t, std::pair<std::string, std::string>> spelled; // text, and members of args
  for (const timing::Slice& s : timeline) {
    auto [at, fresh] = spelled.try_emplace(s.instruction);
    auto& [text, arguments] = at->second;
    if (fresh) {
      text = names.text(s.instruction);
      arguments = fmt::format(R"("address":"{:#x}","instruction":{})", names.address(s.instruction), json_string(text));
    }
    const std::string name = s.issue ? text : fmt::format("{}: {}", timing::stall_name(s.reason), text);
    writer.complete(s, json_string(name), s.issue ? "issue" : "stall", arguments);
  }
  return writer.finish(names.title);
}

} // namespace asmevo::profile
