#include "machine/strict/memory.h"

#include "machine/global_share.h"

#include <algorithm>
#include <bit>
#include <sys/mman.h>

namespace asmevo::machine::strict {

namespace {

/// The largest granule that all parts of an access fill.
unsigned shift_of(const Places& p) {
  const uint64_t parts = p.consecutive ? p.low | p.high : p.low_bits | p.bytes;
  return parts ? std::min(largest_shift, unsigned(std::countr_zero(parts))) : largest_shift;
}

/// Calls f(cell, lane) for each granule of an access and the first lane in it.
template <class F> void each_cell(const Places& p, uint64_t base, unsigned shift, F f) {
  if (p.consecutive) {
    for (uint64_t at = p.low; at < p.high; at += uint64_t{1} << shift)
      f(size_t((at - base) >> shift), unsigned((at - p.low) / p.bytes));
    return;
  }
  for (uint64_t left = p.mask; left; left &= left - 1) {
    const auto lane = unsigned(std::countr_zero(left));
    const size_t first = size_t((p.place[lane] - base) >> shift);
    for (size_t k = first; k < first + (p.bytes >> shift); ++k) f(k, lane);
  }
}

std::string amount(uint32_t bytes) { return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"); }

} // namespace

RegionShadow::RegionShadow(uint64_t base, uint64_t size) : base_(base & ~uint64_t{largest_granule - 1}), size_(size) {
  allocate();
}

RegionShadow::~RegionShadow() {
  if (memory_) munmap(memory_, bytes_);
}

// Untouched cells are untouched pages of the host.
void RegionShadow::allocate() {
  const uint64_t cells = count();
  memory_ = nullptr;
  if (cells > 0xffffffff) return;
  bytes_ = cells * 3 * sizeof(uint32_t);
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory_ == MAP_FAILED) memory_ = nullptr;
  auto* first = static_cast<uint32_t*>(memory_);
  cells_ = {first, first + cells, first + 2 * cells};
}

void RegionShadow::split(unsigned shift) {
  const Cells old = cells_;
  void* const old_memory = memory_;
  const uint64_t old_bytes = bytes_, cells = count();
  const unsigned by = shift_ - shift;
  shift_ = shift;
  allocate();
  for (uint64_t k = 0; memory_ && k < cells; ++k)
    for (uint64_t part = 0; part < uint64_t{1} << by; ++part) {
      const uint64_t to = (k << by) + part;
      if (to >= count()) break;
      if (old.write[k]) cells_.write[to] = old.write[k];
      if (old.latest[k]) cells_.latest[to] = old.latest[k];
      if (old.others[k]) cells_.others[to] = old.others[k];
    }
  munmap(old_memory, old_bytes);
}

uint32_t Numbers::take(std::vector<Event>& events) {
  if (next % events_a_block == 0) { // or there is no block yet
    next = uint32_t(events.size());
    events.resize(next + events_a_block);
  }
  return next++;
}

SharedWatch::SharedWatch(const LaunchPlan& launch) : plan(launch), events(events_a_block) {
  for (const isa::Instruction& i : plan.image->instructions) {
    shapes.push_back(access_shape(i));
    const AccessShape& shape = shapes.back();
    numbers.push_back(memory_instructions);
    memory_instructions += shape.addressing != Addressing::none;
    has_flags |= (shape.atomic || shape.coherent) && (i.traits.vmem || !i.traits.lds);
  }
}

void SharedWatch::gap(std::string text) {
  if (std::ranges::find(gaps, text) == gaps.end()) gaps.push_back(std::move(text));
}

/// What makes an event.
struct MemoryWatch::Issue {
  Wave& w;
  uint32_t index;
  const AccessShape& shape;
  const PathNode& node;
  uint32_t bytes;
  bool to_lds;
};

/// One instruction in one kind of memory.
struct MemoryWatch::Access {
  Wave& w;
  uint32_t index;
  const AccessShape& shape;
  const Places& places;
  const PathNode& node;
  bool reads, writes, to_lds;
};

/// Cells of global memory. Where no workgroup can tell another anything, two readers of different ones are enough.
struct MemoryWatch::GlobalView {
  MemoryWatch& watch;
  uint32_t event, serial;

  bool mine(uint32_t cell) const { return event_of(cell).serial == serial; }
  const Event& event_of(uint32_t cell) const { return watch.shared_.events[cell & ~enough_readers]; }
  static bool enough(uint32_t others) { return others & enough_readers; }
  template <class F> void each(uint32_t cell, F f) const {
    cell &= ~enough_readers;
    if (!cell) return;
    if (!is_set(event_of(cell))) return f(cell);
    for (const uint32_t one : watch.shared_.readers[event_of(cell).instruction]) f(one);
  }
  uint32_t cell_of(const ReaderSets::Readers& readers) const {
    SharedWatch& shared = watch.shared_;
    if (!shared.has_flags)
      for (const uint32_t one : readers)
        if (shared.orders.wave_of(event_of(one).serial).first != watch.group_.id) return one | enough_readers;
    if (readers.size() < 2) return readers.empty() ? 0 : readers.front();
    if (readers.size() > max_readers || shared.readers.full()) {
      shared.gap("memory: more readers than can be remembered");
      return readers.back();
    }
    return shared.readers.cell_of(readers, [&](uint32_t index) {
      const uint32_t number = shared.set_numbers.take(shared.events);
      shared.events[number] = event_of_set(index);
      return number;
    });
  }
};

MemoryWatch::MemoryWatch(SharedWatch& shared, Findings& findings, const Workgroup& group)
    : shared_(shared), findings_(findings), group_(group), order_(shared.orders.enter(group.id, group.wave_count)),
      lds_(shared.plan.lds_size, shared.lds_shift, group.wave_count), numbers_(group.wave_count),
      latest_lds_(size_t{shared.memory_instructions} * group.wave_count), latest_global_(latest_lds_.size()),
      scratch_written_(group.scratch_wave_bytes() * group.wave_count) {}

MemoryWatch::~MemoryWatch() { shared_.orders.leave(order_); }

void MemoryWatch::arrive(uint32_t wave, std::span<const Outstanding> in_flight) {
  std::vector<uint32_t> instructions;
  for (const Outstanding& op : in_flight) {
    const bool again = std::ranges::find(instructions, op.instruction) != instructions.end();
    instructions.push_back(op.instruction);
    const bool lds =
        shared_.shapes[op.instruction].to_lds || (shared_.plan.image->instructions[op.instruction].traits.lds &&
                                                  shared_.shapes[op.instruction].addressing != Addressing::none);
    if (!lds) continue;
    const uint32_t event = latest_lds_[slot(wave, op.instruction)];
    const bool recent = !again && lds_.since_barrier(event);
    lds_.arrive(recent ? LdsShadow::Flight::recent : LdsShadow::Flight::old);
  }
  if (!instructions.empty()) order_->arrive(wave, std::move(instructions));
}

void MemoryWatch::pass_barrier() {
  order_->pass_barrier();
  lds_.pass_barrier();
}

Finding* MemoryWatch::report(const Access& a, FindingKind kind, int64_t cause) {
  // Lanes of one instruction that meet the same trouble count once.
  const std::pair key{kind, cause};
  if (std::ranges::find(reported_, key) != reported_.end()) return nullptr;
  reported_.push_back(key);
  return findings_.add(kind, a.w, a.index, cause);
}

void MemoryWatch::misaligned(const Access& a, uint32_t natural) {
  Finding* f = report(a, FindingKind::misaligned);
  if (!f) return;
  for (uint64_t left = a.places.mask; left; left &= left - 1) {
    f->lane = std::countr_zero(left);
    if (a.places.at(unsigned(f->lane)) & (natural - 1)) break;
  }
  f->message = fmt::format("{} {} at {:#x}, which is not a multiple of {}", a.writes ? "writes" : "reads",
                           amount(a.places.bytes), a.places.at(unsigned(f->lane)), natural);
}

[[gnu::always_inline]] inline Event MemoryWatch::event_of(const Issue& i) const {
  return {.serial = order_->serial(i.w.id),
          .instruction = i.index,
          .epoch = order_->epoch(),
          .atomic = i.shape.atomic || i.shape.coherent,
          .small = i.bytes <= 8,
          .released = !i.node.stores_outstanding,
          .to_lds = i.to_lds};
}

/// Whether an event of the same wave and instruction stands for this access too.
[[gnu::always_inline]] inline bool MemoryWatch::covers(const Event& held, const Issue& i) const {
  return held.epoch == order_->epoch() && held.released != i.node.stores_outstanding && held.to_lds == i.to_lds;
}

[[gnu::always_inline]] inline uint32_t MemoryWatch::lds_event(const Issue& i) {
  uint32_t& held = latest_lds_[slot(i.w.id, i.index)];
  if (!lds_.holds(held) || !covers(lds_.event(held), i)) held = lds_.add(event_of(i));
  return held;
}

[[gnu::always_inline]] inline MemoryWatch::Latest& MemoryWatch::global_event(const Issue& i) {
  Latest& held = latest_global_[slot(i.w.id, i.index)];
  if (held.event && covers(shared_.events[held.event], i)) return held;
  const Event event = event_of(i);
  Numbers& numbers = numbers_[i.w.id];
  const uint32_t number = numbers.take(shared_.events);
  if (number % events_a_block == 0 || numbers.epoch != event.epoch) numbers.present = number;
  numbers.epoch = event.epoch;
  shared_.events[number] = event;
  return held = {.event = number};
}

[[gnu::always_inline]] inline void MemoryWatch::lds(const Access& a) {
  if (lds_.full()) return shared_.gap("LDS: more accesses than can be remembered");
  if (const unsigned shift = shift_of(a.places); shift < lds_.shift()) {
    lds_.split(shift);
    shared_.lds_shift = std::min(shared_.lds_shift, shift);
  }
  const uint32_t event = lds_event({a.w, a.index, a.shape, a.node, a.places.bytes, a.to_lds});
  const Noting n = lds_.noting(event, a.w.id | (a.to_lds ? load_to_lds_owner : 0));
  const ShadowRunners& run = shared_.shadow;
  if ((a.reads && !run.lds_read(n, a.places)) || (a.writes && !run.lds_write(n, a.places))) look_at_lds(a, n);
}

/// The granules of an access to LDS, carefully.
void MemoryWatch::look_at_lds(const Access& a, const Noting& n) {
  const auto place = [&](unsigned lane) { return fmt::format("LDS at {:#x}", a.places.at(lane)); };
  const auto mine = [&](uint32_t cell) { return ((cell ^ n.event) & owner_mask) == 0; };
  each_cell(a.places, 0, n.shift, [&](size_t k, unsigned lane) {
    uint32_t &written = n.cells.write[k], &latest = n.cells.latest[k];
    if (a.reads && !written)
      if (Finding* f = report(a, FindingKind::uninitialised)) {
        f->lane = int(lane);
        f->message = fmt::format("reads {} of {}, which nothing has written", amount(a.places.bytes), place(lane));
      }
    written = lds_.settled(written, *order_);
    if (lds_.counts(written) && !mine(written)) judge(a, lds_.event_of(written), true, lane, place);
    if (a.writes) look_at_lds_readers(a, n, k, lane, place);
    if (a.reads) {
      const bool several = lds_.counts(latest) && (!mine(latest) || latest >= several_readers);
      latest = n.event | (several ? several_readers : 0);
      n.own_reads[k] = n.event;
    }
    if (a.writes) written = n.event;
  });
}

/// Every wave that has read granule k, before this access writes it.
template <class Place>
void MemoryWatch::look_at_lds_readers(const Access& a, const Noting& n, size_t k, unsigned lane, Place place) {
  uint32_t& latest = n.cells.latest[k];
  const uint32_t last = latest & owner_mask;
  bool several = false;
  for (uint32_t wave = 0; wave < group_.wave_count; ++wave) {
    uint32_t& read = lds_.reads(wave)[k];
    read = lds_.settled(read, *order_);
    if (wave == last)
      latest = read;
    else
      several |= lds_.counts(read);
    if (wave != a.w.id && lds_.counts(read)) judge(a, lds_.event_of(read), false, lane, place);
  }
  if (several) latest |= several_readers;
}

/// The granules of an access, carefully. Those that are alike have the same outcome; a few kinds are remembered.
template <class F> void MemoryWatch::look_at(const Access& a, const Cells& cells, uint64_t base, unsigned shift, F f) {
  constexpr size_t kinds = 8;
  Granule before[kinds], after[kinds];
  for (Granule& granule : before) granule.written = nobody; // which no cell is
  each_cell(a.places, base, shift, [&](size_t k, unsigned lane) {
    const Granule now{cells.write[k], cells.latest[k], cells.others[k]};
    const size_t kind = ((now.written ^ now.latest * 5 ^ now.others * 9) * 0x9e3779b1u) >> 29;
    if (now != before[kind]) {
      before[kind] = after[kind] = now;
      f(after[kind], lane);
    }
    cells.write[k] = after[kind].written;
    cells.latest[k] = after[kind].latest;
    cells.others[k] = after[kind].others;
  });
}

[[gnu::always_inline]] inline const Region* MemoryWatch::region_of(const Access& a) {
  const uint64_t low = a.places.low, bytes = a.places.high - a.places.low;
  if (last_region_ && low >= last_region_->base && low - last_region_->base < last_region_->size &&
      bytes <= last_region_->size - (low - last_region_->base))
    return last_region_;
  return last_region_ = group_.memory->find(low, bytes);
}

/// Some lane accesses the slack around a buffer.
void MemoryWatch::beyond(const Access& a, const Region& region) {
  for (uint64_t left = a.places.mask; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    const uint64_t at = a.places.at(lane);
    if (at >= region.first() && at + a.places.bytes <= region.end()) continue;
    if (Finding* f = report(a, FindingKind::out_of_bounds)) {
      f->lane = a.places.space == Space::scalar ? -1 : int(lane);
      f->message = fmt::format("{} {}", a.writes ? "writes" : "reads", group_.memory->describe(at, a.places.bytes));
    }
    return;
  }
}

[[gnu::always_inline]] inline RegionShadow& MemoryWatch::shadow_of(const Region& region) {
  if (&region == shadowed_) [[likely]]
    return *shadow_;
  auto& shadow = shared_.regions[&region];
  if (!shadow) shadow = std::make_unique<RegionShadow>(region.base, region.size);
  shadowed_ = &region;
  return *(shadow_ = shadow.get());
}

[[gnu::always_inline]] inline void MemoryWatch::global(const Access& a) {
  const Region* region = region_of(a);
  if (!region) return each_region(a);
  if (a.places.low < region->first() || a.places.high > region->end()) [[unlikely]]
    beyond(a, *region);
  if (group_.scratch && region->data <= group_.scratch && group_.scratch < region->data + region->size)
    return scratch(a);
  if (region->access != machine::Access::read_write) return; // never written, or a fault
  if (shared_.events.size() >= max_events) return shared_.gap("memory: more accesses than can be remembered");
  RegionShadow& shadow = shadow_of(*region);
  if (const unsigned shift = shift_of(a.places); shadow.valid() && shift < shadow.shift()) shadow.split(shift);
  if (!shadow.valid()) return shared_.gap(fmt::format("accesses of `{}`: no host memory to watch them", region->name));
  Latest& held = global_event({a.w, a.index, a.shape, a.node, a.places.bytes, a.to_lds});
  if (!note(a, shadow, held)) look_at_region(a, shadow, held);
}

void MemoryWatch::look_at_region(const Access& a, const RegionShadow& shadow, Latest& held) {
  look_at_global(a, shadow, held,
                 [&](unsigned lane) { return group_.memory->describe(a.places.at(lane), a.places.bytes); });
}

[[gnu::always_inline]] inline Noting MemoryWatch::global_noting(const RegionShadow& shadow, const Latest& held,
                                                                uint32_t wave) const {
  return {.cells = shadow.cells(),
          .base = shadow.base(),
          .shift = shadow.shift(),
          .event = held.event,
          .present = numbers_[wave].present,
          .covering = held.covering};
}

[[gnu::always_inline]] inline bool MemoryWatch::note(const Access& a, const RegionShadow& shadow, const Latest& held) {
  Noting n = global_noting(shadow, held, a.w.id);
  // What is meant to meet others is always noted: whether it was a release may have changed.
  if (a.shape.atomic || a.shape.coherent) n.present = held.event, n.covering = nobody;
  const ShadowRunners& run = shared_.shadow;
  return (!a.reads || run.global_read(n, a.places)) && (!a.writes || run.global_write(n, a.places));
}

/// The global data share: no cache lies before it, and what it holds at the start is the host's affair.
void MemoryWatch::share(const Access& a) {
  if (!shared_.share) shared_.share = std::make_unique<RegionShadow>(0, GlobalShare::size);
  RegionShadow& shadow = *shared_.share;
  if (!shadow.valid() || shared_.events.size() >= max_events) return shared_.gap("GDS: no memory to watch it");
  if (const unsigned shift = shift_of(a.places); shift < shadow.shift()) shadow.split(shift);
  Latest& held = global_event({a.w, a.index, a.shape, a.node, a.places.bytes, a.to_lds});
  if (!note(a, shadow, held))
    look_at_global(a, shadow, held, [&](unsigned lane) { return fmt::format("GDS at {:#x}", a.places.at(lane)); });
}

/// Lanes in several regions, or some in none: one lane after the other.
void MemoryWatch::each_region(const Access& a) {
  for (uint64_t left = a.places.mask; left; left &= left - 1) {
    Places one = a.places;
    one.mask = left & -left;
    one.consecutive = false;
    one.low = a.places.at(unsigned(std::countr_zero(left)));
    one.place[std::countr_zero(left)] = one.low;
    one.high = one.low + one.bytes;
    if (group_.memory->find(one.low, one.bytes))
      global({a.w, a.index, a.shape, one, a.node, a.reads, a.writes, a.to_lds});
  }
}

template <class Place>
void MemoryWatch::look_at_global(const Access& a, const RegionShadow& shadow, Latest& held, Place place) {
  const GlobalView view{*this, held.event, order_->serial(a.w.id)};
  look_at(a, shadow.cells(), shadow.base(), shadow.shift(),
          [&](Granule& granule, unsigned lane) { look_at_granule(view, a, granule, lane, place, held.covering); });
}

template <class Place> void MemoryWatch::look_at_granule(const GlobalView& view, const Access& a, Granule& granule,
                                                         unsigned lane, Place place, uint32_t& covering) {
  const auto meets = [&](uint32_t cell, bool wrote) {
    view.each(cell, [&](uint32_t one) {
      if (!view.mine(one)) judge(a, view.event_of(one), wrote, lane, place);
    });
  };
  meets(granule.written, true);
  if (a.writes) meets(granule.latest, false), meets(granule.others, false);
  if (a.reads && !view.enough(granule.others)) note_reader(view, a, granule, covering);
  if (a.writes) granule.written = view.event;
}

/// Whether this wave's reading now is noted already. Among several waves the first of an epoch counts; what it misses
/// is a later one that alone is in flight at the barrier.
bool MemoryWatch::is_among(const GlobalView& view, const Access& a, uint32_t readers) const {
  const bool always = a.shape.atomic || a.shape.coherent;
  bool found = false;
  view.each(readers, [&](uint32_t one) {
    found |= one == view.event || (!always && view.mine(one) && view.event_of(one).epoch == order_->epoch());
  });
  return found;
}

void MemoryWatch::note_reader(const GlobalView& view, const Access& a, Granule& granule, uint32_t& covering) {
  if (granule.latest == view.event || (granule.others && granule.others == covering)) return;
  if (is_among(view, a, granule.others)) {
    covering = granule.others;
    return;
  }
  if (!view.mine(granule.latest)) granule.others = other_readers(view, a, granule);
  granule.latest = view.event;
}

/// Who has read a place besides this access: what was the latest, and the others as far as they still count.
uint32_t MemoryWatch::other_readers(const GlobalView& view, const Access& a, const Granule& granule) {
  readers_.clear();
  const auto add = [&](uint32_t cell) {
    const Event& event = view.event_of(cell);
    const bool flag = event.atomic && event.small; // meets with almost anything
    if (view.mine(cell) || flag || shared_.orders.ordered(event, *order_, a.w.id, false)) return;
    std::erase_if(readers_, [&](uint32_t held) { return view.event_of(held).serial == event.serial; });
    readers_.push_back(cell);
  };
  view.each(granule.others, add);
  view.each(granule.latest, add);
  return view.cell_of(readers_);
}

/// Two accesses of the same bytes, by another wave or by a load to LDS.
template <class Place>
void MemoryWatch::judge(const Access& a, const Event& earlier, bool earlier_wrote, unsigned lane, Place place) {
  if (earlier.serial == order_->serial(a.w.id)) return judge_delivery(a, earlier, lane);
  const bool meant = (a.shape.atomic || a.shape.coherent) && a.places.bytes <= 8;
  const bool flag =
      (earlier.atomic && earlier.small && (meant || (a.writes && a.places.bytes <= 8))) || (meant && earlier.small);
  if (flag && !a.to_lds && !earlier.to_lds) {
    if (a.reads && earlier_wrote && earlier.released) shared_.orders.acquire(earlier, *order_, a.w.id);
    return;
  }
  const bool coherent = a.shape.coherent || a.shape.atomic || a.shape.gds;
  if (shared_.orders.ordered(earlier, *order_, a.w.id, coherent)) return;
  Finding* f = report(a, FindingKind::race, earlier.instruction);
  if (!f) return;
  f->lane = a.places.space == Space::scalar ? -1 : int(lane);
  const auto [workgroup, wave] = shared_.orders.wave_of(earlier.serial);
  f->message = fmt::format("{} {}, which {}wave {} {}, and nothing orders the two", a.writes ? "writes" : "reads",
                           place(lane), workgroup == group_.id ? "" : fmt::format("workgroup {} ", workgroup), wave,
                           earlier_wrote ? "has written" : "has read");
}

/// What a load to LDS of the same wave brings is there when it has been waited for.
void MemoryWatch::judge_delivery(const Access& a, const Event& earlier, unsigned lane) {
  const bool outstanding =
      earlier.to_lds && !a.to_lds && std::ranges::any_of(a.node.in_flight.operations(), [&](const Outstanding& op) {
        return op.instruction == earlier.instruction && op.instruction != a.index;
      });
  if (!outstanding) return;
  if (Finding* f = report(a, FindingKind::missing_wait, earlier.instruction)) {
    f->lane = int(lane);
    f->message = fmt::format("{} LDS at {:#x} before the load to LDS has finished: s_waitcnt vmcnt is missing",
                             a.writes ? "writes" : "reads", a.places.at(lane));
  }
}

/// Dword d of lane l of a wave lies at 256 d + 4 l of its part; a buffer or flat access names that place itself.
void MemoryWatch::scratch(const Access& a) {
  const bool linear = a.places.space != Space::scratch;
  const uint64_t wave = a.w.id * group_.scratch_wave_bytes();
  for (uint64_t left = a.places.mask; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    const uint64_t at = a.places.at(lane);
    bool missing = false;
    for (uint32_t byte = 0; byte < a.places.bytes; ++byte) {
      const uint64_t offset = at + byte;
      const uint64_t place = linear ? offset - group_.scratch_base : wave + offset / 4 * 256 + lane * 4 + offset % 4;
      if (place >= scratch_written_.size()) break; // a fault says so
      missing |= a.reads && !scratch_written_[place];
      if (a.writes) scratch_written_[place] = 1;
    }
    if (!missing) continue;
    if (Finding* f = report(a, FindingKind::uninitialised)) {
      f->lane = int(lane);
      f->message = fmt::format("reads {} of scratch at {:#x}, which nothing has written", amount(a.places.bytes),
                               linear ? at - group_.scratch_base : at);
    }
  }
}

/// A plain load or store whose lanes lie side by side in memory that was accessed before.
[[gnu::always_inline]] inline bool MemoryWatch::quick(Wave& w, uint32_t index, const AccessShape& shape,
                                                      const PathNode& node) {
  const Issue issue{w, index, shape, node, shape.bytes, false};
  const ShadowRunners& run = shared_.shadow;
  uint64_t first = 0;
  if (shape.addressing == Addressing::lds) {
    if (lds_.full()) return false;
    const Noting n = lds_.noting(lds_event(issue), w.id);
    const QuickRunner runner = shape.writes ? run.quick_lds_write : run.quick_lds_read;
    const Quick seen = runner(n, w, w.ops[index], shape.bytes, first);
    if (seen == Quick::look) look_at_lds(side_by_side(issue, Space::lds, first), n);
    return seen != Quick::other;
  }
  if (!shadow_ || !shadow_->valid() || shared_.events.size() >= max_events) return false;
  Latest& held = global_event(issue);
  Noting n = global_noting(*shadow_, held, w.id);
  n.low = shadowed_->first();
  n.high = shadowed_->end();
  const QuickRunner runner = shape.writes ? run.quick_global_write : run.quick_global_read;
  const Quick seen = runner(n, w, w.ops[index], shape.bytes, first);
  if (seen == Quick::look) look_at_region(side_by_side(issue, Space::global, first), *shadow_, held);
  return seen != Quick::other;
}

MemoryWatch::Access MemoryWatch::side_by_side(const Issue& i, Space space, uint64_t first) {
  reported_.clear();
  Places& p = places_[0];
  p.space = space;
  p.bytes = i.bytes;
  p.mask = all_lanes;
  p.outside = 0;
  p.consecutive = true;
  p.low = first;
  p.high = first + uint64_t{i.bytes} * lanes;
  return {i.w, i.index, i.shape, p, i.node, i.shape.reads, i.shape.writes, false};
}

// Everything above that it calls every time is inlined here.
void MemoryWatch::access(Wave& w, uint32_t index, const PathNode& node) {
  const AccessShape& shape = shared_.shapes[index];
  if (shape.quick && quick(w, index, shape, node)) return;
  reported_.clear();
  const unsigned count = shared_.places(w, w.ops[index], shape, places_);
  for (unsigned k = 0; k < count; ++k) {
    const bool to_lds = shape.to_lds && k == 1;
    const Access a{w, index, shape, places_[k], node, shape.reads && !to_lds, shape.writes || to_lds, to_lds};
    if (a.places.outside)
      if (Finding* f = report(a, FindingKind::out_of_bounds)) {
        f->lane = std::countr_zero(a.places.outside);
        f->message =
            fmt::format("{} {} of {} at {:#x}, {}", a.writes ? "writes" : "reads", amount(a.places.bytes),
                        shape.gds ? "GDS" : "LDS", a.places.at(unsigned(f->lane)),
                        shape.gds ? fmt::format("M0 gives the wave {:#x} from {:#x}", w.m0() & 0xffff, w.m0() >> 16)
                                  : fmt::format("the workgroup has {:#x}", w.lds_size));
      }
    if (!a.places.mask) continue;
    const uint32_t bytes = a.places.bytes, natural = shape.atomic ? bytes : std::min(bytes & -bytes, 4u);
    if (a.places.low_bits & (natural - 1)) [[unlikely]]
      misaligned(a, natural);
    switch (a.places.space) {
    case Space::lds:
      shape.gds ? share(a) : lds(a);
      break;
    case Space::scratch:
      scratch(a);
      break;
    default:
      global(a);
    }
  }
}

} // namespace asmevo::machine::strict
