#include "launch/infer/probe.h"

#include <algorithm>

namespace asmevo::launch {

namespace {

// Each pointer leads into the middle of its own range; between ranges nothing is mapped.
constexpr uint64_t first_pointer = 0x6000'0000'0000;
constexpr uint64_t pointer_stride = uint64_t{64} << 30;
constexpr uint64_t before = uint64_t{256} << 20, after = uint64_t{4} << 30;
constexpr uint64_t image_base = 0x5000'0000'0000, kernarg_base = 0x5800'0000'0000, packet_base = 0x5900'0000'0000;
constexpr uint64_t instruction_budget = 200'000'000;

bool is_pointer(const object::KernelArgument& a) {
  return a.size == 8 && (a.value_kind == "global_buffer" || a.value_kind == "dynamic_shared_pointer");
}

void note_access(const machine::Trace& trace, const machine::TraceEvent& event, const isa::Instruction& instruction,
                 const Owner& owner, GroupUse& use, uint64_t& lds_bytes) {
  for (uint32_t id = event.pattern; id != machine::no_pattern; id = trace.patterns[id].next) {
    const machine::AccessPattern& access = trace.patterns[id];
    for (uint32_t offset : access.offset) {
      if (offset == machine::inactive_lane) continue;
      uint64_t address = event.base + offset;
      if (access.space == machine::Space::lds) {
        lds_bytes = std::max(lds_bytes, address + access.bytes);
        continue;
      }
      auto argument = owner(address);
      if (!argument) continue;
      int64_t first = int64_t(address - (first_pointer + *argument / 8 * pointer_stride));
      PointerUse& pointer = use.pointers[*argument];
      bool reads = !access.write || instruction.traits.atomic;
      if (reads) pointer.read.add(first, first + access.bytes);
      if (access.write) pointer.written.add(first, first + access.bytes);
      if (instruction.traits.atomic) pointer.atomic.add(first, first + access.bytes);
    }
  }
}

} // namespace

bool GroupUse::stores() const {
  return std::ranges::any_of(pointers, [](const auto& entry) { return !entry.second.written.empty(); });
}

Prober::Prober(const machine::Image& image, const object::Kernel& kernel, const volatile bool* stop)
    : image_(image), kernel_(kernel), stop_(stop) {
  if (!kernel.metadata) return;
  for (const object::KernelArgument& a : kernel.metadata->args) {
    if (a.value_kind.starts_with("hidden_") || a.size == 0 || a.offset >= 4096) continue;
    (is_pointer(a) ? pointers_ : scalars_).push_back(a);
  }
}

std::string Prober::name_of(const object::KernelArgument& argument) const {
  size_t index = 0, same = 0;
  for (const object::KernelArgument& a : kernel_.metadata->args) {
    if (a.offset < argument.offset && !a.value_kind.starts_with("hidden_")) ++index;
    same += a.name == argument.name;
  }
  return argument.name.empty() || same > 1 ? fmt::format("arg{}", index) : argument.name;
}

Case Prober::case_of(const Trial& trial) const {
  Case c;
  c.workgroups = trial.workgroups;
  c.workgroup_size = trial.workgroup_size;
  c.dynamic_lds = trial.dynamic_lds;
  for (const object::KernelArgument& p : pointers_)
    c.arguments.push_back({.offset = p.offset, .size = 8, .buffer = fmt::format("{}", p.offset)});
  for (const auto& [offset, value] : trial.scalars)
    c.arguments.push_back({.offset = offset, .size = uint32_t(value.size()), .value = value});
  return c;
}

Result<ProbeResult> Prober::run(const Trial& trial, std::vector<uint32_t> workgroups) const {
  machine::Memory memory;
  AE_CHECK(image_.load(memory, image_base));
  std::map<std::string, uint64_t> addresses;
  for (const object::KernelArgument& p : pointers_) {
    uint64_t address = first_pointer + p.offset / 8 * pointer_stride;
    addresses[fmt::format("{}", p.offset)] = address;
    AE_CHECK(memory.map(address - before, before + after, machine::Access::read_write, name_of(p)));
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
  machine::RunOptions options{
      .instruction_budget = instruction_budget, .traced = std::move(workgroups), .only_traced = true, .stop = stop_};
  AE_TRY(machine::RunResult run, machine::run(image_, dispatch, memory, options));

  ProbeResult result;
  result.completed = run.status == machine::Status::completed;
  if (run.status == machine::Status::stopped) return fail("{}: stopped", image_.object().path);
  if (run.fault)
    result.fault = run.fault->message;
  else if (!result.completed)
    result.fault = "does not finish";
  Owner owner = [&](uint64_t address) -> std::optional<uint32_t> {
    for (const object::KernelArgument& p : pointers_) {
      uint64_t pointer = first_pointer + p.offset / 8 * pointer_stride;
      if (address >= pointer - before && address < pointer + after) return p.offset;
    }
    return std::nullopt;
  };
  for (const machine::WaveTrace& wave : run.trace.waves) {
    GroupUse& use = result.groups[wave.workgroup];
    use.instructions += wave.events.size();
    for (const machine::TraceEvent& event : wave.events)
      if (event.pattern != machine::no_pattern)
        note_access(run.trace, event, image_.instructions()[event.instruction], owner, use, result.lds_bytes);
    vote(image_, run.trace, wave, owner, kernarg_base, result.types);
  }
  return result;
}

} // namespace asmevo::launch
