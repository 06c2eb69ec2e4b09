// GDS and GWS.
//
// The global data share is LDS in the large: a DS instruction with its GDS bit set works there, within the part that M0
// gives (base in 31:16, size in 15:0). Global wave synchronisation counts waves in resources. Whoever must wait
// executes its instruction again at its next turn. Source: Vega ISA manual, DS_GWS_*.
#include "machine/decode.h"
#include "machine/global_share.h"
#include "machine/workgroup.h"

#include <algorithm>
#include <array>

namespace asmevo::machine {

void run_on_global_share(Wave& w, const Op& op) {
  GlobalShare& share = *w.workgroup->global_share;
  const uint32_t base = std::min(w.m0() >> 16, GlobalShare::size);
  uint8_t* const lds = w.lds;
  const uint32_t lds_size = w.lds_size;
  w.lds = share.data.data() + base;
  w.lds_size = std::min(w.m0() & 0xffff, GlobalShare::size - base);
  op.stage->core(w, op);
  w.lds = lds;
  w.lds_size = lds_size;
}

namespace scalar {

namespace {

constexpr uint32_t offset_mask = 63;

SyncResource& resource_of(const Wave& w, const Op& op) {
  const uint32_t number = (w.m0() >> 16) + uint32_t(op.imm);
  return w.workgroup->global_share->resources[number & offset_mask];
}

/// The count that the first active lane gives.
uint32_t count_of(Wave& w, const Op& op) {
  const uint64_t exec = w.exec();
  return row(w, op.src[0])->lane[exec ? __builtin_ctzll(exec) : 0];
}

uint64_t identity(const Wave& w) { return uint64_t{w.workgroup->id} << 32 | w.id; }

void wait(Wave& w, const Op& op) {
  w.next = w.ops + op.index;
  w.events |= event::yield;
}

void init(Wave& w, const Op& op) {
  SyncResource& resource = resource_of(w, op);
  resource.counter = count_of(w, op);
  resource.flag = false;
}

void release(Wave& w, const Op& op) { ++resource_of(w, op).counter; }
void release_many(Wave& w, const Op& op) { resource_of(w, op).counter += count_of(w, op); }
void release_all(Wave& w, const Op& op) {
  SyncResource& resource = resource_of(w, op);
  resource.counter += resource.waiting;
}

void acquire(Wave& w, const Op& op) {
  SyncResource& resource = resource_of(w, op);
  auto& waiting = w.workgroup->global_share->waiting;
  if (resource.counter == 0) {
    if (waiting.emplace(identity(w), true).second) ++resource.waiting;
    return wait(w, op);
  }
  --resource.counter;
  if (waiting.erase(identity(w))) --resource.waiting;
}

// The wave that finds the counter at 0 is the last: it opens the barrier and sets the count for the next one.
void barrier(Wave& w, const Op& op) {
  SyncResource& resource = resource_of(w, op);
  auto& waiting = w.workgroup->global_share->waiting;
  if (const auto found = waiting.find(identity(w)); found != waiting.end()) {
    if (found->second == resource.flag) return wait(w, op);
    waiting.erase(found);
    return;
  }
  if (resource.counter == 0) {
    resource.flag = !resource.flag;
    resource.counter = count_of(w, op);
    return;
  }
  --resource.counter;
  waiting.emplace(identity(w), resource.flag);
  wait(w, op);
}

constexpr InstructionRow gws(std::string_view mnemonic, Handler handler) { return {mnemonic, Shape::ds, {}, handler}; }

constexpr std::array table = {
    gws("ds_gws_init", &init),      gws("ds_gws_barrier", &barrier),
    gws("ds_gws_sema_v", &release), gws("ds_gws_sema_br", &release_many),
    gws("ds_gws_sema_p", &acquire), gws("ds_gws_sema_release_all", &release_all),
};

} // namespace

std::span<const InstructionRow> global_sync() { return table; }

} // namespace scalar

} // namespace asmevo::machine
