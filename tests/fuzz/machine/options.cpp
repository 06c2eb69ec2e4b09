#include "options.h"

#include <atomic>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace asmevo::fuzz {

namespace {

struct NumberOption {
  std::string_view name;
  uint64_t least, most;
  void (*set)(Options&, uint64_t);
};
constexpr uint64_t millions = 100'000'000;
constexpr NumberOption number_options[] = {
    {"-seed", 0, ~uint64_t{0}, [](Options& o, uint64_t n) { o.seed = n; }},
    {"-count", 0, millions, [](Options& o, uint64_t n) { o.count = unsigned(n); }},
    {"-csmith", 0, millions, [](Options& o, uint64_t n) { o.csmith = unsigned(n); }},
    {"-jobs", 1, 1024, [](Options& o, uint64_t n) { o.jobs = unsigned(n); }},
    {"-batch", 1, 1000, [](Options& o, uint64_t n) { o.batch = unsigned(n); }},
    {"-level", 0, 3, [](Options& o, uint64_t n) { o.level = int(n); }},
};

Result<void> set_option(std::string_view tool, std::string_view argument, Options& o, std::string& targets) {
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals),
                         value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
  for (const NumberOption& option : number_options) {
    if (option.name != name) continue;
    AE_TRY(const uint64_t n, parse_number(tool, value, name, option.most));
    if (n < option.least) return fail("{}: {}: {} is less than {}", tool, name, n, option.least);
    option.set(o, n);
    return {};
  }
  for (const auto& [text, place] : {std::pair{"-targets", &targets}, {"-keep", &o.keep}, {"-file", &o.file}}) {
    if (name != text) continue;
    if (value.empty()) return fail("{}: {} wants a value: {}=...", tool, name, name);
    *place = value;
    return {};
  }
  return fail("{}: unknown option {}", tool, argument);
}

} // namespace

Result<uint64_t> parse_number(std::string_view tool, std::string_view text, std::string_view what, uint64_t limit) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > limit)
    return fail("{}: {}: \"{}\" is no number up to {}; options are written -name=value", tool, what, text, limit);
  return value;
}

Result<Options> parse_options(std::string_view tool, int argc, char** argv) {
  Options o;
  std::string targets = "gfx908,gfx90a,gfx942,gfx950";
  for (int i = 1; i < argc; ++i) AE_CHECK(set_option(tool, argv[i], o, targets));
  for (size_t at = 0; at < targets.size();) {
    const size_t end = std::min(targets.find_first_of(", ", at), targets.size());
    AE_TRY(const isa::Processor p, isa::processor_from_name(targets.substr(at, end - at)));
    o.targets.push_back(p);
    at = end + 1;
  }
  return o;
}

std::vector<Batch> batches_of(const Options& options) {
  if (!options.file.empty())
    return {{Source::file, options.seed, std::max(options.count.value_or(1), 1u), options.file}};
  std::vector<Batch> batches;
  const unsigned count = options.count.value_or(100);
  for (unsigned done = 0; done < count; done += options.batch)
    batches.push_back({Source::own, options.seed + done, std::min(options.batch, count - done)});
  for (unsigned k = 0; k < options.csmith; ++k) batches.push_back({Source::csmith, options.seed + k, 1});
  return batches;
}

unsigned level_of(const Options& options, unsigned number, isa::Processor target) {
  return options.level < 0 ? (number + unsigned(target)) % 4 : unsigned(options.level);
}

std::string repeat_with(const Batch& batch, unsigned k, isa::Processor target, unsigned level) {
  const std::string how = fmt::format("-level={} -targets={}", level, isa::processor_name(target));
  switch (batch.source) {
  case Source::own:
    return fmt::format("-seed={} -count=1 {}", batch.first_seed + k, how);
  case Source::csmith:
    return fmt::format("-seed={} -count=0 -csmith=1 {}", batch.first_seed, how);
  case Source::file:
    break;
  }
  return fmt::format("k{} of -file={} -seed={} -count={} {}", k, batch.path, batch.first_seed, batch.count, how);
}

void say(std::string_view text) {
  static std::mutex output;
  std::lock_guard lock(output);
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

bool for_each_batch(std::string_view tool, const Options& options, const BatchWork& work) {
  const std::string folder =
      options.keep.empty() ? std::string(std::filesystem::temp_directory_path() / fmt::format("{}.{}", tool, getpid()))
                           : options.keep;
  const std::vector<Batch> batches = batches_of(options);
  std::atomic<size_t> next = 0, broken = 0;
  const auto run = [&] {
    for (size_t k; (k = next++) < batches.size();) {
      const std::string place = fmt::format("{}/{}", folder, k);
      std::filesystem::create_directories(place);
      if (auto done = work(batches[k], unsigned(k), place); !done)
        ++broken, say("BROKEN " + done.error().message);
      else if (options.keep.empty())
        std::filesystem::remove_all(place);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 1; k < options.jobs; ++k) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
  if (options.keep.empty()) std::filesystem::remove_all(folder);
  return broken == 0;
}

} // namespace asmevo::fuzz
