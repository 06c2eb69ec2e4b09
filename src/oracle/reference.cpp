#include "oracle/reference.h"

#include "support/hash.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace asmevo::oracle {

namespace {

/// What K0 left in one buffer. Poison that is still there marks elements as never written: for certain where the
/// examination saw the same, or where four bytes or more agree; fewer may be K0's own result by accident.
Expected expectation(const launch::Buffer& buffer, Bytes bytes, const CaseFacts& facts, uint64_t poison_seed) {
  ElementSet untouched, ignored = poisoned_elements(buffer, bytes, poison_seed);
  if (ignored.empty()) return make_expected(buffer, std::move(bytes), {}, {});
  auto found = facts.untouched.find(buffer.name);
  const ElementSet* known = found == facts.untouched.end() ? nullptr : &found->second;
  uint64_t elements = buffer.elements(), stretch = std::max(32 / launch::width_of(buffer.dtype), 1u);
  for (uint64_t i = 0; i < elements; ++i) {
    if (!ignored.contains(i)) continue;
    uint64_t first = i / stretch * stretch, end = std::min(first + stretch, elements);
    bool certain = end - first == stretch;
    for (uint64_t j = first; j < end; ++j) certain &= ignored.contains(j);
    if (certain || (known && known->contains(i))) untouched.insert(i, elements);
  }
  return make_expected(buffer, std::move(bytes), std::move(untouched), std::move(ignored));
}

} // namespace

ElementSet poisoned_elements(const launch::Buffer& buffer, std::span<const uint8_t> bytes, uint64_t poison_seed) {
  ElementSet set;
  if (buffer.fill.kind != launch::FillKind::poison) return set;
  constexpr uint64_t part = uint64_t{1} << 20;
  const uint64_t elements = buffer.elements(), size = launch::size_of(buffer.dtype);
  const bool packed = launch::is_packed(buffer.dtype);
  Bytes poison(std::min(part, buffer.bytes()));
  for (uint64_t start = 0; start < buffer.bytes(); start += part) {
    std::span<uint8_t> expected(poison.data(), std::min(part, buffer.bytes() - start));
    launch::fill_poison(poison_seed, buffer.name, start, expected);
    for (uint64_t i = 0; i < expected.size() && !packed; i += size)
      if (std::memcmp(&expected[i], &bytes[start + i], size) == 0) set.insert((start + i) / size, elements);
    for (uint64_t i = 0; packed && i < expected.size() * 2 && start * 2 + i < elements; ++i)
      if (launch::load_element(buffer.dtype, expected.data(), i) ==
          launch::load_element(buffer.dtype, &bytes[start], i))
        set.insert(start * 2 + i, elements);
  }
  return set;
}

std::string fault_text(const device::Outcome& outcome, uint64_t budget) {
  std::string text;
  if (outcome.status == machine::Status::budget && outcome.instructions < budget)
    text = "did not finish in time";
  else if (outcome.status == machine::Status::budget)
    text = fmt::format("did not finish within {} instructions", budget);
  else if (outcome.status == machine::Status::deadlock)
    text = "deadlock: no wave can go on";
  else
    text = "fault";
  if (!outcome.fault) return text;
  const machine::Fault& fault = *outcome.fault;
  if (!fault.message.empty()) text += ": " + fault.message;
  text += fmt::format("\n  at address {:#x} of the object, workgroup {}, wave {}", fault.address, fault.workgroup,
                      fault.wave);
  if (fault.lane >= 0) text += fmt::format(", lane {}", fault.lane);
  return text;
}

Result<device::Outcome> launch_original(device::Device& device, const Reference::Impl& reference, const launch::Case& c,
                                        device::LaunchOptions options, const Options& oracle_options) {
  options.run.stop = oracle_options.stop;
  uint64_t budget = options.run.instruction_budget;
  const std::string& path = reference.original.object->path;
  AE_TRY(device::Outcome outcome, device.launch(reference.original, c, options));
  if (outcome.status == machine::Status::stopped) return fail("{}: stopped", path);
  std::string place = fmt::format("{}: on case \"{}\" of {}", path, c.name, reference.launch.path);
  if (!outcome.read_only_damage.empty())
    return fail("{}: the kernel writes to a buffer that the launch declares as \"in\": {}; give it the role \"inout\"",
                place, fmt::join(outcome.read_only_damage, "; "));
  if (!outcome.guard_damage.empty())
    return fail("{}: the kernel writes outside its buffers: {}; shapes, sizes or scalars of the launch do not fit it",
                place, fmt::join(outcome.guard_damage, "; "));
  if (outcome.status != machine::Status::completed) return fail("{}: {}", place, fault_text(outcome, budget));
  return outcome;
}

Reference::Impl::Key Reference::Impl::key_of(size_t index, const Way& way, const Options& options) {
  return {index, options.seed, way.other_input, way.poison, way.undefined, way.placement, way.after_earlier};
}

std::shared_ptr<const OriginalRun> Reference::Impl::keep(size_t index, const Way& way, const Options& options,
                                                         device::Outcome outcome) {
  auto result = std::make_shared<OriginalRun>();
  result->instructions = outcome.instructions;
  uint64_t poison_seed = options_for(launch.cases[index], way, options.seed).poison_seed;
  for (const launch::Buffer& buffer : launch.cases[index].buffers)
    if (launch::is_result(buffer.role))
      result->results.emplace(buffer.name,
                              expectation(buffer, std::move(outcome.buffers[buffer.name]), facts[index], poison_seed));
  runs_[key_of(index, way, options)] = result;
  return result;
}

Result<std::shared_ptr<const OriginalRun>> Reference::Impl::run(device::Device& device, size_t index, const Way& way,
                                                                const Options& options) {
  std::lock_guard lock(mutex_);
  if (auto known = runs_.find(key_of(index, way, options)); known != runs_.end()) return known->second;
  const launch::Case& given = launch.cases[index];
  device::LaunchOptions launch_options = options_for(given, way, options.seed);
  launch_options.run.schedule = machine::Schedule::round_robin;
  AE_TRY(device::Outcome outcome,
         launch_original(device, *this, case_for(given, way, options.seed), std::move(launch_options), options));
  return keep(index, way, options, std::move(outcome));
}

void Reference::Impl::forget(uint64_t seed) {
  std::lock_guard lock(mutex_);
  if (seed != 0) std::erase_if(runs_, [&](const auto& entry) { return std::get<1>(entry.first) == seed; });
}

Way Reference::Impl::allowed(size_t index, const Way& way) const {
  Way result = way;
  const bool late = way.schedule == machine::Schedule::late_loads;
  if (late ? !facts[index].late_loads : !facts[index].any_schedule) result.schedule = machine::Schedule::round_robin;
  if (!facts[index].any_placement) result.placement = 0;
  if (!facts[index].any_undefined) result.undefined = 1;
  if (!facts[index].any_firmware) result.preload = true;
  return result;
}

Reference::Reference(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reference::Reference(Reference&&) noexcept = default;
Reference& Reference::operator=(Reference&&) noexcept = default;
Reference::~Reference() = default;

const device::Loaded& Reference::original() const { return impl_->original; }
const launch::Launch& Reference::launch() const { return impl_->launch; }
const Policy& Reference::policy() const { return impl_->policy; }
const std::vector<std::string>& Reference::notes() const { return impl_->notes; }
const machine::Fidelity& Reference::fidelity() const { return impl_->fidelity; }

Result<Reference> Reference::create(device::Device& device, device::Loaded original, launch::Launch launch,
                                    Policy policy, const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->original_hash = sha256_hex(original.object->bytes);
  impl->original = std::move(original);
  impl->launch = std::move(launch);
  impl->policy = std::move(policy);
  AE_CHECK(examine(device, *impl, options));
  return Reference(std::move(impl));
}

} // namespace asmevo::oracle
