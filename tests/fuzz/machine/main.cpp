// Differential fuzzing of the simulated machine against the host's compiler.
//
//   fuzz_machine -count=5000 -targets=gfx908,gfx90a,gfx942,gfx950 -csmith=500 -jobs=2 -seed=1
//
// One random source is compiled by clang for x86-64 and for a device target at -O0 to -O3. The host runs the one, the
// machine the other, and every value that a work-item leaves behind must agree. Programs come in batches, to pay for
// a compiler's start once: count of the tool's own generator and csmith of csmith's, for each target. A mismatch
// prints what repeats it (-seed=N -count=1 -level=L -targets=T -keep=DIR keeps source and code object there), and makes
// the exit status 1. A kept source can be cut down and tried again: -file=batch.c with the same -seed and -count.
#include "batch.h"
#include "generator.h"
#include "isa/codec.h"
#include "machine/machine.h"
#include "support/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

using namespace asmevo;
using namespace asmevo::fuzz;

namespace {

struct Options {
  uint64_t seed = 1;
  std::optional<unsigned> count; // of own programs: 100, or one of a file
  unsigned csmith = 0, jobs = 1, batch = 20;
  int level = -1; // -1: by batch
  std::vector<isa::Processor> targets;
  std::string keep, file;
};

/// A program that the compiler, not the machine, gets wrong. Each is proved in docs/testing.md, and a test of its own
/// says so while it is true.
struct Explained {
  Source source;
  uint64_t seed;
  unsigned first_level; // lower ones are right
  std::string_view why;
};
constexpr Explained explained[] = {
    {Source::csmith, 6329, 2, "SIFoldOperands of LLVM 22 replaces x | ~0 by x"},
};

struct Tally {
  std::atomic<uint64_t> agreed = 0, different = 0, explained = 0, faults = 0, unsettled = 0, instructions = 0;
};

std::mutex output;
void say(std::string_view text) {
  std::lock_guard lock(output);
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

Result<uint64_t> number(std::string_view text, std::string_view what, uint64_t limit) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > limit)
    return fail("fuzz_machine: {}: \"{}\" is no number up to {}; options are written -name=value", what, text, limit);
  return value;
}

/// The part of an AQL dispatch packet that compiled code reads: how large the workgroup and the grid are.
std::array<uint8_t, 64> dispatch_packet() {
  std::array<uint8_t, 64> packet{};
  const uint16_t workgroup[3] = {items, 1, 1};
  const uint32_t grid[3] = {items, 1, 1};
  std::memcpy(&packet[4], workgroup, sizeof workgroup);
  std::memcpy(&packet[12], grid, sizeof grid);
  return packet;
}

/// Results of one kernel on the machine.
Result<std::vector<uint64_t>> run_kernel(const machine::Image& image, const object::Kernel& kernel,
                                         const std::vector<uint32_t>& in, Tally& tally) {
  constexpr uint64_t image_base = 0x10000000, in_base = 0x20000000, out_base = 0x30000000, kernarg_base = 0x40000000,
                     packet_base = 0x50000000;
  machine::Memory memory;
  AE_CHECK(image.load(memory, image_base));
  std::vector<uint64_t> results(size_t{items} * results_per_item);
  const uint64_t arguments[2] = {in_base, out_base};
  AE_TRY(auto input, memory.map(in_base, in.size() * 4, machine::Access::read_only, "in"));
  AE_TRY(auto out, memory.map(out_base, results.size() * 8, machine::Access::read_write, "out"));
  AE_TRY(auto kernarg, memory.map(kernarg_base, 512, machine::Access::read_only, "kernarg"));
  std::memcpy(input.data(), in.data(), input.size());
  std::memcpy(kernarg.data(), arguments, sizeof arguments);
  AE_TRY(auto packet, memory.map(packet_base, 64, machine::Access::read_only, "dispatch packet"));
  std::ranges::copy(dispatch_packet(), packet.begin());
  machine::Dispatch dispatch{.kernel = &kernel, .load_base = image_base, .kernarg_address = kernarg_base};
  dispatch.workgroup_size = {items, 1, 1};
  dispatch.dispatch_ptr = packet_base;
  AE_TRY(const auto run, machine::run(image, dispatch, memory, {.instruction_budget = 600'000'000, .threads = 1}));
  tally.instructions += run.instructions;
  if (run.status != machine::Status::completed)
    return fail("{}", run.fault ? fmt::format("pc {:#x}: {}", run.fault->address, run.fault->message) : "did not end");
  std::memcpy(results.data(), out.data(), out.size());
  return results;
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

const Explained* explanation(const Batch& batch, unsigned k, unsigned level) {
  for (const Explained& known : explained)
    if (known.source == batch.source && known.seed == batch.first_seed + k && level >= known.first_level) return &known;
  return nullptr;
}

void judge(const std::vector<uint64_t>& want, const Result<std::vector<uint64_t>>& got, const Explained* known,
           const std::string& repeat, Tally& tally) {
  if (!got) {
    ++tally.faults;
    return say(fmt::format("FAULT {}: {}", repeat, got.error().message));
  }
  const auto [expected, found] = std::ranges::mismatch(want, *got);
  if (expected == want.end()) {
    ++tally.agreed;
    return;
  }
  if (known) {
    ++tally.explained;
    return say(fmt::format("EXPLAINED {}: {}", repeat, known->why));
  }
  ++tally.different;
  const size_t at = size_t(expected - want.begin());
  say(fmt::format("DIFFERENT {}: work-item {}, value {}: {:#x} instead of {:#x}", repeat, at % items, at / items,
                  *found, *expected));
}

Result<void> run_target(const Batch& batch, const std::string& folder, const Results& want, isa::Processor target,
                        unsigned level, Tally& tally) {
  AE_TRY(const std::string path, compile_for_device(folder, target, level));
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(auto object, object::read_code_object(std::move(bytes), path));
  AE_TRY(const isa::Target decoded, isa::target_from_elf(object.e_flags, object.abi_version, path));
  AE_TRY(const isa::Codec codec, isa::Codec::create(decoded));
  auto shared = std::make_shared<const object::CodeObject>(std::move(object));
  AE_TRY(const machine::Image image, machine::Image::create(shared, codec));
  for (const object::Kernel& kernel : shared->kernels) {
    AE_TRY(const uint64_t k,
           number(std::string_view(kernel.name).substr(1), path + ": kernel " + kernel.name, want.size() - 1));
    if (want[k].empty())
      ++tally.unsettled;
    else
      judge(want[k], run_kernel(image, kernel, input_of(batch, unsigned(k)), tally),
            explanation(batch, unsigned(k), level), repeat_with(batch, unsigned(k), target, level), tally);
  }
  return {};
}

Result<void> run_batch(const Batch& batch, unsigned number, const std::string& folder, const Options& options,
                       std::map<isa::Processor, Tally>& tallies) {
  std::filesystem::create_directories(folder);
  AE_CHECK(write_source(batch, folder));
  AE_TRY(const Results want, run_on_host(batch, folder));
  for (const isa::Processor target : options.targets)
    AE_CHECK(run_target(batch, folder, want, target,
                        options.level < 0 ? (number + unsigned(target)) % 4 : unsigned(options.level),
                        tallies.at(target)));
  return {};
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

Result<void> set_option(std::string_view argument, Options& o, std::string& targets) {
  const size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals),
                         value = equals == std::string_view::npos ? "" : argument.substr(equals + 1);
  for (const NumberOption& option : number_options) {
    if (option.name != name) continue;
    AE_TRY(const uint64_t n, number(value, name, option.most));
    if (n < option.least) return fail("fuzz_machine: {}: {} is less than {}", name, n, option.least);
    option.set(o, n);
    return {};
  }
  for (const auto& [text, place] : {std::pair{"-targets", &targets}, {"-keep", &o.keep}, {"-file", &o.file}}) {
    if (name != text) continue;
    if (value.empty()) return fail("fuzz_machine: {} wants a value: {}=...", name, name);
    *place = value;
    return {};
  }
  return fail("fuzz_machine: unknown option {}", argument);
}

Result<Options> parse(int argc, char** argv) {
  Options o;
  std::string targets = "gfx908,gfx90a,gfx942,gfx950";
  for (int i = 1; i < argc; ++i) AE_CHECK(set_option(argv[i], o, targets));
  for (size_t at = 0; at < targets.size();) {
    const size_t end = std::min(targets.find_first_of(", ", at), targets.size());
    AE_TRY(const isa::Processor p, isa::processor_from_name(targets.substr(at, end - at)));
    o.targets.push_back(p);
    at = end + 1;
  }
  return o;
}

int fuzz_all(const Options& options) {
  std::map<isa::Processor, Tally> tallies;
  for (const isa::Processor target : options.targets) tallies.try_emplace(target);
  const std::string folder =
      options.keep.empty()
          ? std::string(std::filesystem::temp_directory_path() / fmt::format("fuzz_machine.{}", getpid()))
          : options.keep;
  const std::vector<Batch> batches = batches_of(options);
  std::atomic<size_t> next = 0, broken = 0;
  auto work = [&] {
    for (size_t k; (k = next++) < batches.size();) {
      const std::string place = fmt::format("{}/{}", folder, k);
      if (auto done = run_batch(batches[k], unsigned(k), place, options, tallies); !done)
        ++broken, say("BROKEN " + done.error().message);
      else if (options.keep.empty())
        std::filesystem::remove_all(place);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned k = 1; k < options.jobs; ++k) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (options.keep.empty()) std::filesystem::remove_all(folder);
  bool clean = broken == 0;
  for (const auto& [target, tally] : tallies) {
    say(fmt::format(
        "{}: {} agreed, {} different, {} explained, {} faults, {} not settled by the host; {} wave-instructions",
        isa::processor_name(target), tally.agreed.load(), tally.different.load(), tally.explained.load(),
        tally.faults.load(), tally.unsettled.load(), tally.instructions.load()));
    clean &= tally.different == 0 && tally.faults == 0;
  }
  return clean ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().message);
    return 2;
  }
  return fuzz_all(*options);
}
