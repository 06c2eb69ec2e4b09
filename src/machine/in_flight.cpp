#include "machine/in_flight.h"

namespace asmevo::machine {

CounterUse counter_use(const isa::Instruction& i) {
  const isa::CounterEvents events = isa::counter_events(i);
  CounterUse use;
  use.wait = isa::waits_of(i);
  const bool write_back = i.traits.vmem && !i.traits.may_load && !i.traits.may_store;
  if (events.vmcnt) use.vm = i.traits.flat || write_back ? Order::any_order : Order::in_order;
  if (events.lgkmcnt) use.lgkm = events.lgkm_out_of_order || !i.traits.lds ? Order::any_order : Order::in_order;
  return use;
}

} // namespace asmevo::machine
