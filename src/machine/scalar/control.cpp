// Program flow, modes and everything else a scalar instruction can do to its wave.
//
// A branch sets Wave::next. Barriers, sleeps and the end are events that hand the wave back to the scheduler. The two
// modes that change what vector instructions mean, GPR indexing and VSKIP, raise the `modal` event while they are on,
// and the scheduler then takes instructions one by one through step_modal().
#include "machine/decode.h"
#include "machine/modal.h"
#include "machine/workgroup.h"

#include <array>
#include <bit>

namespace asmevo::machine {

void run_unsupported(Wave& w, const Op& op) {
  const auto& i = w.workgroup->image->instructions[op.index];
  if (i.encoding == isa::Encoding::unknown)
    return raise(w, op, -1, 0, fmt::format("word {:#010x} is no instruction of this target", i.words[0]));
  raise(w, op, -1, 0, "is not supported by the simulated machine");
}

void run_outside_text(Wave& w, const Op& op) { raise(w, op, -1, 0, "the wave runs outside .text"); }

void run_refreshing(Wave& w, const Op& op) {
  refresh_conditions(w);
  op.stage->core(w, op);
}

void set_mode(Wave& w, uint32_t value) {
  w.mode = value;
  if (value & (mode::gpr_idx_en | mode::vskip))
    w.events |= event::modal;
  else
    w.events &= ~event::modal;
}

namespace scalar {

namespace {

void nothing(Wave&, const Op&) {}

void branch(Wave& w, const Op& op) { w.next = w.ops + op.imm; }
template <class F> void run_branch_if(Wave& w, const Op& op) {
  if (F{}(w)) branch(w, op);
}
template <class F> constexpr InstructionRow branch_if(std::string_view mnemonic, F) {
  return {mnemonic, Shape::salu, {}, &run_branch_if<F>};
}

/// Device address of the instruction behind `op`.
uint64_t address_after(const Wave& w, const Op& op) {
  const auto& i = w.workgroup->image->instructions[op.index];
  return w.workgroup->load_base + i.address + i.size;
}

void jump(Wave& w, const Op& op, uint64_t address) {
  const Workgroup& group = *w.workgroup;
  const int64_t index = group.image->index_of(address - group.load_base);
  if (index >= 0)
    w.next = w.ops + index;
  else
    raise(w, op, -1, address,
          fmt::format("jumps to {:#x}, where no instruction of .text begins ({})", address,
                      group.memory->describe(address, 4)));
}

void getpc(Wave& w, const Op& op) { w.write64(op.sdst, address_after(w, op)); }
void setpc(Wave& w, const Op& op) { jump(w, op, scalar64(w, op.ssrc[0])); }
void swappc(Wave& w, const Op& op) {
  const uint64_t target = scalar64(w, op.ssrc[0]);
  w.write64(op.sdst, address_after(w, op));
  jump(w, op, target);
}
void call(Wave& w, const Op& op) {
  w.write64(op.sdst, address_after(w, op));
  branch(w, op);
}

void endpgm(Wave& w, const Op&) { w.events |= event::ended; }
void barrier(Wave& w, const Op&) {
  if (w.workgroup->wave_count > 1) w.events |= event::barrier;
}
void sleep(Wave& w, const Op&) { w.events |= event::yield; }
void trap(Wave& w, const Op& op) { raise(w, op, -1, 0, fmt::format("{}", op.imm & 0xff)); }
// Nobody is there to wake a halted wave.
void halt(Wave& w, const Op& op) {
  if (op.imm & 1) w.events |= event::halted;
}

void halt_always(Wave& w, const Op&) { w.events |= event::halted; }

void setkill(Wave& w, const Op& op) {
  if (op.imm & 1) w.events |= event::ended;
}

// Divergent flow with a stack of {EXEC, pc} pairs in scalar registers. A fork takes the path of fewer lanes first and
// keeps the other for the join, which comes here twice. CSP counts the pairs, in the top bits of MODE.
// Source: CDNA3 ISA manual, "Arbitrary Divergent Control Flow".
constexpr uint32_t csp_shift = 29, csp_limit = 6;

void push(Wave& w, const Op& op, uint64_t exec, uint64_t address) {
  const uint32_t csp = w.mode >> csp_shift;
  if (csp >= csp_limit) return raise(w, op, -1, 0, "finds its stack of six entries full");
  w.write64(4 * csp, exec);
  w.write64(4 * csp + 2, address);
  w.mode += 1u << csp_shift;
}

void fork(Wave& w, const Op& op, uint64_t mask, uint64_t target) {
  const uint64_t exec = w.exec(), pass = mask & exec, fail = ~mask & exec;
  if (pass == exec) return jump(w, op, target);
  if (fail == exec) return;
  if (std::popcount(fail) < std::popcount(pass)) {
    push(w, op, pass, target);
    return w.set_exec(fail);
  }
  push(w, op, fail, address_after(w, op));
  w.set_exec(pass);
  jump(w, op, target);
}
void g_fork(Wave& w, const Op& op) { fork(w, op, scalar64(w, op.ssrc[0]), scalar64(w, op.ssrc[1])); }
void i_fork(Wave& w, const Op& op) {
  const auto& instructions = w.workgroup->image->instructions;
  if (size_t(op.imm) >= instructions.size()) return branch(w, op);
  fork(w, op, w.read64(op.sdst), w.workgroup->load_base + instructions[size_t(op.imm)].address);
}
void join(Wave& w, const Op& op) {
  const uint32_t csp = w.mode >> csp_shift;
  if (csp == (scalar32(w, op.ssrc[0]) & 7)) return;
  if (csp == 0) return raise(w, op, -1, 0, "finds its stack empty");
  w.mode -= 1u << csp_shift;
  w.set_exec(w.read64(4 * (csp - 1)));
  jump(w, op, w.read64(4 * (csp - 1) + 2));
}

// Hardware registers, by number (LLVM AMDGPU "hwreg" ids). 6-bit id, 5-bit offset, 5-bit size - 1.
enum HardwareRegister : uint32_t {
  reg_mode = 1,
  reg_status = 2,
  reg_trapsts = 3,
  reg_hw_id = 4,
  reg_gpr_alloc = 5,
  reg_lds_alloc = 6,
  reg_ib_sts = 7,
  reg_sh_mem_bases = 15,
  reg_xcc_id = 20
};
constexpr uint32_t field_offset(uint32_t code) { return code >> 6 & 31; }
constexpr uint32_t field_mask(uint32_t code) { return uint32_t((uint64_t{2} << (code >> 11 & 31)) - 1); }

std::optional<uint32_t> hardware_register(const Wave& w, uint32_t number) {
  switch (number) {
  case reg_mode:
    return w.mode;
  case reg_status:
    return w.scc | uint32_t(w.exec() == 0) << 9 | uint32_t(w.vcc() == 0) << 10 | 1u << 16;
  case reg_trapsts:
  case reg_ib_sts:
  case reg_xcc_id:
    return 0;
  case reg_hw_id:
    return w.id & 15;
  case reg_gpr_alloc:
    return w.vgpr_rows / 4 - 1;
  case reg_lds_alloc:
    return w.lds_size / 512 << 12;
  case reg_sh_mem_bases:
    return uint32_t(shared_aperture >> 48) << 16 | uint32_t(private_aperture >> 48);
  default:
    return std::nullopt;
  }
}

void getreg(Wave& w, const Op& op) {
  const uint32_t code = uint32_t(op.imm) & 0xffff;
  if (auto value = hardware_register(w, code & 63))
    w.sgpr[op.sdst] = *value >> field_offset(code) & field_mask(code);
  else
    raise(w, op, -1, 0, fmt::format("reads hardware register {}, which is not simulated", code & 63));
}

void write_register(Wave& w, const Op& op, uint32_t value) {
  const uint32_t code = uint32_t(op.imm) & 0xffff, mask = field_mask(code) << field_offset(code);
  if ((code & 63) == reg_mode)
    set_mode(w, (w.mode & ~mask) | (value << field_offset(code) & mask));
  else if ((code & 63) != reg_trapsts)
    raise(w, op, -1, 0, fmt::format("writes hardware register {}, which is not simulated", code & 63));
}
void setreg(Wave& w, const Op& op) { write_register(w, op, w.sgpr[op.sdst]); }
void setreg_imm32(Wave& w, const Op& op) { write_register(w, op, scalar32(w, op.ssrc[0])); }

// GPR indexing keeps its state in M0: the index in 7:0, what it applies to in 15:12.
void set_gpr_idx_on(Wave& w, const Op& op) {
  w.sgpr[slot::m0] = (w.m0() & 0xffff0f00) | (scalar32(w, op.ssrc[0]) & 0xff) | (uint32_t(op.imm) & 15) << 12;
  set_mode(w, w.mode | mode::gpr_idx_en);
}
void set_gpr_idx_off(Wave& w, const Op&) { set_mode(w, w.mode & ~mode::gpr_idx_en); }
void set_gpr_idx_mode(Wave& w, const Op& op) {
  w.sgpr[slot::m0] = (w.m0() & 0xffff0fff) | (uint32_t(op.imm) & 15) << 12;
}
void set_gpr_idx_idx(Wave& w, const Op& op) {
  w.sgpr[slot::m0] = (w.m0() & 0xffffff00) | (scalar32(w, op.ssrc[0]) & 0xff);
}
void setvskip(Wave& w, const Op& op) {
  const bool skip = scalar32(w, op.ssrc[0]) >> (scalar32(w, op.ssrc[1]) & 31) & 1;
  set_mode(w, skip ? w.mode | mode::vskip : w.mode & ~mode::vskip);
}

constexpr InstructionRow plain(std::string_view mnemonic, Handler handler, uint8_t wide = 0) {
  return {mnemonic, Shape::salu, {}, handler, Support::exact, on_all, 0, wide};
}

constexpr std::array table = {
    plain("s_branch", &branch),
    branch_if("s_cbranch_scc0", [](const Wave& w) { return w.scc == 0; }),
    branch_if("s_cbranch_scc1", [](const Wave& w) { return w.scc != 0; }),
    branch_if("s_cbranch_vccz", [](const Wave& w) { return w.vcc() == 0; }),
    branch_if("s_cbranch_vccnz", [](const Wave& w) { return w.vcc() != 0; }),
    branch_if("s_cbranch_execz", [](const Wave& w) { return w.exec() == 0; }),
    branch_if("s_cbranch_execnz", [](const Wave& w) { return w.exec() != 0; }),
    // No debugger is attached.
    branch_if("s_cbranch_cdbgsys", [](const Wave&) { return false; }),
    branch_if("s_cbranch_cdbguser", [](const Wave&) { return false; }),
    branch_if("s_cbranch_cdbgsys_or_user", [](const Wave&) { return false; }),
    branch_if("s_cbranch_cdbgsys_and_user", [](const Wave&) { return false; }),
    plain("s_getpc_b64", &getpc),
    plain("s_setpc_b64", &setpc, 1),
    plain("s_swappc_b64", &swappc, 1),
    plain("s_call_b64", &call),
    plain("s_endpgm", &endpgm),
    plain("s_endpgm_saved", &endpgm),
    plain("s_barrier", &barrier),
    plain("s_sleep", &sleep),
    plain("s_sethalt", &halt),
    plain("s_sendmsghalt", &halt_always),
    plain("s_trap", &trap),
    plain("s_setkill", &setkill),
    plain("s_cbranch_g_fork", &g_fork, 3),
    plain("s_cbranch_i_fork", &i_fork),
    plain("s_cbranch_join", &join),
    plain("s_getreg_b32", &getreg),
    plain("s_setreg_b32", &setreg),
    plain("s_setreg_imm32_b32", &setreg_imm32),
    plain("s_set_gpr_idx_on", &set_gpr_idx_on),
    plain("s_set_gpr_idx_off", &set_gpr_idx_off),
    plain("s_set_gpr_idx_mode", &set_gpr_idx_mode),
    plain("s_set_gpr_idx_idx", &set_gpr_idx_idx),
    plain("s_setvskip", &setvskip),
    // What only costs time, or speaks to a host that is not there.
    plain("s_nop", &nothing),
    plain("s_waitcnt", &nothing),
    plain("s_setprio", &nothing),
    plain("s_wakeup", &nothing),
    plain("s_sendmsg", &nothing),
    plain("s_icache_inv", &nothing),
    plain("s_incperflevel", &nothing),
    plain("s_decperflevel", &nothing),
    plain("s_ttracedata", &nothing),
};

} // namespace

std::span<const InstructionRow> control() { return table; }

} // namespace scalar

} // namespace asmevo::machine
