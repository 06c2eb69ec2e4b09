#include "cli/children.h"

#include "agent/child_process.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace asmevo::cli {
namespace {

constexpr size_t most_output = size_t{256} << 20; // bytes

std::string last_line_of(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

/// Nothing where it was stopped: what it had recorded stays.
Result<std::optional<ChildEnd>> run_one(const std::vector<std::string>& arguments, const volatile bool* stop) {
  std::vector<std::string> command = {"/proc/self/exe"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  AE_TRY(agent::ChildProcess child, agent::ChildProcess::start(command));
  child.close_input();
  ChildEnd end;
  const auto event =
      child.all_output({.until = agent::ChildProcess::Moment::max(), .output = most_output, .stop = stop}, end.output);
  if (event == agent::ChildProcess::Event::stopped) return std::nullopt;
  const std::string ending = child.ending();
  end.status = child.exit_status().value_or(tool_fault);
  end.last_line = child.complaints().empty() ? ending : last_line_of(child.complaints());
  return end;
}

} // namespace

Result<void> run_children(const std::vector<std::vector<std::string>>& lists, unsigned jobs, const volatile bool* stop,
                          const std::function<void(size_t, ChildEnd)>& ended) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  Result<void> result;
  const auto work = [&] {
    for (size_t index = next++; index < lists.size() && !*stop; index = next++) {
      auto end = run_one(lists[index], stop);
      const std::lock_guard lock(mutex);
      if (!end)
        result = std::unexpected(end.error());
      else if (*end)
        ended(index, *std::move(*end));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t k = 0; k < std::min<size_t>(std::max(jobs, 1u), lists.size()); ++k) threads.emplace_back(work);
  }
  return result;
}

Result<ChildEnd> run_child(const std::vector<std::string>& arguments, const volatile bool* stop) {
  ChildEnd end{.status = interrupted};
  AE_CHECK(run_children({arguments}, 1, stop, [&](size_t, ChildEnd e) { end = std::move(e); }));
  return end;
}

} // namespace asmevo::cli
