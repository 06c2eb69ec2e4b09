#include "analysis/resources.h"

#include "analysis/memory.h"
#include "isa/fields.h"
#include "isa/resources.h"

#include <algorithm>
#include <set>

namespace asmevo::analysis {
namespace {

using isa::Instruction;
using recover::Function;
using recover::Item;
using recover::ItemKind;
using recover::Program;

constexpr uint16_t addressable_sgprs = 102;

class Checker {
public:
  Checker(const Program& program, const Function& function, const Graph& graph)
      : program_(program), function_(function), graph_(graph) {}

  std::vector<Finding> run() {
    const std::vector<bool> reached = reachable(graph_);
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      if (reached[b]) control(graph_.blocks[b]);
    if (function_.kernel >= 0 && static_cast<size_t>(function_.kernel) < program_.declared.size()) {
      registers(declared(), true);
      lds();
      scratch();
      kernarg();
    } else if (!program_.declared.empty()) {
      registers(most_declared(), false);
    }
    std::ranges::stable_sort(findings_, {}, &Finding::item);
    return std::move(findings_);
  }

private:
  void add(std::string_view rule, size_t item, std::string message) {
    findings_.push_back({std::string(rule), item, item, std::move(message)});
  }

  const isa::Resources& declared() const { return program_.declared[function_.kernel]; }

  /// A device function runs with what its kernel declares, which one of them may be: more than any of them is wrong.
  isa::Resources most_declared() const {
    isa::Resources most;
    for (const isa::Resources& one : program_.declared) {
      most.vgprs = std::max({most.vgprs, one.vgprs, one.accum_offset + one.agprs});
      most.agprs = std::max(most.agprs, one.agprs);
      most.sgprs = std::max(most.sgprs, one.sgprs);
    }
    return most;
  }

  template <class Visit> void each_instruction(Visit&& visit) const {
    for (size_t i = function_.first; i < function_.last; ++i)
      if (is_instruction(program_.items[i])) visit(i, program_.items[i].instruction);
  }

  // R006, R009, R010.
  void control(const Block& block) {
    const size_t last = block.last - 1;
    if (block.falls_off)
      add("R006", last,
          fmt::format("{}: control runs past the end of the function or into data", place_of(program_.items[last])));
    for (size_t i = block.first; i < block.last; ++i) {
      const Item& item = program_.items[i];
      if (is_instruction(item) && item.instruction.encoding == isa::Encoding::unknown)
        add("R009", i,
            fmt::format("{}: not an instruction of {}", place_of(item), processor_name(program_.target.processor)));
    }
    const Item& end = program_.items[last];
    if (!is_instruction(end) || !end.instruction.traits.branch || end.instruction.traits.indirect) return;
    if (block.unknown && !leaves_for_a_function(end.target))
      add("R010", last, fmt::format("{}: the label `{}` is nowhere in the program", place_of(end), end.target));
  }

  bool leaves_for_a_function(const std::string& label) const {
    return std::ranges::any_of(program_.items,
                               [&](const Item& item) { return item.kind == ItemKind::label && item.text == label; });
  }

  // R001 to R004. Where accumulators begin is known of a kernel alone.
  void registers(const isa::Resources& has, bool of_kernel) {
    const bool unified = program_.target.unified_registers();
    const uint32_t rows = unified ? std::max(has.vgprs, has.accum_offset + has.agprs) : has.vgprs;
    bool agprs = false;
    each_instruction([&](size_t, const Instruction& i) {
      for (const auto* ranges : {&i.defs, &i.uses})
        for (const isa::RegisterRange& r : *ranges) agprs |= r.file == isa::File::agpr;
    });
    each_instruction([&](size_t item, const Instruction& i) {
      std::set<std::string_view> said;
      for (const auto* ranges : {&i.defs, &i.uses})
        for (const isa::RegisterRange& r : *ranges) {
          const uint32_t end = uint32_t{r.first} + r.count;
          const auto say = [&](std::string_view rule, std::string_view file, uint32_t limit, std::string_view what) {
            if (!said.insert(rule).second) return;
            add(rule, item,
                fmt::format("{} names {}{}, {} {}", place_of(program_.items[item]), file, end - 1, what, limit));
          };
          if (r.file == isa::File::vgpr && end > rows) say("R001", "v", rows, "the descriptor declares VGPRs below");
          if (of_kernel && r.file == isa::File::vgpr && unified && agprs && end > has.accum_offset && end <= rows)
            say("R002", "v", has.accum_offset, "which is an accumulator too: accum_offset is");
          if (r.file == isa::File::agpr && end > has.agprs)
            say("R003", "a", has.agprs, "the descriptor declares AGPRs below");
          if (r.file == isa::File::sgpr && r.first < addressable_sgprs && end > has.sgprs)
            say("R004", "s", has.sgprs, "the descriptor declares SGPRs below");
        }
    });
  }

  // R005.
  void lds() {
    const uint32_t allocated = declared().lds_bytes;
    // What a launch adds as dynamic LDS lies behind the static part, so without one nothing can be said.
    if (allocated == 0) return;
    each_instruction([&](size_t item, const Instruction& i) {
      const MemoryAccess access = memory_access(i);
      if (access.space != Space::lds) return;
      for (uint8_t e = 0; e < access.extent_count; ++e) {
        const int64_t end = access.extents[e].offset + access.extents[e].bytes;
        if (end <= allocated) continue;
        add("R005", item,
            fmt::format("{} reaches LDS byte {} at least, {} are allocated", place_of(program_.items[item]), end - 1,
                        allocated));
        return;
      }
    });
  }

  bool has_dynamic_stack() const {
    if (!program_.origin || static_cast<size_t>(function_.kernel) >= program_.origin->kernels.size()) return false;
    constexpr unsigned uses_dynamic_stack = 11; // LLVM AMDGPUUsage, "Kernel Descriptor", kernel_code_properties
    return program_.origin->kernels[function_.kernel].descriptor.kernel_code_properties() >> uses_dynamic_stack & 1;
  }

  // R011. Where a register takes part in the address, nobody knows how far it reaches.
  void scratch() {
    if (has_dynamic_stack()) return;
    each_instruction([&](size_t item, const Instruction& i) {
      const MemoryAccess access = memory_access(i);
      if (access.space != Space::scratch || !access.base.empty() || access.extent_count == 0) return;
      const int64_t first = access.extents[0].offset, end = first + access.extents[0].bytes;
      if (first < 0 || end > declared().scratch_bytes)
        add("R011", item,
            fmt::format("{} reaches scratch byte {}, {} are declared", place_of(program_.items[item]),
                        first < 0 ? first : end - 1, declared().scratch_bytes));
    });
  }

  /// Loads are widened to what is there anyway: the segment is allocated in sixteens, and compilers know.
  uint32_t kernarg_size() const {
    constexpr uint32_t granule = 16;
    return (declared_kernarg_size() + granule - 1) / granule * granule;
  }
  uint32_t declared_kernarg_size() const {
    const object::Kernel& kernel = program_.origin->kernels[function_.kernel];
    const uint32_t metadata = kernel.metadata ? kernel.metadata->kernarg_segment_size : 0;
    return std::max(metadata, kernel.descriptor.kernarg_size());
  }

  // R007. Follows the pointer through copies; whoever adds to it is on their own.
  void kernarg() {
    const auto pointer = kernarg_pointer(program_, function_);
    if (!pointer || kernarg_size() == 0) return;
    using Pairs = std::bitset<128>;
    std::vector<Pairs> entry(graph_.blocks.size(), ~Pairs());
    for (uint32_t b : graph_.entries) entry[b] = Pairs().set(*pointer);
    const auto walk = [&](const Block& block, Pairs pairs, bool report) {
      for (size_t i = block.first; i < block.last; ++i) {
        if (!is_instruction(program_.items[i])) continue;
        const Instruction& instruction = program_.items[i].instruction;
        if (report) kernarg_read(i, instruction, pairs);
        follow(instruction, pairs);
      }
      return pairs;
    };
    const std::vector<uint32_t> order = reverse_postorder(graph_);
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b : order) {
        const Pairs out = walk(graph_.blocks[b], entry[b], false);
        for (uint32_t s : graph_.blocks[b].successors) {
          const Pairs joined = entry[s] & out;
          changed |= joined != entry[s];
          entry[s] = joined;
        }
      }
    }
    const std::vector<bool> reached = reachable(graph_);
    for (uint32_t b = 0; b < graph_.blocks.size(); ++b)
      if (reached[b]) walk(graph_.blocks[b], entry[b], true);
  }

  static void follow(const Instruction& i, std::bitset<128>& pairs) {
    const bool copies = i.encoding == isa::Encoding::sop1 && name_of(i) == "s_mov_b64" &&
                        isa::fields::sop1(i.words).ssrc0 < 128 && pairs.test(isa::fields::sop1(i.words).ssrc0);
    if (is_call(i)) pairs.reset();
    for (const isa::RegisterRange& def : i.defs) {
      if (def.file != isa::File::sgpr) continue;
      for (uint32_t r = def.first; r < uint32_t{def.first} + def.count && r < 128; ++r) {
        pairs.reset(r);
        if (r > 0) pairs.reset(r - 1);
      }
    }
    if (copies) pairs.set(isa::fields::sop1(i.words).sdst);
  }

  void kernarg_read(size_t item, const Instruction& i, const std::bitset<128>& pairs) {
    if (!i.traits.smem || !i.traits.may_load) return;
    const MemoryAccess access = memory_access(i);
    if (access.base.size() != 1 || access.base[0].count != 2 || !pairs.test(access.base[0].first)) return;
    const int64_t first = access.extents[0].offset, end = first + access.extents[0].bytes;
    if (first >= 0 && end <= kernarg_size()) return;
    add("R007", item,
        fmt::format("{} reads kernel argument bytes {} to {}, the segment has {}", place_of(program_.items[item]),
                    first, end - 1, kernarg_size()));
  }

  const Program& program_;
  const Function& function_;
  const Graph& graph_;
  std::vector<Finding> findings_;
};

struct RestrictionRow {
  std::string_view prefix, why;
};
/// What lets a candidate behave by where, when or how often it runs, or change how the wave runs.
constexpr std::array restrictions = {
    RestrictionRow{"s_memtime", "reads a clock"},
    RestrictionRow{"s_memrealtime", "reads a clock"},
    RestrictionRow{"s_getpc_b64", "reads its own address"},
    RestrictionRow{"s_swappc_b64", "calls through a register"},
    RestrictionRow{"s_setpc_b64", "jumps through a register"},
    RestrictionRow{"s_call_b64", "calls"},
    RestrictionRow{"s_rfe", "returns from a trap"},
    RestrictionRow{"s_trap", "traps"},
    RestrictionRow{"s_sendmsg", "sends a message to the host"},
    RestrictionRow{"s_sethalt", "halts the wave"},
    RestrictionRow{"s_setkill", "kills the wave"},
    RestrictionRow{"s_setreg", "changes hardware state"},
    RestrictionRow{"s_getreg", "reads hardware state"},
    RestrictionRow{"s_setvskip", "changes how instructions are skipped"},
    RestrictionRow{"s_set_gpr_idx", "changes how registers are named"},
    RestrictionRow{"s_ttracedata", "writes a trace"},
    RestrictionRow{"s_incperflevel", "steers a profiler"},
    RestrictionRow{"s_decperflevel", "steers a profiler"},
    RestrictionRow{"s_icache_inv", "invalidates the instruction cache"},
    RestrictionRow{"s_dcache_wb", "writes a cache back"},
    RestrictionRow{"s_store_", "stores through the scalar cache"},
    RestrictionRow{"s_buffer_store_", "stores through the scalar cache"},
    RestrictionRow{"s_atc_probe", "probes an address"},
    RestrictionRow{"ds_gws_", "synchronises globally"},
    RestrictionRow{"s_cbranch_cdbg", "asks the debugger"},
};

} // namespace

std::vector<Finding> verify_resources(const Program& program, const Function& function, const Graph& graph) {
  return Checker(program, function, graph).run();
}

std::string_view restriction(std::string_view mnemonic) {
  for (const RestrictionRow& row : restrictions)
    if (mnemonic.starts_with(row.prefix)) return row.why;
  return {};
}

std::vector<Finding> restricted_instructions(const Program& program, const Function& function) {
  std::vector<Finding> findings;
  for (size_t i = function.first; i < function.last; ++i) {
    if (!is_instruction(program.items[i])) continue;
    const std::string_view why = restriction(name_of(program.items[i].instruction));
    if (!why.empty())
      findings.push_back(
          {"R008", i, i, fmt::format("{} {}, which the original does not", place_of(program.items[i]), why)});
  }
  return findings;
}

} // namespace asmevo::analysis
