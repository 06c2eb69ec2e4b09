#include "machine/workgroup.h"

namespace asmevo::machine {

void raise(Wave& w, const Op& op, int lane, uint64_t data_address, std::string_view message) {
  w.events |= event::fault;
  Workgroup& group = *w.workgroup;
  if (group.fault) return;
  const auto& instructions = group.image->instructions;
  Fault fault;
  fault.workgroup = group.id;
  fault.wave = w.id;
  fault.lane = lane;
  fault.data_address = data_address;
  fault.message = message;
  if (op.index < instructions.size()) {
    fault.instruction = op.index;
    fault.address = instructions[op.index].address;
    fault.message = fmt::format("{} {}", isa::name_of(instructions[op.index]), message);
  }
  group.fault = std::move(fault);
}

void raise_access(Wave& w, const Op& op, int lane, uint64_t address, uint32_t bytes, bool write) {
  const Memory& memory = *w.workgroup->memory;
  const Region* region = memory.find(address, bytes);
  const char* verb = write ? "writes" : "reads";
  std::string where = memory.describe(address, bytes);
  if (region && region->access == Access::read_only)
    return raise(w, op, lane, address, fmt::format("writes {}, which is read-only", where));
  if (where == "in no buffer") where = fmt::format("{} bytes at {:#x}, in no buffer", bytes, address);
  raise(w, op, lane, address, fmt::format("{} {}", verb, where));
}

void raise_scratch(Wave& w, const Op& op, int lane, uint32_t offset, uint32_t bytes, bool write) {
  raise(w, op, lane, private_aperture | offset,
        fmt::format("{} {} bytes at scratch offset {:#x} of a lane that has {}", write ? "writes" : "reads", bytes,
                    offset, w.workgroup->scratch_bytes));
}

void raise_format(Wave& w, const Op& op, uint32_t data_format, uint32_t number_format) {
  raise(w, op, -1, 0,
        fmt::format("uses data format {} with number format {}, which is not supported", data_format, number_format));
}

} // namespace asmevo::machine
