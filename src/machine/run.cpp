#include "machine/scheduler.h"

#include <new>
#include <thread>

namespace asmevo::machine {

namespace {

constexpr uint32_t max_resident = 1024;
constexpr uint64_t resident_memory = uint64_t{2} << 30; // host bytes for register files

uint32_t resident_limit(const LaunchPlan& plan) {
  const uint64_t bytes = uint64_t{plan.rows()} * sizeof(Row) * plan.max_waves + plan.lds_size +
                         uint64_t{plan.scratch_bytes} * lanes * plan.max_waves;
  return uint32_t(std::clamp<uint64_t>(resident_memory / bytes, 1, std::min<uint64_t>(max_resident, plan.workgroups)));
}

void fill_fidelity(const LaunchPlan& plan, const Totals& totals, RunResult& result) {
  result.instructions = totals.instructions;
  result.waves = totals.waves;
  result.fidelity.approximate = totals.approximate;
  result.fidelity.exact = totals.instructions - totals.approximate;
  auto& names = result.fidelity.approximate_mnemonics;
  for (size_t k = 0; k < totals.approximate_seen.size(); ++k)
    if (totals.approximate_seen[k]) names.emplace_back(isa::name_of(plan.image->instructions[k]));
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
}

uint32_t thread_count(const LaunchPlan& plan, const RunOptions& options, uint64_t workgroups) {
  if (plan.image->communicates || Watching::needs_order(options)) return 1;
  const uint64_t wanted = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  return uint32_t(std::min(wanted, workgroups));
}

} // namespace

Result<RunResult> run(const Image& image, const Dispatch& dispatch, Memory& memory, const RunOptions& options) {
  AE_TRY(LaunchPlan plan, plan_launch(image, dispatch, memory));
  if (options.undefined_seed) leave_undefined(plan, options.undefined_seed);
  for (uint32_t id : options.traced)
    if (id >= plan.workgroups)
      return fail("{}: workgroup {} is to be traced, there are {}", image.object().path, id, plan.workgroups);
  if (!options.traced.empty() && Watching::wanted(options))
    return fail("{}: a run that is traced for timing is neither strict nor debugged, and its loads are not late",
                image.object().path);
  Watching watching(plan, options);
  const Selection selection{plan, options, watching};
  const uint32_t threads = thread_count(plan, options, selection.count());
  const uint32_t slots = std::max(threads, resident_limit(plan));
  AE_TRY(const Scratch scratch, Scratch::map(plan, memory, slots));
  RunResult result;
  Totals totals;
  try {
    if (threads < 2 || !run_parallel(selection, memory, scratch, threads, result, totals)) {
      result = {};
      totals = {};
      run_serial(selection, memory, scratch, slots, result, totals);
    }
  } catch (const std::bad_alloc&) {
    return fail("{}: no host memory for {} bytes of registers a wave", image.object().path, plan.rows() * sizeof(Row));
  }
  watching.finish(result);
  fill_fidelity(plan, totals, result);
  return result;
}

} // namespace asmevo::machine
