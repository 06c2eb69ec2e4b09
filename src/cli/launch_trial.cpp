#include "cli/launch_trial.h"

#include "oracle/oracle.h"
#include "recover/recover.h"
#include "report/execution.h"

#include <set>

namespace asmevo::cli {
namespace {

constexpr size_t most_values = 4096;

std::string trouble_of(const device::Outcome& outcome) {
  if (!outcome.guard_damage.empty()) return outcome.guard_damage.front();
  if (!outcome.read_only_damage.empty()) return outcome.read_only_damage.front();
  if (outcome.status == machine::Status::completed) return {};
  return outcome.fault ? outcome.fault->message : "does not finish";
}

/// Elements that are the same whatever the buffer held before are results. Of one value they would show little.
void count_results(const launch::Case& c, const device::Outcome& one, const device::Outcome& other, CaseTrial& trial) {
  std::set<uint64_t> values;
  for (const auto& [name, content] : one.buffers) {
    const launch::Buffer& buffer = *c.buffer(name);
    const auto again = other.buffers.find(name);
    if (again == other.buffers.end() || again->second.size() != content.size()) continue;
    for (uint64_t i = 0; i < buffer.elements(); ++i) {
      const uint64_t bits = launch::load_element(buffer.dtype, content.data(), i);
      if (bits != launch::load_element(buffer.dtype, again->second.data(), i)) continue;
      ++trial.results;
      if (values.size() < most_values) values.insert(bits);
    }
  }
  trial.varied = values.size();
}

Result<std::string> judge(device::Device& device, const device::Loaded& loaded, const launch::Launch& launch,
                          const launch::Case& c, const volatile bool* stop) {
  launch::Launch only = launch;
  only.cases = {c};
  const oracle::Options options{.seed = 1, .stop = stop};
  auto reference = oracle::Reference::create(device, loaded, std::move(only), oracle::default_policy(), options);
  if (!reference) return reference.error().message;
  AE_TRY(oracle::Judgement judgement, oracle::verify(device, *reference, loaded, options));
  return judgement.finding == oracle::Finding::equivalent ? std::string() : judgement.evidence;
}

} // namespace

Result<LaunchTrial> try_launch(const Input& input, device::Device& device, const launch::Launch& launch,
                               const volatile bool* stop) {
  AE_TRY(device::Loaded loaded, device.load(input.object));
  LaunchTrial trial;
  std::vector<uint64_t> executed(loaded.image->instructions().size());
  for (const launch::Case& c : launch.cases) {
    machine::Debugging debugging;
    debugging.coverage = true;
    device::LaunchOptions options;
    options.run.stop = stop;
    options.run.debugging = &debugging;
    AE_TRY(device::Outcome outcome, device.launch(loaded, c, options));
    CaseTrial& one = trial.cases.emplace_back(
        CaseTrial{.name = c.name, .instructions = outcome.instructions, .trouble = trouble_of(outcome)});
    if (!one.trouble.empty()) continue;
    AE_TRY(one.trouble, judge(device, loaded, launch, c, stop));
    if (!one.trouble.empty()) continue;
    for (size_t i = 0; i < outcome.executed.size(); ++i) executed[i] += outcome.executed[i];
    device::LaunchOptions again;
    again.poison_seed = 2;
    again.run.stop = stop;
    AE_TRY(device::Outcome other, device.launch(loaded, c, again));
    count_results(c, outcome, other, one);
  }
  const auto program = recover::recover(input.object, input.codec);
  if (!program) return trial;
  for (const report::BlockCount& block : report::count_blocks(*program, *loaded.image, executed)) {
    if (block.function != launch.kernel) continue;
    ++trial.blocks;
    trial.covered += block.executed > 0;
  }
  return trial;
}

} // namespace asmevo::cli
