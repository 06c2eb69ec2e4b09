#include "run.h"

#include "batch.h"
#include "generator.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace asmevo::fuzz {

namespace {

/// The part of an AQL dispatch packet that compiled code reads: how large the workgroup and the grid are.
std::array<uint8_t, 64> dispatch_packet() {
  std::array<uint8_t, 64> packet{};
  const uint16_t workgroup[3] = {items, 1, 1};
  const uint32_t grid[3] = {items, 1, 1};
  std::memcpy(&packet[4], workgroup, sizeof workgroup);
  std::memcpy(&packet[12], grid, sizeof grid);
  return packet;
}

} // namespace

Result<KernelRun> run_kernel(const machine::Image& image, const object::Kernel& kernel, const std::vector<uint32_t>& in,
                             uint64_t budget, machine::Schedule schedule) {
  constexpr uint64_t image_base = 0x10000000, in_base = 0x20000000, out_base = 0x30000000, kernarg_base = 0x40000000,
                     packet_base = 0x50000000;
  machine::Memory memory;
  AE_CHECK(image.load(memory, image_base));
  KernelRun done;
  done.results.resize(size_t{items} * results_per_item);
  const uint64_t arguments[2] = {in_base, out_base};
  AE_TRY(auto input, memory.map(in_base, in.size() * 4, machine::Access::read_only, "in"));
  AE_TRY(auto out, memory.map(out_base, done.results.size() * 8, machine::Access::read_write, "out"));
  AE_TRY(auto kernarg, memory.map(kernarg_base, 512, machine::Access::read_only, "kernarg"));
  std::memcpy(input.data(), in.data(), input.size());
  std::memcpy(kernarg.data(), arguments, sizeof arguments);
  AE_TRY(auto packet, memory.map(packet_base, 64, machine::Access::read_only, "dispatch packet"));
  std::ranges::copy(dispatch_packet(), packet.begin());
  machine::Dispatch dispatch{.kernel = &kernel, .load_base = image_base, .kernarg_address = kernarg_base};
  dispatch.workgroup_size = {items, 1, 1};
  dispatch.dispatch_ptr = packet_base;
  AE_TRY(const auto run,
         machine::run(image, dispatch, memory, {.schedule = schedule, .instruction_budget = budget, .threads = 1}));
  done.instructions = run.instructions;
  if (run.status != machine::Status::completed)
    return fail("{}", run.fault ? fmt::format("pc {:#x}: {}", run.fault->address, run.fault->message) : "did not end");
  std::memcpy(done.results.data(), out.data(), out.size());
  return done;
}

} // namespace asmevo::fuzz
