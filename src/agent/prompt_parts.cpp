#include "agent/prompt_parts.h"

#include "agent/advice.h"
#include "agent/paging.h"
#include "agent/window_facts.h"
#include "launch/launch.h"
#include "profile/occupancy.h"
#include "search/lineage.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace asmevo::agent {
namespace {

constexpr size_t most_arguments = 24, most_edges = 12, most_windows = 10;
constexpr double least_edge = 0.005; // of the kernel's time

std::string one_line(std::string_view text, size_t longest = longest_name) {
  std::string out = bounded(text, longest);
  std::ranges::replace(out, '\n', ' ');
  std::ranges::replace(out, '`', '\'');
  return out;
}

/// A block of foreign text, each line behind a bar.
std::string quoted(std::string_view text, size_t longest) {
  std::string out = "| ";
  for (const char c : bounded(text, longest)) {
    out += c;
    if (c == '\n') out += "| ";
  }
  while (out.ends_with("\n| ")) out.resize(out.size() - 3);
  return out + "\n";
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

uint32_t work_items(const launch::Case& c) { return c.workgroup_size[0] * c.workgroup_size[1] * c.workgroup_size[2]; }

std::string arguments_text(const recover::Program& program, const recover::Function& function) {
  const object::Kernel& kernel = program.origin->kernels[size_t(function.kernel)];
  if (!kernel.metadata) return "not described\n";
  std::string out;
  size_t shown = 0;
  for (const object::KernelArgument& a : kernel.metadata->args) {
    if (shown++ == most_arguments)
      return out + fmt::format("  and {} more\n", kernel.metadata->args.size() + 1 - shown);
    out += fmt::format("  +{} {} bytes {} {}\n", a.offset, a.size, one_line(a.value_kind), one_line(a.name));
  }
  return out;
}

std::string occupancy_text(const isa::Resources& declared, isa::Processor processor, const launch::Case& c) {
  const uint32_t size = work_items(c);
  const isa::Occupancy now = isa::occupancy(declared, processor, size, c.dynamic_lds);
  std::string out = fmt::format("{} waves per SIMD, limited by {}", now.waves_per_simd, now.limiter);
  if (const auto step = profile::next_step(declared, processor, size, c.dynamic_lds))
    out += fmt::format("; {} would give {}", profile::words(*step), step->occupancy.waves_per_simd);
  std::vector<std::string> spare;
  for (const profile::Spare& s : profile::spare(declared, processor, size, c.dynamic_lds))
    spare.push_back(fmt::format("{} {}", s.free, s.resource));
  if (!spare.empty()) out += fmt::format("; to spare at no loss: {}", fmt::join(spare, ", "));
  return out;
}

std::string registers(const analysis::RegisterSet& set) {
  const auto names = register_names(set);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, " "));
}

std::string in_flight(const analysis::InFlight& f) {
  if (f.vmcnt == 0 && f.lgkmcnt == 0 && f.expcnt == 0) return "nothing";
  std::string out = fmt::format("vmcnt {}, lgkmcnt {}, expcnt {} at most", f.vmcnt, f.lgkmcnt, f.expcnt);
  if (f.vector_memory.any()) out += fmt::format("; {} wait for vmcnt", registers(f.vector_memory));
  if (f.lds_or_scalar.any()) out += fmt::format("; {} wait for lgkmcnt", registers(f.lds_or_scalar));
  return out;
}

/// What costs nothing worth mentioning has no share, so that the eye finds what does.
std::string code_row(const CodeView& view, size_t item) {
  const Line line = line_of(view, item);
  const std::string share = line.timed && line.share >= 0.001 ? percent(line.share) : "";
  const std::string_view indent = view.program->items[item].kind == recover::ItemKind::label ? "" : "  ";
  std::string out = fmt::format("{:>5} {:>7} {:<17} {}{}", item, share, share.empty() ? "" : line.stall, indent,
                                one_line(line.text, longest_text));
  return out + "\n";
}

std::string edges_text(const CodeView& view, Range shown) {
  struct Edge {
    size_t producer, consumer;
    const profile::Edge* edge;
  };
  std::map<uint64_t, size_t> items;
  for (size_t i = shown.first; i < shown.last; ++i)
    if (view.program->items[i].kind == recover::ItemKind::instruction)
      items.emplace(uint64_t(view.program->items[i].origin), i);
  const double total = view.profile.total();
  std::vector<Edge> edges;
  for (const profile::Edge& edge : view.profile.edges) {
    const auto producer = items.find(edge.producer), consumer = items.find(edge.consumer);
    if (producer != items.end() && consumer != items.end() && edge.exposed > least_edge * total)
      edges.push_back({producer->second, consumer->second, &edge});
  }
  std::ranges::stable_sort(edges, std::greater(), [](const Edge& e) { return e.edge->exposed; });
  std::string out;
  for (const Edge& e : std::span(edges).first(std::min(edges.size(), most_edges)))
    out += fmt::format("  {} waits for {}: {} ({})\n", e.consumer, e.producer, percent(e.edge->exposed / total),
                       profile::reason_name(e.edge->reason));
  return out;
}

std::string edits_text(const search::Attempt& attempt, size_t longest) {
  std::string out;
  for (const recover::Edit& edit : attempt.proposal.edits)
    out += fmt::format("items [{}, {}) of version {} became\n{}", edit.first, edit.last, attempt.parent,
                       quoted(edit.text.empty() ? "(nothing)" : edit.text, longest));
  return out;
}

std::string ranges_text(const search::Attempt& attempt) {
  std::vector<std::string> ranges;
  for (const recover::Edit& edit : attempt.proposal.edits)
    if (ranges.size() < 4) ranges.push_back(fmt::format("[{}, {})", edit.first, edit.last));
  return fmt::format("{}", fmt::join(ranges, " "));
}

std::string speedup_text(const search::Attempt& attempt) {
  return attempt.verdict.timing ? fmt::format(", {:.3f}x over the original", attempt.verdict.timing->speedup) : "";
}

} // namespace

std::string kernel_facts(const search::State& state, const CodeView& view) {
  const recover::Program& program = *view.program;
  const isa::Resources& declared = program.declared[size_t(view.function->kernel)];
  const launch::Case& c = *state.timed_case;
  const search::Version& version = (*state.versions)[size_t(state.version)];
  std::string out = fmt::format("kernel: {} (a name, not an instruction)\ntarget: {}, timed on: {}\n",
                                one_line(view.function->name), isa::target_id(program.target), state.device);
  out += fmt::format("launch: {} workgroups of {} work-items, {} bytes of dynamic LDS\n",
                     fmt::join(c.workgroups, " x "), fmt::join(c.workgroup_size, " x "), c.dynamic_lds);
  out += fmt::format("declared: {} VGPRs, {} AGPRs, {} SGPRs, {} bytes of LDS, {} bytes of scratch\n", declared.vgprs,
                     declared.agprs, declared.sgprs, declared.lds_bytes, declared.scratch_bytes);
  out += fmt::format("occupancy: {}\n", occupancy_text(declared, program.target.processor, c));
  out += fmt::format("time: {:.3f} us (spread {}), bound: {}; busy:", state.estimate->median * 1e6,
                     percent(state.estimate->cv), state.estimate->bound);
  for (const timing::Load& load : state.estimate->loads)
    out += fmt::format(" {} {}", load.resource, percent(load.share));
  out += fmt::format("\nworked on: version {}, {:.3f}x over the original; best: {:.3f}x\n", version.id, version.speedup,
                     std::ranges::max_element(*state.versions, {}, &search::Version::speedup)->speedup);
  out += fmt::format("this is evaluation {}", state.number);
  if (state.evaluations_left) out += fmt::format(", {} are left with it", *state.evaluations_left);
  out += fmt::format("\nresults of floating-point outputs: {}\n",
                     state.allow_float_rewrites ? "may differ by rounding, within the launch's tolerance"
                                                : "must be the same bit by bit");
  if (!program.rigid.empty()) out += fmt::format("edits must keep the size of the code: {}\n", one_line(program.rigid));
  return out + "arguments (offset, size, kind, name):\n" + arguments_text(program, *view.function);
}

std::string window_text(const search::State& state, const CodeView& view, Range shown, Range hot) {
  const launch::Case& c = *state.timed_case;
  const WindowFacts inner = facts_of(view, hot, work_items(c), c.dynamic_lds);
  const WindowFacts outer = facts_of(view, shown, work_items(c), c.dynamic_lds);
  std::string out = fmt::format("hot part: items [{}, {})\n", hot.first, hot.last);
  out += fmt::format("live before it: {}\nlive behind it: {}\n", registers(inner.live_in), registers(inner.live_out));
  out += fmt::format("outstanding before it: {}\noutstanding behind it: {}\n", in_flight(inner.in_flight_in),
                     in_flight(inner.in_flight_out));
  out += fmt::format("free in it: {}\n", registers(inner.free));
  if (shown != hot) out += fmt::format("free in all that is shown: {}\n", registers(outer.free));
  if (inner.entered_inside) out += "control also comes in at a label inside of it: keep that label\n";
  if (inner.indexed) out += "the kernel adds M0 to register numbers: what is free cannot be known for sure\n";
  out += fmt::format("\nitems [{}, {}): number, share of the kernel's time, what it mostly waits for, text\n```\n",
                     shown.first, shown.last);
  for (size_t i = shown.first; i < shown.last; ++i) out += code_row(view, i);
  out += "```\n";
  if (const std::string edges = edges_text(view, shown); !edges.empty())
    out += "waits for results, as shares of the kernel's time:\n" + edges;
  return out;
}

std::vector<std::string> window_rows(const CodeView& view, const Focus& focus) {
  const double total = view.profile.total();
  std::vector<std::string> rows;
  for (size_t rank = 0; rank < std::min(view.windows.size(), most_windows); ++rank) {
    const auto [range, window] = std::pair(view.windows[rank].range, view.windows[rank].window);
    std::string row = fmt::format("items [{}, {}): {}, bound: {}; issue {}", range.first, range.last,
                                  percent(window.cost / total), window.bound(), percent(window.issuing / window.cost));
    for (size_t r = 0; r < profile::reason_count; ++r)
      if (const double share = window.stalls[r] / window.cost; share >= 0.01)
        row += fmt::format(", {} {}", profile::reason_name(profile::Reason(r)), percent(share));
    if (rank == focus.window) row += " <- this one";
    rows.push_back(row + "\n");
  }
  return rows;
}

std::vector<std::string> lineage_rows(const search::State& state) {
  std::vector<std::string> rows;
  for (int64_t id = state.version; id > search::root_version;) {
    const search::Version& version = (*state.versions)[size_t(id)];
    std::string row = fmt::format("version {} (from {}): {:.3f}x", id, version.parent, version.speedup);
    if (version.evaluation > 0 && size_t(version.evaluation) <= state.attempts->size()) {
      const search::Proposal& made_by = (*state.attempts)[size_t(version.evaluation - 1)].proposal;
      row += fmt::format(", {}: {}", one_line(made_by.rule), one_line(made_by.rationale));
    }
    rows.push_back(row + "\n");
    id = version.parent;
  }
  return rows;
}

std::string last_verdict(const search::State& state) {
  if (state.attempts->empty()) return {};
  const search::Attempt& last = state.attempts->back();
  std::string out = fmt::format("evaluation {}, {}: {}{}\nit was meant to: {}\n", last.number,
                                one_line(last.proposal.rule), gate::outcome_name(last.verdict.outcome),
                                speedup_text(last), one_line(last.proposal.rationale, longest_text));
  out += edits_text(last, longest_text);
  if (!last.verdict.evidence.empty()) out += "found:\n" + quoted(last.verdict.evidence, longest_text);
  return out + fmt::format("{}\n", advice(last.verdict.outcome));
}

std::vector<std::string> failure_rows(const search::State& state) {
  std::vector<const search::Attempt*> failures;
  for (size_t i = state.attempts->size(); i-- > 0;)
    if (const search::Attempt& attempt = (*state.attempts)[i];
        i + 1 < state.attempts->size() && attempt.verdict.outcome != gate::Outcome::accepted)
      failures.push_back(&attempt);
  std::ranges::stable_partition(failures, [&](const auto* attempt) { return attempt->parent == state.version; });
  std::vector<std::string> rows;
  for (const search::Attempt* attempt : failures)
    rows.push_back(fmt::format("evaluation {}: {} of version {}, {}: {} -> {}{}: {}\n", attempt->number,
                               ranges_text(*attempt), attempt->parent, one_line(attempt->proposal.rule),
                               one_line(attempt->proposal.rationale), gate::outcome_name(attempt->verdict.outcome),
                               speedup_text(*attempt), one_line(attempt->verdict.evidence)));
  return rows;
}

std::string task_text(const search::State& state, Range shown, Range hot, Direction direction) {
  return fmt::format(
      "Make version {} faster: direction {}, beginning with its items [{}, {}). Edits may replace items of [{}, "
      "{}) and nothing else. Answer with one JSON object.\n",
      state.version, direction_name(direction), hot.first, hot.last, shown.first, shown.last);
}

} // namespace asmevo::agent
