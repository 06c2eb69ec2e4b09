#include "profile/producers.h"

#include "isa/counters.h"
#include "profile/windows.h"

#include <algorithm>
#include <functional>

namespace asmevo::profile {

namespace {

constexpr size_t farthest = 1024; // instructions; a counter reaches back through at most 63 operations

/// The instructions of a block that were executed before one of it, the latest first.
std::vector<size_t> executed_before(std::span<const isa::Instruction> code, size_t begin, size_t end, size_t at) {
  std::vector<size_t> order;
  for (size_t i = at; i-- > begin && order.size() < farthest;) order.push_back(i);
  const bool loop = code[end - 1].traits.branch && code[end - 1].branch_target == int64_t(code[begin].address);
  for (size_t i = end; loop && i-- > at + 1 && order.size() < farthest;) order.push_back(i);
  return order;
}

using Raises = std::function<bool(const isa::CounterEvents&)>;

/// The operation that must be done before at most `limit` of those that raise the counter are left.
const isa::Instruction* waited_for(std::span<const isa::Instruction> code, const std::vector<size_t>& before,
                                   unsigned limit, const Raises& raises) {
  for (size_t i : before)
    if (raises(isa::counter_events(code[i])) && limit-- == 0) return &code[i];
  return nullptr;
}

const isa::Instruction* last_writer(std::span<const isa::Instruction> code, const std::vector<size_t>& before,
                                    const isa::Instruction& reader) {
  for (size_t i : before)
    for (const isa::RegisterRange& written : code[i].defs)
      for (const isa::RegisterRange& read : reader.uses)
        if (written.overlaps(read)) return &code[i];
  return nullptr;
}

} // namespace

void add_producers(Profile& profile, std::span<const isa::Instruction> code) {
  const auto add = [&](const Row& row, const isa::Instruction* producer, Reason reason) {
    const double stall = row.stalls[size_t(reason)];
    if (producer && stall > 0)
      profile.edges.push_back(
          {.producer = producer->address, .consumer = row.address, .reason = reason, .stall = stall});
  };
  for (const auto& [begin, end] : basic_blocks(code)) {
    for (size_t i = begin; i < end; ++i) {
      const Row* row = profile.at(code[i].address);
      if (!row) continue;
      const std::vector<size_t> before = executed_before(code, begin, end, i);
      const isa::WaitCounts wait = isa::waits_of(code[i]);
      if (wait.vmcnt < 63) {
        const auto* load = waited_for(code, before, wait.vmcnt, [](const auto& e) { return e.vmcnt > 0; });
        add(*row, load, Reason::vmcnt);
        add(*row, load, Reason::wait);
      }
      if (wait.lgkmcnt < 15)
        add(*row, waited_for(code, before, wait.lgkmcnt, [](const auto& e) { return e.lgkmcnt > 0; }), Reason::lgkmcnt);
      add(*row, last_writer(code, before, code[i]), Reason::dependency);
    }
  }
}

} // namespace asmevo::profile
