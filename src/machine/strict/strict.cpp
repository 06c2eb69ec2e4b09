#include "machine/strict/strict.h"

#include "machine/strict/memory.h"
#include "machine/strict/moved.h"
#include "machine/strict/registers.h"

#include <algorithm>

namespace asmevo::machine::strict {

namespace {

/// What an instruction needs beyond its path and its registers.
enum class Part : uint8_t { none, memory, barrier, invalidate };

Part part_of(const isa::Instruction& i, const AccessShape& shape) {
  if (i.traits.barrier) return Part::barrier;
  if (shape.addressing != Addressing::none) return Part::memory;
  const std::string_view name = isa::name_of(i);
  return name.starts_with("buffer_inv") || name.starts_with("buffer_wbinvl1") ? Part::invalidate : Part::none;
}

} // namespace

struct Strict::Impl {
  const LaunchPlan& plan;
  Paths paths;
  MovedInstructions moved;
  std::vector<RegisterUse> uses; // of the image's instructions and of moved ones behind them
  SharedWatch memory;
  Findings findings;
  std::vector<Part> parts; // an instruction each

  explicit Impl(const LaunchPlan& launch)
      : plan(launch), paths(*launch.image, launch.accum_offset), moved(*launch.image), uses(register_uses(launch)),
        memory(launch) {
    for (size_t k = 0; k < memory.shapes.size(); ++k)
      parts.push_back(part_of(plan.image->instructions[k], memory.shapes[k]));
  }
};

namespace {

class StrictWatcher final : public Watcher {
public:
  StrictWatcher(Strict::Impl& run, const Workgroup& group) : run_(run), memory_(run.memory, run.findings, group) {}

  void begin(std::span<Wave> waves) override {
    for (const Wave& w : waves) waves_.push_back({run_.paths.start(), WrittenRegisters(run_.plan, w)});
  }

  void before(Wave& w, uint32_t index) override {
    const isa::Traits& traits = run_.plan.image->instructions[index].traits;
    if (w.mode & mode::vskip && (traits.valu || traits.vmem || traits.lds)) return; // nor is it executed
    const auto moved = run_.moved.find(w, index, [&](isa::Instruction as) {
      run_.uses.push_back(register_use(run_.plan, as));
      run_.paths.add(std::move(as));
    });
    if (!moved) return look_at(waves_[w.id], w, index);
    Watched& watched = waves_[w.id];
    follow(watched, w, *moved);
    watched.registers.check_moved(w, index, run_.uses[*moved], run_.findings);
  }

  void after(Wave&, uint32_t) override {}

  uint32_t run(Wave& w, uint32_t quantum) override {
    if ((w.events & event::modal) || run_.moved.any_relative()) return Watcher::run(w, quantum);
    const uint32_t count = uint32_t(run_.parts.size());
    Watched& watched = waves_[w.id];
    uint32_t left = quantum;
    do {
      const Op& op = *w.next;
      if (op.index < count) look_at(watched, w, op.index);
      ++w.next;
      op.run(w, op);
      --left;
    } while (left && !w.events);
    return quantum - left;
  }

private:
  struct Watched {
    PathNode* node = nullptr;
    WrittenRegisters registers;
    bool at_barrier = false;
  };

  [[gnu::always_inline]] void look_at(Watched& watched, Wave& w, uint32_t index) {
    follow(watched, w, index);
    watched.registers.check(w, index, run_.uses[index], run_.findings);
    if (run_.parts[index] == Part::none) return;
    if (run_.parts[index] == Part::memory) return memory_.access(w, index, *watched.node);
    special(w, index, watched);
  }

  /// `index` may be a moved instruction's.
  [[gnu::always_inline]] void follow(Watched& watched, Wave& w, uint32_t index) {
    if (watched.at_barrier) [[unlikely]]
      leave_barrier();
    watched.node = run_.paths.step(watched.node, index);
    if (watched.node->objectionable) [[unlikely]]
      object(w, *watched.node);
  }

  [[gnu::noinline]] void object(Wave& w, const PathNode& node) {
    for (const Objection& objection : node.objections)
      if (Finding* f = run_.findings.add(objection.kind, w, run_.moved.original(node.instruction),
                                         run_.moved.original(objection.cause)))
        f->message = objection.message;
  }

  [[gnu::noinline]] void special(Wave& w, uint32_t index, Watched& watched) {
    if (run_.parts[index] == Part::barrier)
      arrive(w, watched);
    else
      memory_.order().invalidate(w.id);
  }

  void arrive(Wave& w, Watched& watched) {
    memory_.arrive(w.id, watched.node->in_flight.operations());
    watched.at_barrier = true;
  }

  /// The first wave to go on says that all have arrived.
  [[gnu::noinline]] void leave_barrier() {
    for (Watched& watched : waves_) watched.at_barrier = false;
    memory_.pass_barrier();
  }

  Strict::Impl& run_;
  MemoryWatch memory_;
  std::vector<Watched> waves_;
};

} // namespace

Strict::Strict(const LaunchPlan& plan) : impl_(std::make_unique<Impl>(plan)) {}
Strict::~Strict() = default;

std::unique_ptr<Watcher> Strict::watcher(const Workgroup& group) {
  return std::make_unique<StrictWatcher>(*impl_, group);
}

StrictReport Strict::take() {
  StrictReport report{impl_->findings.take(), std::move(impl_->memory.gaps)};
  if (impl_->paths.cut()) report.gaps.push_back("waits and wait states: too many paths to remember all");
  return report;
}

} // namespace asmevo::machine::strict
