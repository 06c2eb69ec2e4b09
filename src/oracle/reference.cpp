#include "oracle/reference.h"

#include "support/hash.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace asmevo::oracle {

namespace {

/// What K0 left in one buffer. Poison that is still there marks elements as never written: for certain where the
/// examination saw the same, or where eight bytes agree. Fewer may be K0's own result by accident: of four million
/// 32-bit results one is, in one run of a thousand.
Expected expectation(const launch::Buffer& buffer, device::Contents bytes, const CaseFacts& facts,
                     uint64_t poison_seed) {
  ElementSet untouched, ignored = poisoned_elements(buffer, bytes, poison_seed);
  if (ignored.empty()) return make_expected(buffer, std::move(bytes), {}, {});
  auto found = facts.untouched.find(buffer.name);
  const ElementSet* known = found == facts.untouched.end() ? nullptr : &found->second;
  uint64_t elements = buffer.elements(), stretch = std::max(64 / launch::width_of(buffer.dtype), 1u);
  for (uint64_t i = 0; i < elements; ++i) {
    if (!ignored.contains(i)) continue;
    uint64_t first = i / stretch * stretch, end = std::min(first + stretch, elements);
    bool certain = end - first == stretch;
    for (uint64_t j = first; j < end; ++j) certain &= ignored.contains(j);
    if (certain || (known && known->contains(i))) untouched.insert(i, elements);
  }
  return make_expected(buffer, std::move(bytes), std::move(untouched), std::move(ignored));
}

/// Appends the places where two arrays hold the same.
template <class T> void find_equal(std::span<const uint8_t> a, std::span<const uint8_t> b, std::vector<uint64_t>& out) {
  constexpr size_t block = 256; // most have none
  std::array<T, block> x, y;
  for (size_t start = 0; start < a.size() / sizeof(T); start += block) {
    const size_t count = std::min(block, a.size() / sizeof(T) - start);
    if (count < block) x.fill(0), y.fill(1); // behind the end nothing is equal
    std::memcpy(x.data(), a.data() + start * sizeof(T), count * sizeof(T));
    std::memcpy(y.data(), b.data() + start * sizeof(T), count * sizeof(T));
    unsigned any = 0;
    for (size_t i = 0; i < block; ++i) any |= x[i] == y[i];
    for (size_t i = 0; any && i < count; ++i)
      if (x[i] == y[i]) out.push_back(start + i);
  }
}

std::vector<uint64_t> equal_elements(launch::DType dtype, std::span<const uint8_t> a, std::span<const uint8_t> b) {
  std::vector<uint64_t> out;
  if (launch::is_packed(dtype)) {
    for (uint64_t i = 0; i < 2 * a.size(); ++i)
      if (launch::load_element(dtype, a.data(), i) == launch::load_element(dtype, b.data(), i)) out.push_back(i);
    return out;
  }
  switch (launch::size_of(dtype)) {
  case 1:
    find_equal<uint8_t>(a, b, out);
    break;
  case 2:
    find_equal<uint16_t>(a, b, out);
    break;
  case 4:
    find_equal<uint32_t>(a, b, out);
    break;
  default:
    find_equal<uint64_t>(a, b, out);
  }
  return out;
}

} // namespace

ElementSet poisoned_elements(const launch::Buffer& buffer, std::span<const uint8_t> bytes, uint64_t poison_seed) {
  ElementSet set;
  if (buffer.fill.kind != launch::FillKind::poison) return set;
  constexpr uint64_t part = uint64_t{1} << 20;
  const uint64_t parts = (buffer.bytes() + part - 1) / part;
  std::vector<std::vector<uint64_t>> found(parts);
  tbb::parallel_for(uint64_t{0}, parts, [&](uint64_t k) {
    const std::span<const uint8_t> got = bytes.subspan(k * part, std::min(part, buffer.bytes() - k * part));
    Bytes poison(got.size());
    launch::fill_poison(poison_seed, buffer.name, k * part, poison);
    found[k] = equal_elements(buffer.dtype, poison, got);
  });
  const uint64_t elements = buffer.elements(), bits = launch::width_of(buffer.dtype);
  for (uint64_t k = 0; k < parts; ++k)
    for (const uint64_t i : found[k])
      if (const uint64_t at = k * part * 8 / bits + i; at < elements) set.insert(at, elements);
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
  return {index,         options.seed,  way.other_input,   way.poison,
          way.undefined, way.placement, way.after_earlier, way.crowded};
}

std::shared_ptr<Reference::Impl::Slot> Reference::Impl::slot_of(const Key& key) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Slot>& slot = runs_[key];
  if (!slot) slot = std::make_shared<Slot>();
  return slot;
}

std::shared_ptr<const OriginalRun> Reference::Impl::keep(size_t index, const Way& way, const Options& options,
                                                         device::Outcome outcome) {
  const auto slot = slot_of(key_of(index, way, options));
  std::lock_guard lock(slot->making);
  return slot->run = run_of(index, way, options, std::move(outcome));
}

std::shared_ptr<const OriginalRun> Reference::Impl::run_of(size_t index, const Way& way, const Options& options,
                                                           device::Outcome outcome) const {
  auto result = std::make_shared<OriginalRun>();
  result->instructions = outcome.instructions;
  uint64_t poison_seed = options_for(launch.cases[index], way, options.seed).poison_seed;
  for (const launch::Buffer& buffer : launch.cases[index].buffers)
    if (launch::is_result(buffer.role))
      result->results.emplace(buffer.name,
                              expectation(buffer, std::move(outcome.buffers[buffer.name]), facts[index], poison_seed));
  return result;
}

Result<std::shared_ptr<const OriginalRun>> Reference::Impl::run(device::Device& device, size_t index, const Way& wanted,
                                                                const Options& options) {
  Way way = wanted;
  if (facts[index].steady) way.after_earlier = false; // K0 does not care
  const auto slot = slot_of(key_of(index, way, options));
  std::lock_guard lock(slot->making);
  if (slot->run) return slot->run;
  const launch::Case& given = launch.cases[index];
  device::LaunchOptions launch_options = options_for(given, way, options.seed);
  launch_options.run.schedule = machine::Schedule::round_robin;
  // While it waits for a part of this, the thread must not begin another launch that may need this one.
  return tbb::this_task_arena::isolate([&]() -> Result<std::shared_ptr<const OriginalRun>> {
    AE_TRY(device::Outcome outcome,
           launch_original(device, *this, case_for(given, way, options.seed), std::move(launch_options), options));
    return slot->run = run_of(index, way, options, std::move(outcome));
  });
}

void Reference::Impl::forget(uint64_t other) {
  std::lock_guard lock(mutex_);
  if (other != seed) std::erase_if(runs_, [&](const auto& entry) { return std::get<1>(entry.first) == other; });
}

void Reference::Impl::drop(size_t index) {
  std::lock_guard lock(mutex_);
  std::erase_if(runs_, [&](const auto& entry) { return std::get<0>(entry.first) == index; });
}

bool Reference::Impl::asks(size_t index, size_t way, const Options& options) const {
  const Way& asked = candidate_ways()[way];
  const bool special = facts[index].special;
  if (asked.crowded && (!special || !facts[index].any_crowd)) return false;
  if (options.looks == Looks::special) return way == 0 && special && !facts[index].heavy;
  if (facts[index].heavy && options.looks == Looks::first) return way == 0;
  if (facts[index].heavy && options.looks == Looks::second) return way == 1 || way == 2 + options.seed % 2;
  const size_t leader = facts[index].leader;
  size_t members = 0, place = 0;
  for (size_t k = 0; k < facts.size(); ++k)
    if (facts[k].leader == leader) (k < index ? place : members) += 1;
  members += place;
  // An input that none of them has is asked of the leader.
  if (asked.other_input || asked.crowded || !keeps_followers) return way == 0 || place == 0;
  return way == 0 || place == (way + options.seed) % members;
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
bool Reference::leads(size_t index) const { return impl_->facts[index].leader == index; }

Reference::Impl::Impl(device::Loaded k0, launch::Launch what, Policy bounds)
    : original(std::move(k0)), launch(std::move(what)), policy(std::move(bounds)),
      original_hash(sha256_hex(original.object->bytes)) {}

Result<Reference> Reference::create(device::Device& device, device::Loaded original, launch::Launch launch,
                                    Policy policy, const Options& options) {
  auto impl = std::make_unique<Impl>(std::move(original), std::move(launch), std::move(policy));
  AE_CHECK(examine(device, *impl, options));
  return Reference(std::move(impl));
}

} // namespace asmevo::oracle
