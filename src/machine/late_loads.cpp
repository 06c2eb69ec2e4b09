#include "machine/late_loads.h"

#include "machine/in_flight.h"
#include "machine/op.h"

#include <algorithm>

namespace asmevo::machine {

class LateTable {
public:
  struct Entry {
    CounterUse use;
    uint32_t written_bits = ~0u; // of each register of the result
    uint16_t lds_stride = 0;     // of a load to LDS, bytes a lane
    bool scalar = false;
    std::vector<isa::RegisterRange> results;
    bool late() const { return use.issues() && (!results.empty() || lds_stride); }
  };
  std::vector<Entry> entries; // an instruction each
};

namespace {

uint16_t lds_stride(std::string_view name) {
  if (name.ends_with("dwordx4")) return 16;
  return name.ends_with("dwordx3") ? 12 : 4;
}

/// A load of 16 bits to one half of a register leaves the other one alone.
uint32_t written_bits(std::string_view name) {
  if (name.find("d16_hi") != std::string_view::npos) return 0xffff0000;
  const bool half = name.find("d16") != std::string_view::npos && name.find("format") == std::string_view::npos;
  return half ? 0x0000ffff : ~0u;
}

LateTable::Entry entry_of(const isa::Instruction& i) {
  LateTable::Entry entry;
  entry.use = counter_use(i);
  entry.scalar = !i.traits.vmem && !i.traits.lds;
  if (!entry.use.issues()) return entry;
  if (i.traits.vmem && i.traits.lds) {
    entry.lds_stride = lds_stride(isa::name_of(i));
    return entry;
  }
  entry.written_bits = written_bits(isa::name_of(i));
  for (const isa::RegisterRange& range : i.defs)
    if (range.file != isa::File::scc && range.file != isa::File::mode) entry.results.push_back(range);
  return entry;
}

/// The place of a result: registers, or a stretch of LDS.
struct Destination {
  const LateTable::Entry* entry = nullptr;
  uint64_t exec = 0;
  uint32_t lds_at = 0;

  static Destination of(const Wave& w, const LateTable::Entry& entry) {
    return {&entry, w.exec(), entry.lds_stride ? (w.m0() & 0xffff) + uint32_t(w.next->imm) : 0};
  }

  /// What is there now: register after register (64 lanes each, one word of a scalar), or the bytes of LDS.
  void copy(Wave& w, std::vector<uint32_t>& words) const {
    words.clear();
    if (entry->lds_stride) {
      const auto bytes = lds(w);
      words.resize((bytes.size() + 3) / 4);
      std::memcpy(words.data(), bytes.data(), bytes.size());
    }
    for (const isa::RegisterRange& range : entry->results)
      if (const auto at = registers(w, range); !at.empty()) words.insert(words.end(), at.begin(), at.end());
  }

  /// Writes the words where the load writes: only active lanes, only its half of a register.
  void put(Wave& w, const std::vector<uint32_t>& words) const {
    if (entry->lds_stride) return put_lds(w, words);
    const uint32_t* from = words.data();
    for (const isa::RegisterRange& range : entry->results) {
      const auto to = registers(w, range);
      const bool whole = (range.file == isa::File::sgpr || exec == all_lanes) && entry->written_bits == ~0u;
      if (whole)
        std::copy_n(from, to.size(), to.begin());
      else
        put_lanes(to, from);
      from += to.size();
    }
  }

private:
  void put_lanes(std::span<uint32_t> to, const uint32_t* from) const {
    for (size_t k = 0; k < to.size(); ++k)
      if (exec >> (k % lanes) & 1) to[k] = (to[k] & ~entry->written_bits) | (from[k] & entry->written_bits);
  }

  std::span<uint8_t> lds(const Wave& w) const {
    if (lds_at >= w.lds_size) return {};
    return {w.lds + lds_at, std::min<size_t>(w.lds_size - lds_at, size_t{entry->lds_stride} * lanes)};
  }

  void put_lds(const Wave& w, const std::vector<uint32_t>& words) const {
    const auto to = lds(w);
    const auto* from = reinterpret_cast<const uint8_t*>(words.data());
    for (size_t lane = 0; lane < lanes; ++lane) {
      const size_t at = lane * entry->lds_stride;
      if (exec >> lane & 1 && at + entry->lds_stride <= to.size()) std::memcpy(&to[at], from + at, entry->lds_stride);
    }
  }

  /// Empty where a vector register lies outside the wave's allocation: then nothing is written.
  static std::span<uint32_t> registers(Wave& w, const isa::RegisterRange& range) {
    if (range.file == isa::File::sgpr) {
      const uint32_t count = range.first < slot::count ? std::min<uint32_t>(range.count, slot::count - range.first) : 0;
      return {w.sgpr + range.first, count};
    }
    const bool agpr = range.file == isa::File::agpr;
    if (uint32_t(range.first) + range.count > (agpr ? w.agpr_rows : w.vgpr_rows)) return {};
    Row* rows = w.spaces[unsigned(agpr ? RowSpace::agpr : RowSpace::vgpr)] + range.first;
    return {rows->lane, size_t{range.count} * lanes};
  }
};

/// A result that is on its way; without a destination it is a store, which only counts.
struct Late {
  Destination destination;
  std::vector<uint32_t> words;
  bool arrived = false;
};

class LateWave {
public:
  void before(Wave& w, const LateTable::Entry& entry) {
    if (entry.use.issues() && entry.late()) {
      destination_ = Destination::of(w, entry);
      destination_.copy(w, old_);
    } else if (!entry.use.wait.none()) {
      in_flight_.wait(entry.use.wait, [&](size_t k) { late_[k].arrived = true; });
      deliver(w);
    }
  }

  void after(Wave& w, const LateTable::Entry& entry, uint32_t index) {
    const bool skipped = w.mode & mode::vskip && !entry.scalar;
    if (!entry.use.issues() || w.events & event::fault || skipped) return;
    Late late;
    if (entry.late()) {
      late.destination = destination_;
      if (!spare_.empty()) late.words = std::move(spare_.back()), spare_.pop_back();
      destination_.copy(w, late.words);
      destination_.put(w, old_);
    }
    late_.push_back(std::move(late));
    in_flight_.issue(index, entry.use, [&](size_t k) { late_[k].arrived = true; });
    deliver(w);
  }

private:
  void deliver(Wave& w) {
    for (Late& late : late_) {
      if (!late.arrived || !late.destination.entry) continue;
      late.destination.put(w, late.words);
      spare_.push_back(std::move(late.words));
    }
    std::erase_if(late_, [](const Late& late) { return late.arrived; });
  }

  InFlight in_flight_;
  std::vector<Late> late_;  // one an operation in flight
  Destination destination_; // of the instruction between before() and after()
  std::vector<uint32_t> old_;
  std::vector<std::vector<uint32_t>> spare_; // buffers to use again
};

class LateLoads : public Watcher {
public:
  explicit LateLoads(std::shared_ptr<const LateTable> table) : table_(std::move(table)) {}

  void begin(std::span<Wave> waves) override { waves_.assign(waves.size(), {}); }
  void before(Wave& w, uint32_t index) override { waves_[w.id].before(w, table_->entries[index]); }
  void after(Wave& w, uint32_t index) override { waves_[w.id].after(w, table_->entries[index], index); }

private:
  std::shared_ptr<const LateTable> table_;
  std::vector<LateWave> waves_;
};

} // namespace

std::shared_ptr<const LateTable> make_late_table(const Image::Impl& image) {
  auto table = std::make_shared<LateTable>();
  for (const isa::Instruction& i : image.instructions) table->entries.push_back(entry_of(i));
  return table;
}

std::unique_ptr<Watcher> make_late_loads(std::shared_ptr<const LateTable> table) {
  return std::make_unique<LateLoads>(std::move(table));
}

} // namespace asmevo::machine
