#include "machine/strict/order.h"

#include <algorithm>

namespace asmevo::machine::strict {

namespace {

void raise_to(std::map<uint32_t, uint32_t>& map, uint32_t key, uint32_t value) {
  uint32_t& held = map[key];
  held = std::max(held, value);
}

bool knows(const Clock& clock, uint32_t workgroup, uint32_t serial, uint32_t epoch) {
  if (auto group = clock.groups.find(workgroup); group != clock.groups.end() && epoch < group->second) return true;
  auto wave = clock.waves.find(serial);
  return wave != clock.waves.end() && epoch <= wave->second;
}

constexpr size_t few_barriers = 4;

} // namespace

void Clock::join(const Clock& other) {
  for (auto [workgroup, epoch] : other.groups) raise_to(groups, workgroup, epoch);
  for (auto [serial, epoch] : other.waves) raise_to(waves, serial, epoch);
}

void GroupOrder::arrive(uint32_t wave, std::vector<uint32_t> in_flight) {
  std::ranges::sort(in_flight);
  carried_[wave].push_back({epoch_, std::move(in_flight)});
  carries_ = true;
}

void GroupOrder::pass_barrier() {
  ++epoch_;
  if (!told_) return;
  Clock stale;
  for (Clock& own : own_) known_.join(std::exchange(own, {}));
  for (const Clock& part : stale_) stale.join(part);
  if (!stale.empty()) stale_.fill(stale);
}

void GroupOrder::invalidate(uint32_t wave) { own_[wave].join(std::exchange(stale_[wave], {})); }

uint32_t GroupOrder::effective_epoch(const Event& event) const {
  uint32_t epoch = event.epoch;
  const std::vector<Carried>& carried = carried_[event.serial - first_serial_];
  auto from = carried.begin();
  if (carried.size() > few_barriers && carried[carried.size() - few_barriers].epoch < epoch)
    from = carried.end() - few_barriers; // what is asked about is seldom long ago
  auto at = std::lower_bound(from, carried.end(), epoch, [](const Carried& c, uint32_t e) { return c.epoch < e; });
  for (; at != carried.end() && at->epoch == epoch; ++at, ++epoch)
    if (!std::ranges::binary_search(at->instructions, event.instruction)) break;
  return epoch;
}

bool GroupOrder::plain() const { return !carries_ && !told_; }

std::shared_ptr<GroupOrder> Orders::enter(uint32_t workgroup, uint32_t waves) {
  auto group = std::make_shared<GroupOrder>(workgroup, uint32_t(waves_.size()));
  for (uint32_t k = 0; k < waves; ++k) waves_.emplace_back(workgroup, k);
  groups_[workgroup] = group;
  return group;
}

void Orders::leave(const std::shared_ptr<GroupOrder>& group) {
  if (group->plain()) groups_.erase(group->workgroup());
}

const GroupOrder* Orders::find(uint32_t workgroup) const {
  auto found = groups_.find(workgroup);
  return found == groups_.end() ? nullptr : found->second.get();
}

bool Orders::ordered(const Event& event, const GroupOrder& group, uint32_t wave, bool coherent) const {
  const uint32_t workgroup = waves_[event.serial].first;
  const bool own_group = workgroup == group.workgroup();
  if (own_group && !group.told_) return event.epoch < group.epoch() && group.effective_epoch(event) < group.epoch();
  const GroupOrder* other = own_group ? &group : find(workgroup);
  const uint32_t epoch = other ? other->effective_epoch(event) : event.epoch;
  if (own_group && epoch < group.epoch()) return true;
  return group.told_ && (knows(group.known_, workgroup, event.serial, epoch) ||
                         knows(group.own_[wave], workgroup, event.serial, epoch) ||
                         (coherent && knows(group.stale_[wave], workgroup, event.serial, epoch)));
}

void Orders::acquire(const Event& event, GroupOrder& group, uint32_t wave) {
  const auto [workgroup, teller] = waves_[event.serial];
  const bool own_group = workgroup == group.workgroup();
  Clock told;
  if (const GroupOrder* other = find(workgroup)) {
    told.join(other->known_);
    told.join(other->own_[teller]);
    told.join(other->stale_[teller]);
  }
  raise_to(told.waves, event.serial, event.epoch);
  if (!own_group) raise_to(told.groups, workgroup, event.epoch);
  (own_group ? group.own_ : group.stale_)[wave].join(told);
  group.told_ = true;
}

} // namespace asmevo::machine::strict
