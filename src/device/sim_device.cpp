// The simulated device: the functional machine for results, the timing model for time.
//
// A launch is a world of its own: fresh memory, the object loaded, buffers filled, and after the run everything that a
// kernel may have touched is compared or read back. Timing needs no results, only the paths that waves take and where
// their accesses go, so it runs nothing but the sampled workgroups.
#include "device/device.h"
#include "device/dispatch_packet.h"
#include "device/placement.h"
#include "machine/debug/debugging.h"
#include "recover/descriptor.h"

#include <algorithm>
#include <atomic>

namespace asmevo::device {

namespace {

/// Memory of one launch, and the dispatch that runs in it.
struct World {
  machine::Memory memory;
  Placement placement;
  machine::Dispatch dispatch;
};

Result<void> map_bytes(machine::Memory& memory, uint64_t address, uint64_t size, std::span<const uint8_t> bytes,
                       std::string name) {
  AE_TRY(auto mapped, memory.map(address, size, machine::Access::read_only, std::move(name)));
  std::ranges::copy(bytes, mapped.begin());
  return {};
}

/// Compilers round reads of the kernarg segment up and the runtime allocates in such units, so what follows it is
/// zeros.
uint64_t mapped_kernarg_size(const launch::Case& c, const object::Kernel& kernel) {
  return (uint64_t{launch::kernarg_size(c, kernel)} + 255) / 256 * 256 + 256;
}

Result<std::shared_ptr<World>> build_world(const Loaded& loaded, const launch::Case& c, KeptInputs& inputs,
                                           uint64_t poison_seed, unsigned placement) {
  if (!loaded.image) return fail("{}: is not loaded on the simulated device", loaded.object->path);
  auto world = std::make_shared<World>();
  world->placement = place(c, placement);
  const Placement& at = world->placement;
  machine::Memory& memory = world->memory;
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(loaded.image->object(), c.kernel));
  AE_CHECK(loaded.image->load(memory, at.image_base));
  AE_CHECK(map_buffers(memory, c, at, inputs, poison_seed));
  Bytes kernarg = launch::kernarg_bytes(c, *kernel, at.addresses());
  AE_CHECK(map_bytes(memory, at.kernarg_address, mapped_kernarg_size(c, *kernel), kernarg, "kernarg segment"));
  Bytes packet = dispatch_packet(c, *kernel, at.image_base + kernel->descriptor_address, at.kernarg_address);
  AE_CHECK(map_bytes(memory, at.packet_address, packet_bytes, packet, "dispatch packet"));
  AE_CHECK(map_bytes(memory, at.queue_address, queue_bytes, {}, "queue"));
  world->dispatch = {.kernel = kernel,
                     .load_base = at.image_base,
                     .kernarg_address = at.kernarg_address,
                     .workgroups = c.workgroups,
                     .workgroup_size = c.workgroup_size,
                     .grid_size = c.work_items,
                     .dynamic_lds = c.dynamic_lds,
                     .dispatch_ptr = at.packet_address,
                     .queue_ptr = at.queue_address};
  return world;
}

/// Another case in the memory of a world: its scalars and its inputs.
Result<void> change_case(World& world, const launch::Case& c, KeptInputs& inputs, uint64_t poison_seed) {
  Placement next = world.placement;
  if (c.buffers.size() != next.buffers.size()) return fail("{}: an earlier launch has other buffers", c.where);
  for (size_t i = 0; i < c.buffers.size(); ++i) {
    const launch::Buffer& before = *next.buffers[i].buffer;
    if (c.buffers[i].name != before.name || c.buffers[i].bytes() != before.bytes())
      return fail("{}: an earlier launch has other buffers", c.where);
    next.buffers[i].buffer = &c.buffers[i];
  }
  world.placement = std::move(next);
  AE_CHECK(refill_inputs(world.memory, c, world.placement, inputs, poison_seed));
  world.memory.unmap(world.placement.kernarg_address);
  Bytes kernarg = launch::kernarg_bytes(c, *world.dispatch.kernel, world.placement.addresses());
  AE_CHECK(map_bytes(world.memory, world.placement.kernarg_address, mapped_kernarg_size(c, *world.dispatch.kernel),
                     kernarg, "kernarg segment"));
  world.dispatch.workgroups = c.workgroups;
  world.dispatch.workgroup_size = c.workgroup_size;
  world.dispatch.grid_size = c.work_items;
  world.dispatch.dynamic_lds = c.dynamic_lds;
  return {};
}

const PlacedBuffer* input_at(const Placement& placement, uint64_t address) {
  for (const PlacedBuffer& placed : placement.buffers)
    if (placed.buffer->role == launch::Role::in && placed.holds(address)) return &placed;
  return nullptr;
}

/// Inputs are mapped read-only, so a fault inside one can only be a store to it.
void judge_fault(const machine::Fault& fault, const Placement& placement, Outcome& outcome) {
  const PlacedBuffer* input = input_at(placement, fault.data_address);
  if (!input) return;
  bool inside = fault.data_address >= input->address && fault.data_address < input->end();
  std::string text = fmt::format("{} (workgroup {}, wave {}, lane {}, at {:#x} of the object)", fault.message,
                                 fault.workgroup, fault.wave, fault.lane, fault.address);
  (inside ? outcome.read_only_damage : outcome.guard_damage).push_back(std::move(text));
}

/// Runs once in `world` and adds to `outcome`. False when nothing more can be run.
Result<bool> run_in(World& world, const machine::Image& image, const LaunchOptions& options, Outcome& outcome) {
  AE_TRY(machine::RunResult result, machine::run(image, world.dispatch, world.memory, options.run));
  outcome.status = result.status;
  outcome.fault = std::move(result.fault);
  outcome.instructions = result.instructions;
  outcome.fidelity = std::move(result.fidelity);
  outcome.standing = std::move(result.standing);
  outcome.strict = std::move(result.strict);
  outcome.executed = std::move(result.executed);
  if (outcome.fault && outcome.status == machine::Status::fault) judge_fault(*outcome.fault, world.placement, outcome);
  std::ranges::move(guard_damage(world.memory, world.placement, options.poison_seed),
                    std::back_inserter(outcome.guard_damage));
  return outcome.status == machine::Status::completed && outcome.guard_damage.empty();
}

/// Likewise, and finds out who stored to the watched bytes.
Result<bool> run_watched(World& world, const machine::Image& image, const LaunchOptions& options, Outcome& outcome) {
  if (options.watched.empty()) return run_in(world, image, options, outcome);
  std::vector<uint64_t> bytes;
  for (const Place& place : options.watched)
    for (const PlacedBuffer& placed : world.placement.buffers)
      if (placed.buffer->name == place.buffer) bytes.push_back(placed.address + place.offset);
  if (bytes.size() != options.watched.size()) return fail("{}: no such buffer is watched", image.object().path);
  outcome.writers.assign(bytes.size(), std::nullopt);
  machine::Debugging debugging{.trace = machine::TraceFilter{.stored = bytes}};
  debugging.on_line = [&](const machine::TraceLine& line) {
    const isa::Instruction& i = image.instructions()[line.instruction];
    for (const machine::TracedAccess& access : line.accesses)
      for (const machine::TracedAccess::Lane& lane : access.lanes)
        for (size_t k = 0; access.write && k < bytes.size(); ++k)
          if (bytes[k] - lane.address < access.bytes)
            outcome.writers[k] = Writer{i.address, isa::name_of(i), line.workgroup, line.wave, lane.lane};
  };
  LaunchOptions watching = options;
  watching.run.debugging = &debugging;
  return run_in(world, image, watching, outcome);
}

std::map<std::string, Contents> results_of(const std::shared_ptr<World>& world) {
  std::map<std::string, Contents> results;
  for (const PlacedBuffer& placed : world->placement.buffers)
    if (launch::is_result(placed.buffer->role))
      results[placed.buffer->name] = Contents(world, contents(world->memory, placed));
  return results;
}

class SimDevice : public Device {
public:
  SimDevice(isa::Codec codec, const timing::DeviceTable& table) : codec_(std::move(codec)), table_(table) {}

  std::string description() const override { return fmt::format("simulated {}", timing::device_name(table_)); }
  bool simulated() const override { return true; }

  Result<Loaded> load(std::shared_ptr<const object::CodeObject> object) override {
    AE_TRY(isa::Target target, isa::target_from_elf(object->e_flags, object->abi_version, object->path));
    if (target.processor != codec_.target().processor)
      return fail("{}: is for {}, the device is a {}", object->path, isa::processor_name(target.processor),
                  isa::processor_name(codec_.target().processor));
    AE_TRY(machine::Image image, machine::Image::create(object, codec_));
    return Loaded{std::move(object), std::move(image)};
  }

  Result<Outcome> launch(const Loaded& loaded, const launch::Case& c, const LaunchOptions& options) override {
    const launch::Case& first = options.earlier.empty() ? c : options.earlier.front().c;
    AE_TRY(auto world, build_world(loaded, first, inputs_, options.poison_seed, options.placement));
    for (size_t i = 0; i < options.earlier.size(); ++i) {
      const EarlierLaunch& earlier = options.earlier[i];
      if (i > 0) AE_CHECK(change_case(*world, earlier.c, inputs_, options.poison_seed));
      LaunchOptions here = options;
      here.run.schedule = earlier.schedule.value_or(options.run.schedule);
      world->dispatch.preload = earlier.preload;
      Outcome outcome;
      AE_TRY(bool going, run_in(*world, *loaded.image, here, outcome));
      if (outcome.status == machine::Status::completed) outcome.buffers = results_of(world);
      if (options.on_earlier) going &= options.on_earlier(outcome);
      if (!going) return outcome;
    }
    if (!options.earlier.empty()) AE_CHECK(change_case(*world, c, inputs_, options.poison_seed));
    world->dispatch.preload = options.preload;
    Outcome outcome;
    AE_CHECK(run_watched(*world, *loaded.image, options, outcome));
    if (outcome.status != machine::Status::completed) return outcome;
    outcome.buffers = results_of(world);
    for (const PlacedBuffer& placed : world->placement.buffers)
      if (!launch::is_result(placed.buffer->role)) world->memory.unmap(placed.region_base());
    return outcome;
  }

  Result<timing::Estimate> time(const Loaded& loaded, const launch::Case& c, const TimeOptions& options) override {
    AE_TRY(auto world, build_world(loaded, c, inputs_, 1, 0));
    isa::Processor processor = codec_.target().processor;
    uint32_t items = c.workgroup_size[0] * c.workgroup_size[1] * c.workgroup_size[2];
    timing::Work work{.image = &*loaded.image,
                      .resources = recover::declared_resources(world->dispatch.kernel->descriptor, codec_.target()),
                      .workgroups = c.workgroups,
                      .workgroup_size = items,
                      .dynamic_lds = c.dynamic_lds};
    if (options.resources) work.resources = *options.resources, work.dynamic_lds = 0;
    isa::Occupancy occupancy = isa::occupancy(work.resources, processor, items, work.dynamic_lds);
    machine::RunOptions sampling = timing::sampling(*loaded.image, c.workgroups, occupancy, table_);
    if (options.instruction_budget > 0) sampling.instruction_budget = options.instruction_budget;
    // Several threads need a copy of what may be written, which costs more than they save where little is executed.
    constexpr uint64_t little = 100'000;
    if (sampled_ > 0 && sampled_ < little) sampling.threads = 1;
    AE_TRY(machine::RunResult result, machine::run(*loaded.image, world->dispatch, world->memory, sampling));
    if (result.status != machine::Status::completed)
      return fail("{}: cannot be timed: {}", loaded.object->path,
                  result.fault ? result.fault->message : "it did not finish");
    sampled_ = result.instructions;
    work.trace = &result.trace;
    const timing::EstimateOptions how{.draws = options.draws,
                                      .seed = options.seed,
                                      .attribution = options.attribution,
                                      .timeline = options.timeline,
                                      .sensitivity = options.sensitivity,
                                      .power_limited = options.power_limited};
    AE_TRY(timing::Estimate estimate, timing::estimate(work, table_, how));
    estimate.executed = result.instructions;
    if (options.rehearsal) {
      auto trace = std::make_shared<const machine::Trace>(std::move(result.trace));
      AE_TRY(estimate.rehearsal, timing::rehearse(work, std::move(trace), table_, how));
    }
    return estimate;
  }

private:
  isa::Codec codec_;
  const timing::DeviceTable& table_;
  KeptInputs inputs_;
  std::atomic<uint64_t> sampled_{0}; // instructions that the last estimate took; 0: there was none
};

} // namespace

Result<std::unique_ptr<Device>> make_simulated(const isa::Target& target, const std::string& part) {
  const timing::DeviceTable* table = &timing::device_for(target.processor);
  if (!part.empty()) {
    AE_TRY(table, timing::device_named(part));
  }
  AE_TRY(isa::Codec codec, isa::Codec::create(target));
  return std::make_unique<SimDevice>(std::move(codec), *table);
}

} // namespace asmevo::device
