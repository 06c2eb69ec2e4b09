// Memory under strict watch: every access of a workgroup before it happens.
//
// What is looked for: bytes of LDS and scratch that nothing has written, places outside a buffer (its guards, or the
// end of LDS), addresses that are not aligned, and races: accesses of two waves to the same bytes, at least one of them
// a write, that nothing orders (order.h). Which accesses meet is remembered in shadow cells (shadow.h).
#pragma once

#include "machine/dispatch.h"
#include "machine/strict/findings.h"
#include "machine/strict/lds_shadow.h"
#include "machine/strict/order.h"
#include "machine/strict/path.h"
#include "machine/strict/readers.h"
#include "machine/strict/shadow.h"

namespace asmevo::machine::strict {

/// Shadow of one region of memory, or of the global data share.
class RegionShadow {
public:
  RegionShadow(uint64_t base, uint64_t size);
  ~RegionShadow();
  RegionShadow(const RegionShadow&) = delete;
  RegionShadow& operator=(const RegionShadow&) = delete;

  bool valid() const { return memory_ != nullptr; }
  unsigned shift() const { return shift_; }
  const Cells& cells() const { return cells_; }
  uint64_t base() const { return base_; }
  void split(unsigned shift);

private:
  void allocate();
  uint64_t count() const { return ((size_ + 2 * largest_granule) >> shift_); } // regions begin anywhere in one

  uint64_t base_, size_;
  unsigned shift_ = largest_shift;
  Cells cells_;
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
};

/// Numbers of global events, in blocks.
struct Numbers {
  uint32_t next = 0, present = 0, epoch = 0; // the first of this epoch; which

  uint32_t take(std::vector<Event>& events);
};

/// What all workgroups of a run share.
struct SharedWatch {
  const LaunchPlan& plan;
  std::vector<AccessShape> shapes; // an instruction each
  std::vector<uint32_t> numbers;   // of memory instructions, counted
  uint32_t memory_instructions = 0;
  unsigned lds_shift = largest_shift; // what workgroups before have come down to
  Orders orders;
  bool has_flags = false;    // some instruction can tell another workgroup something
  std::vector<Event> events; // of global memory, in blocks; the first is nobody's
  Numbers set_numbers;
  ReaderSets readers;
  std::map<const Region*, std::unique_ptr<RegionShadow>> regions;
  std::unique_ptr<RegionShadow> share;
  std::vector<std::string> gaps;
  const PlaceRunner places = place_runner();
  const ShadowRunners& shadow = shadow_runners();

  explicit SharedWatch(const LaunchPlan& plan);
  /// Says once what cannot be watched.
  void gap(std::string text);
};

inline constexpr size_t max_events = LdsShadow::max_events;

/// The memory of one workgroup.
class MemoryWatch {
public:
  MemoryWatch(SharedWatch& shared, Findings& findings, const Workgroup& group);
  ~MemoryWatch();

  GroupOrder& order() { return *order_; }
  /// `w`, whose path has led to `node`, is about to execute the memory instruction `index`.
  void access(Wave& w, uint32_t index, const PathNode& node);
  /// A wave arrives at a barrier with these operations in flight.
  void arrive(uint32_t wave, std::span<const Outstanding> in_flight);
  /// All waves pass it.
  void pass_barrier();

private:
  struct Issue;
  struct Access; // what one instruction does in one kind of memory
  struct GlobalView;
  /// Of a wave and a memory instruction in global memory: its last event, and readers of what it last read that it is
  /// among.
  struct Latest {
    uint32_t event = 0, covering = nobody;
  };
  /// What the cells of a granule hold.
  struct Granule {
    uint32_t written = 0, latest = 0, others = 0;
    bool operator==(const Granule&) const = default;
  };

  void lds(const Access& a);
  void global(const Access& a);
  void share(const Access& a);
  void scratch(const Access& a);
  void each_region(const Access& a);
  void look_at_lds(const Access& a, const Noting& n);
  template <class Place>
  void look_at_lds_readers(const Access& a, const Noting& n, size_t k, unsigned lane, Place place);
  template <class Place> void look_at_global(const Access& a, const RegionShadow& shadow, Latest& held, Place place);
  bool note(const Access& a, const RegionShadow& shadow, const Latest& latest);
  void beyond(const Access& a, const Region& region);
  template <class F> void look_at(const Access& a, const Cells& cells, uint64_t base, unsigned shift, F f);
  template <class Place> void look_at_granule(const GlobalView& view, const Access& a, Granule& granule, unsigned lane,
                                              Place place, uint32_t& covering);
  bool is_among(const GlobalView& view, const Access& a, uint32_t readers) const;
  void note_reader(const GlobalView& view, const Access& a, Granule& granule, uint32_t& covering);
  uint32_t other_readers(const GlobalView& view, const Access& a, const Granule& granule);
  template <class Place>
  void judge(const Access& a, const Event& earlier, bool earlier_wrote, unsigned lane, Place place);
  void judge_delivery(const Access& a, const Event& earlier, unsigned lane);
  void misaligned(const Access& a, uint32_t natural);
  const Region* region_of(const Access& a);
  RegionShadow& shadow_of(const Region& region);
  Access side_by_side(const Issue& i, Space space, uint64_t first);
  void look_at_region(const Access& a, const RegionShadow& shadow, Latest& held);
  bool quick(Wave& w, uint32_t index, const AccessShape& shape, const PathNode& node);
  Noting global_noting(const RegionShadow& shadow, const Latest& held, uint32_t wave) const;
  uint32_t lds_event(const Issue& i);
  Latest& global_event(const Issue& i);
  size_t slot(uint32_t wave, uint32_t instruction) const {
    return size_t{wave} * shared_.memory_instructions + shared_.numbers[instruction];
  }
  Event event_of(const Issue& i) const;
  bool covers(const Event& held, const Issue& i) const;
  Finding* report(const Access& a, FindingKind kind, int64_t cause = -1);

  SharedWatch& shared_;
  Findings& findings_;
  const Workgroup& group_;
  std::shared_ptr<GroupOrder> order_;
  LdsShadow lds_;
  std::vector<Numbers> numbers_;         // of global events, by wave
  std::vector<uint32_t> latest_lds_;     // by wave and memory instruction: its last event
  std::vector<Latest> latest_global_;    // likewise
  std::vector<uint8_t> scratch_written_; // a byte each
  const Region *last_region_ = nullptr, *shadowed_ = nullptr;
  RegionShadow* shadow_ = nullptr;                        // of that
  ReaderSets::Readers readers_;                           // being put together
  std::vector<std::pair<FindingKind, int64_t>> reported_; // by the instruction at hand
  Places places_[max_places];
};

} // namespace asmevo::machine::strict
