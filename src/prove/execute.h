// Executes instructions on terms.
//
// Operands come from the machine's own decoder (machine/decode.h): what a source is, which half or byte of it counts
// and where its sign is changed is decided there once, for running and for proving. Integer and scalar instructions
// then apply their meanings (integer.h, scalar.h); every other instruction is an uninterpreted function of all it
// reads.
//
// A vector write is a choice by the lane's bit of EXEC between the new value and the old one. An instruction that works
// lane by lane reads its sources as they are in active lanes, since its result counts nowhere else; so what a register
// held in inactive lanes does not stand between two versions that use different registers for the same thing. Matrix
// instructions and lane reads see all lanes and get the registers as they are.
//
// Memory is a sequence of stores for each address space, which a load names together with its address. Loads pass over
// stores through the same base at other offsets, and such stores have one order, by offset: the rule of
// analysis/memory.h, and like there not for LDS, where lanes meet. Where the two addresses are known beyond the region
// (analysis/addresses.h), whatever is disjoint passes, in LDS what is disjoint in all lanes. Global memory is kept
// dword by dword, so that one wide access and several narrow ones are the same accesses. Atomics, coherent accesses,
// messages and barriers keep their order against everything they could be told from. Waits and hints are nothing.
#pragma once

#include "analysis/addresses.h"
#include "machine/decode.h"
#include "prove/integer.h"
#include "prove/scalar.h"
#include "prove/term.h"

#include <map>
#include <optional>
#include <set>

namespace asmevo::prove {

/// What a wave holds: a term for every register unit (analysis/registers.h).
using Registers = std::vector<Id>;

/// Where an access goes: terms that say the base, and a constant offset.
struct Place {
  std::string space; // accesses of different spaces are never compared
  std::vector<Id> base;
  uint64_t offset = 0;
  uint32_t bytes = 0;

  auto operator<=>(const Place&) const = default;
};

struct StoreRecord {
  Place place;
  Id memory = 0; // before it
  Id guard = 0;
  std::vector<Id> data;
  bool movable = false; // among stores at other offsets of the same base
};

/// Equal operations are worth equal terms only if nothing forbids it; what floating point allows is said here.
struct FloatRules {
  bool commute = false;  // a + b and a * b are b + a and b * a, NaN payloads included
  bool contract = false; // fma(a, b, c) is a * b + c, which is rounded twice
};

/// A barrier between two memories: whether a store may have come before it, and may come behind it before the next
/// (analysis::BarrierStores).
struct BarrierRecord {
  Id memory = 0; // before it
  bool stores_before = true, stores_behind = true;
};

/// What the two versions of a region share.
struct Shared {
  Terms terms;
  isa::Target target;
  analysis::RegisterMap registers;
  std::optional<uint16_t> kernarg; // SGPR pair that holds the kernarg segment's address in the whole function
  FloatRules floats;
  std::map<Id, StoreRecord> stores;
  std::map<Id, BarrierRecord> barriers; // by the global memory behind it
  /// Loads of the original by place: the memories that they see. Empty while the original itself is executed.
  std::map<Place, std::set<Id>> original_loads, loads_so_far;
  Id lane = 0; // this lane's number
};

struct Memories {
  Id global = 0, lds = 0, scratch = 0;
  bool operator==(const Memories&) const = default;
};

/// A read that could fault, and when it happens.
struct Read {
  Place place;
  Id guard = 0;
};

/// What an instruction does to how later vector instructions name registers.
enum class Naming : uint8_t { none, by_index, as_written, unknown };
Naming naming_effect(const isa::Instruction& instruction);

/// Whether a result depends on registers of other lanes, active or not. (DPP and LDS permutes ask active lanes only.)
bool looks_at_all_lanes(const isa::Instruction& instruction);

/// One version of a region in execution. `path` of each step: the condition (a bit, the same in all lanes) under which
/// the step is reached.
class Execution {
public:
  Execution(Shared& shared, Memories memories) : shared_(shared), terms_(shared.terms), memories_(memories) {}

  /// `literal`: where the instruction's literal is the distance of two places, what the listing calls it.
  /// Errors: an instruction that is not understood well enough, in words.
  Result<void> step(const isa::Instruction& instruction, Registers& registers, Id path, std::string_view literal = {});

  /// A call: a function of all registers and memories, that of the callee. Functions are compared by themselves.
  /// `callee`: a label, where the instruction names one.
  void call(const isa::Instruction& instruction, Registers& registers, Id path, std::string_view callee);

  /// Condition of a conditional branch, as a bit.
  Result<Id> branch_condition(const isa::Instruction& instruction, const Registers& registers);

  /// Says what is known of the barrier that the next step is.
  void at_barrier(bool stores_before, bool stores_behind) {
    barrier_.stores_before = stores_before;
    barrier_.stores_behind = stores_behind;
  }

  /// Says which item the next step is, and what is known of the version's addresses, if they were asked for.
  void at_item(size_t item, const analysis::Addresses* addresses) {
    item_ = item;
    addresses_ = addresses;
  }

  Id exec(const Registers& registers);
  const Memories& memories() const { return memories_; }
  const std::vector<Read>& reads() const { return reads_; }

private:
  friend struct Step; // one instruction (step.h)

  /// Whether the store that made `memory` and access `item` are known to be disjoint.
  bool passes(Id memory, size_t item) const {
    const auto store = store_items_.find(memory);
    return addresses_ && store != store_items_.end() && addresses_->may_trade_places(store->second, item);
  }

  Shared& shared_;
  Terms& terms_;
  Memories memories_;
  std::vector<Read> reads_;
  BarrierRecord barrier_;
  size_t item_ = 0;
  const analysis::Addresses* addresses_ = nullptr;
  std::map<Id, size_t> store_items_; // of this version, by the memory behind the store
  bool indexing_ = false;            // M0 is added to register numbers
  machine::Pool pool_;
};

} // namespace asmevo::prove
