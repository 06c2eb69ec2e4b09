#include "launch/infer/probe.h"

#include <algorithm>
#include <ctime>

namespace asmevo::launch {

namespace {

// Each pointer leads into its own range; between ranges nothing is mapped.
constexpr uint64_t first_pointer = 0x6000'0000'0000;
constexpr uint64_t pointer_stride = uint64_t{64} << 30;
constexpr uint64_t before = uint64_t{4} << 20, after = uint64_t{64} << 20;
constexpr uint64_t image_base = 0x5000'0000'0000, kernarg_base = 0x5800'0000'0000, packet_base = 0x5900'0000'0000;
constexpr uint64_t probe_budget = 600'000, total_budget = 60'000'000; // wave-instructions
constexpr uint64_t probe_cost = 10'000; // of a probe besides its instructions, in instructions
constexpr double most_seconds = 20;
constexpr uint32_t largest_offset = 4096;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

uint64_t address_of(uint32_t pointer) { return first_pointer + pointer / 8 * pointer_stride; }

bool is_pointer(const object::KernelArgument& a) {
  return a.size == 8 && (a.value_kind == "global_buffer" || a.value_kind == "dynamic_shared_pointer");
}

std::string identifier(std::string_view name) {
  std::string out = std::isdigit(uint8_t(name[0])) ? "_" : "";
  for (char c : name) out += std::isalnum(uint8_t(c)) ? c : '_';
  return out;
}

/// Kernarg dwords that are in registers when a wave starts (LLVM AMDGPUUsage, "Preloaded Kernel Arguments").
Preloaded preloaded_of(const object::KernelDescriptor& d) {
  constexpr std::pair<unsigned, uint32_t> before_it[] = {{1, 4}, {2, 2}, {4, 2}, {8, 2}, {16, 2}, {32, 2}, {64, 1}};
  Preloaded p{.count = d.kernarg_preload() & 127u, .offset = uint32_t(d.kernarg_preload()) >> 7};
  p.offset *= 4;
  for (auto [bit, registers] : before_it)
    if (d.kernel_code_properties() & bit) p.first += registers;
  return p;
}

/// Lanes of a pattern as intervals relative to its base, neighbours joined. Patterns repeat, so it is done once each.
class Intervals {
public:
  explicit Intervals(const machine::Trace& trace) : trace_(trace), known_(trace.patterns.size()) {}

  const std::vector<std::pair<uint32_t, uint32_t>>& of(uint32_t id) {
    auto& list = known_[id];
    if (!list.empty()) return list;
    const machine::AccessPattern& pattern = trace_.patterns[id];
    std::vector<uint32_t> offsets;
    for (uint32_t o : pattern.offset)
      if (o != machine::inactive_lane) offsets.push_back(o);
    std::ranges::sort(offsets);
    for (uint32_t o : offsets)
      if (!list.empty() && o <= list.back().second)
        list.back().second = std::max(list.back().second, o + pattern.bytes);
      else
        list.emplace_back(o, o + pattern.bytes);
    return list;
  }

private:
  const machine::Trace& trace_;
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> known_;
};

} // namespace

bool GroupUse::stores() const {
  return std::ranges::any_of(pointers, [](const auto& entry) { return !entry.second.written.empty(); });
}

Prober::Prober(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop)
    : image_(image), kernel_(kernel), stop_(stop), preloaded_(preloaded_of(kernel.descriptor)),
      started_(processor_seconds()) {
  if (!kernel.metadata) return;
  const auto& args = kernel.metadata->args;
  size_t index = 0;
  for (const object::KernelArgument& a : args) {
    if (a.value_kind.starts_with("hidden_") || a.size == 0 || a.offset >= largest_offset) continue;
    auto same = std::ranges::count(args, a.name, &object::KernelArgument::name);
    std::string name = a.name.empty() || same > 1 ? fmt::format("arg{}", index) : identifier(a.name);
    ++index;
    if (is_pointer(a)) {
      pointers_.push_back({name, a.offset, 8});
    } else if (a.size <= 8) {
      scalars_.push_back({name, a.offset, a.size});
    } else {
      for (uint32_t at = 0; at < a.size; at += 4)
        scalars_.push_back({fmt::format("{}_{}", name, at), a.offset + at, std::min(4u, a.size - at)});
    }
  }
}

bool Prober::split_wide_scalars() {
  std::vector<Slot> split;
  for (const Slot& s : scalars_) {
    if (s.size != 8) {
      split.push_back(s);
      continue;
    }
    for (uint32_t at : {0u, 4u}) split.push_back({fmt::format("{}_{}", s.name, at), s.offset + at, 4});
  }
  const bool changed = split.size() != scalars_.size();
  scalars_ = std::move(split);
  return changed;
}

bool Prober::tired() const {
  return spent_ > total_budget * 2 / 3 || processor_seconds() - started_ > most_seconds * 2 / 3;
}

Case Prober::case_of(const Trial& trial) const {
  Case c;
  c.workgroups = trial.workgroups;
  c.workgroup_size = trial.workgroup_size;
  c.dynamic_lds = trial.dynamic_lds;
  for (const Slot& p : pointers_)
    c.arguments.push_back({.offset = p.offset, .size = 8, .buffer = fmt::format("{}", p.offset)});
  for (const auto& [offset, value] : trial.scalars)
    c.arguments.push_back({.offset = offset, .size = uint32_t(value.size()), .value = value});
  return c;
}

std::optional<uint32_t> Prober::owner_of(uint64_t address) const {
  if (address + before < first_pointer) return std::nullopt;
  uint32_t pointer = uint32_t((address + before - first_pointer) / pointer_stride * 8);
  if (address >= address_of(pointer) + after) return std::nullopt;
  bool known = std::ranges::any_of(pointers_, [&](const Slot& p) { return p.offset / 8 * 8 == pointer; });
  return known ? std::optional(pointer) : std::nullopt;
}

Result<ProbeResult> Prober::run(const Trial& trial, std::vector<uint32_t> workgroups, bool flow) {
  if (spent_ > total_budget || processor_seconds() - started_ > most_seconds)
    return fail("{}: kernel `{}` takes more than the {} instructions that are spent on inferring a launch",
                image_.object().path, kernel_.name, total_budget);
  machine::Memory memory;
  AE_CHECK(image_.load(memory, image_base));
  std::map<std::string, uint64_t> addresses;
  for (const Slot& p : pointers_) {
    addresses[fmt::format("{}", p.offset)] = address_of(p.offset);
    AE_TRY(auto range, memory.map(address_of(p.offset) - before, before + after, machine::Access::read_write, p.name));
    auto content = trial.contents.find(p.offset);
    if (content == trial.contents.end()) continue;
    const int64_t at = int64_t(before) + content->second.first;
    if (at < 0 || uint64_t(at) + content->second.bytes.size() > range.size()) continue;
    std::ranges::copy(content->second.bytes, range.begin() + at);
  }
  Bytes kernarg = kernarg_bytes(case_of(trial), kernel_, addresses);
  AE_TRY(auto segment, memory.map(kernarg_base, kernarg.size() + 512, machine::Access::read_only, "kernarg segment"));
  std::ranges::copy(kernarg, segment.begin());
  AE_CHECK(memory.map(packet_base, 4096, machine::Access::read_only, "dispatch packet"));

  std::ranges::sort(workgroups);
  machine::Dispatch dispatch{.kernel = &kernel_,
                             .load_base = image_base,
                             .kernarg_address = kernarg_base,
                             .workgroups = trial.workgroups,
                             .workgroup_size = trial.workgroup_size,
                             .dynamic_lds = trial.dynamic_lds,
                             .dispatch_ptr = packet_base,
                             .queue_ptr = packet_base};
  machine::RunOptions options{.instruction_budget = probe_budget,
                              .threads = 1,
                              .traced = std::move(workgroups),
                              .only_traced = true,
                              .stop = stop_};
  AE_TRY(machine::RunResult run, machine::run(image_, dispatch, memory, options));
  spent_ += run.instructions + probe_cost;

  ProbeResult result;
  result.instructions = run.instructions;
  result.completed = run.status == machine::Status::completed;
  if (run.status == machine::Status::stopped) return fail("{}: stopped", image_.object().path);
  if (run.fault)
    result.fault = run.fault->message;
  else if (!result.completed)
    result.fault = fmt::format("does not finish within {} instructions", probe_budget);
  read_traces(run, flow, result);
  return result;
}

void Prober::read_traces(const machine::RunResult& run, bool flow, ProbeResult& result) const {
  result.executed.resize(image_.instructions().size());
  Intervals intervals(run.trace);
  std::map<uint32_t, Extent> all;
  uint64_t stored_by_waves = 0;
  for (const machine::WaveTrace& wave : run.trace.waves) {
    GroupUse& use = result.groups[wave.workgroup];
    use.instructions += wave.events.size();
    std::map<uint32_t, Extent> stored;
    for (const machine::TraceEvent& event : wave.events) {
      result.executed[event.instruction] = true;
      const isa::Instruction& instruction = image_.instructions()[event.instruction];
      for (uint32_t id = event.pattern; id != machine::no_pattern; id = run.trace.patterns[id].next) {
        const machine::AccessPattern& access = run.trace.patterns[id];
        const auto& lanes = intervals.of(id);
        if (lanes.empty()) continue;
        if (access.space == machine::Space::lds) {
          result.lds_bytes = std::max<uint64_t>(result.lds_bytes, event.base + lanes.back().second);
          continue;
        }
        for (auto [from, to] : lanes) {
          auto argument = owner_of(event.base + from);
          if (!argument) continue;
          const int64_t first = int64_t(event.base + from - address_of(*argument)), last = first + int64_t(to - from);
          PointerUse& pointer = use.pointers[*argument];
          if (!access.write || instruction.traits.atomic) pointer.read.add(first, last);
          if (instruction.traits.atomic) pointer.atomic.add(first, last);
          if (access.write || instruction.traits.atomic) pointer.written.add(first, last);
          if (access.write && !instruction.traits.atomic) stored[*argument].add(first, last);
        }
      }
    }
    for (auto& [argument, extent] : stored) {
      stored_by_waves += extent.bytes();
      all[argument].add(extent);
    }
  }
  for (const auto& [argument, extent] : all) result.collisions += extent.bytes();
  result.collisions = stored_by_waves - result.collisions;
  for (const auto& [id, group] : result.groups)
    for (const auto& [argument, pointer] : group.pointers) all[argument].add(pointer.written);
  for (const auto& [argument, extent] : all) result.stored += extent.bytes();
  std::set<uint32_t> touched;
  for (const auto& [id, group] : result.groups)
    for (const auto& [argument, pointer] : group.pointers) touched.insert(argument);
  result.pointers = touched.size();
  if (!flow || run.trace.waves.empty()) return;
  Owner owner = [&](uint64_t address) { return owner_of(address); };
  for (const machine::WaveTrace& wave : run.trace.waves)
    vote(image_, run.trace, wave, owner, kernarg_base, result.votes);
  follow(image_, run.trace, run.trace.waves[0].workgroup, owner, kernarg_base, preloaded_, result.flow);
  for (const auto& [argument, votes] : result.flow.types)
    if (!result.votes.elements.contains(argument)) result.votes.elements[argument] = votes;
}

} // namespace asmevo::launch
