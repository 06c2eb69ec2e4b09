#include "cli/children.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace asmevo::cli {
namespace {

/// A file without a name. -1 where there is none.
int nameless_file() {
  std::string path = "/tmp/asmevo-XXXXXX";
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) unlink(path.c_str());
  return file;
}

std::string content_of(int file) {
  std::string text(size_t(std::max<off_t>(lseek(file, 0, SEEK_END), 0)), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), 0);
  text.resize(size_t(std::max<ssize_t>(got, 0)));
  return text;
}

std::string last_line_of(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

struct Child {
  size_t index = 0;
  int output = -1, errors = -1;
};

class Children {
public:
  Children(const std::vector<std::vector<std::string>>& lists, const std::function<void(size_t, ChildEnd)>& ended)
      : lists_(lists), ended_(ended) {}
  ~Children() {
    for (auto& [process, child] : running_) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
      forget(child);
    }
  }

  size_t running() const { return running_.size(); }

  Result<void> begin(size_t index) {
    Child child{index, nameless_file(), nameless_file()};
    std::vector<std::string> words = {"asmevo"};
    words.insert(words.end(), lists_[index].begin(), lists_[index].end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, child.output, 1);
    posix_spawn_file_actions_adddup2(&files, child.errors, 2);
    pid_t process = -1;
    const int error = child.output < 0 || child.errors < 0
                          ? errno
                          : posix_spawn(&process, "/proc/self/exe", &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    if (error) {
      forget(child);
      return fail("cannot begin a process: {}", std::strerror(error));
    }
    running_[process] = child;
    return {};
  }

  void interrupt() {
    for (const auto& [process, child] : running_) kill(process, SIGINT);
  }

  /// Takes up those that have ended.
  bool collect() {
    bool any = false;
    for (auto at = running_.begin(); at != running_.end();) {
      int status = 0;
      if (waitpid(at->first, &status, WNOHANG) == 0) {
        ++at;
        continue;
      }
      const Child child = at->second;
      at = running_.erase(at);
      const std::string errors = content_of(child.errors);
      ChildEnd end{WIFEXITED(status) ? WEXITSTATUS(status) : tool_fault, content_of(child.output),
                   WIFEXITED(status) ? last_line_of(errors) : fmt::format("killed by signal {}", WTERMSIG(status))};
      forget(child);
      ended_(child.index, std::move(end));
      any = true;
    }
    return any;
  }

private:
  static void forget(const Child& child) {
    if (child.output >= 0) close(child.output);
    if (child.errors >= 0) close(child.errors);
  }

  const std::vector<std::vector<std::string>>& lists_;
  const std::function<void(size_t, ChildEnd)>& ended_;
  std::map<pid_t, Child> running_;
};

} // namespace

Result<void> run_children(const std::vector<std::vector<std::string>>& lists, unsigned jobs, const volatile bool* stop,
                          const std::function<void(size_t, ChildEnd)>& ended) {
  Children children(lists, ended);
  size_t next = 0;
  bool told = false;
  while (true) {
    if (*stop && !told) {
      children.interrupt();
      told = true;
    }
    while (!*stop && next < lists.size() && children.running() < std::max(jobs, 1u)) AE_CHECK(children.begin(next++));
    if (children.running() == 0) return {};
    if (!children.collect()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Result<ChildEnd> run_child(const std::vector<std::string>& arguments, const volatile bool* stop) {
  ChildEnd end{.status = interrupted};
  AE_CHECK(run_children({arguments}, 1, stop, [&](size_t, ChildEnd e) { end = std::move(e); }));
  return end;
}

} // namespace asmevo::cli
