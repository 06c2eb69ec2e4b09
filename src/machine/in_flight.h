// What a wave has issued and not yet waited for.
//
// The machine performs a memory operation when it issues, the hardware some time later: at the latest when a wait
// counter forces it. Strict mode asks which registers are not there yet, the late-load schedule keeps results back
// until they must be. Both count as the hardware does (isa/counters.h): vector memory and LDS finish in order, so a
// wait for n frees all but the last n; scalar loads and FLAT finish in any order and only a wait for 0 frees them. A
// counter that is full holds the next operation back, which frees the oldest of those that finish in order; of the
// others it is not known which.
#pragma once

#include "isa/counters.h"

#include <span>
#include <vector>

namespace asmevo::machine {

/// How an operation hangs on one counter.
enum class Order : uint8_t { none, in_order, any_order };

/// What an instruction does to the counters.
struct CounterUse {
  Order vm = Order::none, lgkm = Order::none;
  isa::WaitCounts wait; // of an s_waitcnt

  bool issues() const { return vm != Order::none || lgkm != Order::none; }
};

CounterUse counter_use(const isa::Instruction& instruction);

struct Outstanding {
  uint32_t instruction = 0;
  Order vm = Order::none, lgkm = Order::none;

  bool operator==(const Outstanding&) const = default;
};

class InFlight {
public:
  /// Oldest first.
  std::span<const Outstanding> operations() const { return operations_; }
  bool empty() const { return operations_.empty(); }
  void clear() { operations_.clear(); }

  /// Adds an operation; `done(position)` is called for those that a full counter forces, before they are removed.
  template <class Done> void issue(uint32_t instruction, const CounterUse& use, Done&& done) {
    operations_.push_back({instruction, use.vm, use.lgkm});
    complete(vm_capacity, lgkm_capacity, done);
  }
  /// Frees what a wait frees; `done(position)` is called for each operation before they are removed, oldest first.
  template <class Done> void wait(const isa::WaitCounts& counts, Done&& done) {
    complete(counts.vmcnt, counts.lgkmcnt, done);
  }

  bool operator==(const InFlight&) const = default;

private:
  static constexpr uint8_t vm_capacity = 63, lgkm_capacity = 15;

  /// At most so many may be outstanding of each counter.
  template <class Done> void complete(uint8_t vm, uint8_t lgkm, Done&& done) {
    uint32_t vm_behind = 0, lgkm_behind = 0;
    for (size_t k = operations_.size(); k-- > 0;) {
      finish(operations_[k].vm, vm, vm_behind);
      finish(operations_[k].lgkm, lgkm, lgkm_behind);
    }
    size_t kept = 0;
    for (size_t k = 0; k < operations_.size(); ++k) {
      if (operations_[k].vm == Order::none && operations_[k].lgkm == Order::none)
        done(k);
      else
        operations_[kept++] = operations_[k];
    }
    operations_.resize(kept);
  }
  static void finish(Order& order, uint8_t allowed, uint32_t& behind) {
    if (order == Order::any_order && allowed == 0) order = Order::none;
    if (order != Order::in_order) return;
    if (behind++ >= allowed) order = Order::none;
  }

  std::vector<Outstanding> operations_;
};

} // namespace asmevo::machine
