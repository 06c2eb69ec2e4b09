// See counters.h for the rules.
#include "isa/counters.h"

namespace asmevo::isa {
namespace {

bool is_message(std::string_view name) { return name.starts_with("s_sendmsg"); }

/// One for a dword (and for what returns nothing), two for more: they may come back in two pieces.
uint8_t smem_count(const Instruction& i) {
  const bool several = i.explicit_defs > 0 && i.defs[0].count > 1;
  return several ? 2 : 1;
}

} // namespace

CounterEvents counter_events(const Instruction& i) {
  CounterEvents events;
  const std::string_view name = name_of(i);
  if (i.traits.smem) {
    events.lgkmcnt = smem_count(i);
    events.lgkm_out_of_order = true;
  } else if (i.traits.vmem) {
    if (!i.traits.may_load && !i.traits.may_store) {
      events.vmcnt = name == "buffer_wbl2";
      return events;
    }
    events.vmcnt = 1;
    if (i.traits.flat) events.lgkmcnt = 1, events.lgkm_out_of_order = true;
  } else if (i.traits.lds) {
    if (name == "ds_nop") return events;
    events.lgkmcnt = 1;
    events.expcnt = name.starts_with("ds_gws_");
  } else if (i.encoding == Encoding::exp) {
    events.expcnt = 1;
  } else if (is_message(name)) {
    events.lgkmcnt = 1;
  }
  return events;
}

WaitCounts waits_of(const Instruction& i) {
  if (!i.traits.waitcnt) return {};
  return decode_waitcnt(static_cast<uint16_t>(i.words[0]));
}

} // namespace asmevo::isa
