#include "report/profile.h"

#include "report/json.h"
#include "report/text.h"

#include <algorithm>
#include <cmath>

namespace asmevo::report {

namespace {

using nlohmann::json;
using profile::Profile;
using profile::Reason;
using profile::reason_count;
using profile::reason_name;
using profile::Row;
using profile::Stalls;
using profile::Window;

constexpr char letters[] = "dvlewpcmbfnisou";
static_assert(sizeof letters == reason_count + 1);
constexpr char issue_letter = '#';
constexpr size_t bar_width = 24;

constexpr std::string_view resource_words[][2] = {{"hbm", "memory beyond L2"},   {"l2", "L2"},
                                                  {"l1", "L1 and address unit"}, {"lds", "LDS"},
                                                  {"valu", "vector ALU"},        {"mfma", "matrix pipe"},
                                                  {"issue", "issue turns"}};

std::string_view words_of(std::string_view resource) {
  for (const auto& [name, words] : resource_words)
    if (name == resource) return words;
  return resource;
}

class Text {
public:
  explicit Text(const ProfileView& view)
      : view_(view), profile_(view.profile), total_(std::max(1e-9, profile_.total())) {}

  std::string whole() {
    std::string out = overview() + speed() + occupancy();
    for (const profile::Counter& c : profile_.counters)
      out += fmt::format("  {:<40} {:>16.6g}{}\n", c.name, c.value,
                         c.dispatches > 1 ? fmt::format("  (mean of {} dispatches)", c.dispatches) : "");
    const std::vector<Window> all = profile::hot_windows(profile_, view_.code);
    for (size_t i = 0; i < std::min(all.size(), view_.windows); ++i) out += window(i + 1, all[i]);
    if (all.size() > view_.windows) out += fmt::format("\n{} more windows\n", all.size() - view_.windows);
    out += legend();
    for (const std::string& note : profile_.notes) out += fmt::format("note: {}\n", note);
    return out;
  }

private:
  std::string percent(double amount) const { return fmt::format("{:.1f} %", 100 * amount / total_); }

  /// "vmcnt 40.1 %, issue 12.0 %": all that is at least `least` of the total, the largest first.
  std::string shares(double issuing, const Stalls& stalls, double least) const {
    std::vector<std::pair<double, std::string_view>> parts = {{issuing, "issue"}};
    for (size_t r = 0; r < reason_count; ++r) parts.emplace_back(stalls[r], reason_name(Reason(r)));
    std::ranges::stable_sort(parts, std::ranges::greater(), &std::pair<double, std::string_view>::first);
    std::string out;
    for (const auto& [amount, name] : parts)
      if (amount > least * total_) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, percent(amount));
    return out;
  }

  std::string overview() const {
    if (profile_.rows.empty()) return {};
    double issuing = 0;
    Stalls stalls{};
    for (const Row& row : profile_.rows) {
      issuing += profile_.issuing(row);
      profile::add(stalls, profile_.costs(row));
    }
    std::string out = fmt::format("{} {}: {}", grouped(uint64_t(std::llround(profile_.total()))),
                                  profile_.exposure ? "SIMD clocks" : profile_.unit, shares(issuing, stalls, 0.0005));
    if (profile_.speed)
      out += fmt::format(", until waves are launched {}, after the last issue {}", percent(profile_.speed->dispatch),
                         percent(profile_.speed->drain));
    return out + '\n';
  }

  std::string speed() const {
    if (!profile_.speed) return {};
    const profile::Speed& s = *profile_.speed;
    std::string out = fmt::format("\nspeed of light: how much of the {} clk each resource is busy\n",
                                  grouped(uint64_t(std::llround(s.kernel_cycles))));
    for (const timing::Load& l : s.loads) {
      const std::string filled(size_t(std::clamp(l.share, 0.0, 1.0) * bar_width + 0.5), '#');
      out += fmt::format("  {:<20} {:>5.1f} %", words_of(l.resource), 100 * l.share);
      if (l.bytes > 0)
        out += fmt::format("  {:<{}}  {} bytes a compute unit{}", filled, bar_width, grouped(uint64_t(l.bytes)),
                           l.resource == "hbm" ? fmt::format(", {:.0f} % from HBM", 100 * l.from_hbm / l.bytes) : "");
      else if (!filled.empty())
        out += "  " + filled;
      out += '\n';
    }
    if (!s.loads.empty() && s.loads.front().share > 0)
      out += fmt::format("  the nearest bound, {}, is {:.2f}x away; the kernel is bound by {}\n",
                         words_of(s.loads.front().resource), std::max(1.0, 1 / s.loads.front().share), s.bound);
    return out;
  }

  std::string occupancy() const {
    if (!profile_.speed) return {};
    const isa::Occupancy& now = profile_.speed->occupancy;
    std::string out = fmt::format("\noccupancy: {} waves a SIMD, {} workgroups a compute unit, limited by {}\n",
                                  now.waves_per_simd, now.workgroups_per_cu, now.limiter);
    if (view_.step) {
      const isa::Occupancy& then = view_.step->what_if.occupancy;
      out += fmt::format("  what if: {}: {} waves a SIMD, {} workgroups a compute unit; the same code would take {} "
                         "instead of {}\n",
                         profile::words(view_.step->what_if), then.waves_per_simd, then.workgroups_per_cu,
                         duration(view_.step->seconds), duration(profile_.speed->seconds));
    } else {
      out += "  no step up: the hardware has no place for more\n";
    }
    for (const profile::Spare& s : view_.spare)
      out += fmt::format("  {} more {} ({} instead of {}) would cost no occupancy\n", s.free, s.resource,
                         s.used + s.free, s.used);
    return out;
  }

  std::string bar(const Row& row, double scale) {
    std::string out;
    double reached = 0;
    const auto part = [&](char letter, double amount) {
      if (amount <= 0) return;
      reached += amount;
      const auto end = static_cast<size_t>(std::llround(reached / scale * bar_width));
      if (end <= out.size()) return;
      out.resize(end, letter);
      used_ += used_.find(letter) == used_.npos ? std::string(1, letter) : "";
    };
    part(issue_letter, profile_.issuing(row));
    for (size_t r = 0; r < reason_count; ++r) part(letters[r], profile_.costs(row)[r]);
    return out;
  }

  /// What most of the stall at `address` waits for.
  std::string waits_for(uint64_t address) const {
    const profile::Edge* most = nullptr;
    double all = 0;
    const auto amount = [&](const profile::Edge& e) { return profile_.exposure ? e.exposed : e.stall; };
    for (const profile::Edge& e : profile_.edges) {
      if (e.consumer != address) continue;
      all += amount(e);
      if (!most || amount(e) > amount(*most)) most = &e;
    }
    if (!most || all < 0.0005 * total_) return {};
    return fmt::format("   <- {:#x} {}", most->producer, disassembled(most->producer));
  }

  std::string disassembled(uint64_t address) const {
    const auto at = std::ranges::lower_bound(view_.code, address, {}, &isa::Instruction::address);
    return view_.disassembly.text(at - view_.code.begin());
  }

  std::string window(size_t number, const Window& w) {
    std::string out =
        fmt::format("\n{}. {}  {}{}, {:#x}-{:#x}, {} instructions{}; bound by {}: {}\n", number, percent(w.cost),
                    w.whole_block ? "" : "part of ", view_.disassembly.label(w.first), w.first, w.last, w.end - w.begin,
                    w.issues > 0 ? fmt::format(", executed {} times", grouped(uint64_t(w.issues))) : "", w.bound(),
                    shares(w.issuing, w.stalls, 0.001));
    double scale = 1e-9;
    for (size_t i = w.begin; i < w.end; ++i)
      if (const Row* row = profile_.at(view_.code[i].address)) scale = std::max(scale, profile_.cost(*row));
    for (size_t i = w.begin; i < w.end; ++i) {
      const uint64_t address = view_.code[i].address;
      const Row* row = profile_.at(address);
      out +=
          fmt::format("  {:#08x} {:>8}  {:<{}}  {}{}\n", address, row ? percent(profile_.cost(*row)) : "",
                      row ? bar(*row, scale) : "", bar_width, view_.disassembly.text(int64_t(i)), waits_for(address));
    }
    return out;
  }

  std::string legend() const {
    std::string out;
    for (char letter : used_) {
      const std::string_view name =
          letter == issue_letter ? "issue" : reason_name(Reason(std::string_view(letters).find(letter)));
      out += fmt::format("{}{} {}", out.empty() ? "\nbars: " : ", ", letter, name);
    }
    return out.empty() ? out : out + '\n';
  }

  const ProfileView& view_;
  const Profile& profile_;
  double total_;
  std::string used_; // letters of bars
};

json stalls_to_json(const Stalls& stalls) {
  json out = json::object();
  for (size_t r = 0; r < reason_count; ++r)
    if (stalls[r] > 0) out[std::string(reason_name(Reason(r)))] = stalls[r];
  return out;
}

json speed_to_json(const profile::Speed& s) {
  json loads = json::array();
  for (const timing::Load& l : s.loads)
    loads.push_back({{"resource", l.resource},
                     {"share", l.share},
                     {"bytes_per_compute_unit", l.bytes},
                     {"bytes_from_hbm", l.from_hbm}});
  return {{"seconds", s.seconds},
          {"cv", s.cv},
          {"kernel_cycles", s.kernel_cycles},
          {"simulated_cycles", s.simulated_cycles},
          {"extrapolated_cycles", s.extrapolated_cycles},
          {"dispatch_cycles", s.dispatch},
          {"drain_cycles", s.drain},
          {"bound", s.bound},
          {"loads", std::move(loads)},
          {"occupancy", report::to_json(s.occupancy)}};
}

json step_to_json(const TimedStep& step) {
  json changes = json::array();
  for (const profile::WhatIf::Change& c : step.what_if.changes)
    changes.push_back({{"resource", c.resource}, {"now", c.now}, {"then", c.then}});
  return {{"changes", std::move(changes)},
          {"occupancy", report::to_json(step.what_if.occupancy)},
          {"seconds", step.seconds}};
}

json instructions_to_json(const ProfileView& view) {
  std::map<uint64_t, json> waits;
  for (const profile::Edge& e : view.profile.edges)
    waits[e.consumer].push_back(
        {{"producer", e.producer}, {"reason", reason_name(e.reason)}, {"stall", e.stall}, {"exposed", e.exposed}});
  json out = json::array();
  for (const Row& row : view.profile.rows) {
    const auto at = std::ranges::lower_bound(view.code, row.address, {}, &isa::Instruction::address);
    json entry = {{"address", row.address},
                  {"instruction", view.disassembly.text(at - view.code.begin())},
                  {"issues", row.issues},
                  {"issue", row.issue},
                  {"stalls", stalls_to_json(row.stalls)}};
    if (view.profile.exposure) entry.update({{"busy", row.busy}, {"exposed", stalls_to_json(row.exposed)}});
    if (const auto found = waits.find(row.address); found != waits.end()) entry["waits_for"] = found->second;
    out.push_back(std::move(entry));
  }
  return out;
}

json windows_to_json(const ProfileView& view) {
  json out = json::array();
  const double total = std::max(1e-9, view.profile.total());
  for (const Window& w : profile::hot_windows(view.profile, view.code))
    out.push_back({{"first", w.first},
                   {"last", w.last},
                   {"label", view.disassembly.label(w.first)},
                   {"whole_block", w.whole_block},
                   {"instructions", w.end - w.begin},
                   {"issues", w.issues},
                   {"cost", w.cost},
                   {"share", w.cost / total},
                   {"bound", w.bound()},
                   {"issue", w.issuing},
                   {"stalls", stalls_to_json(w.stalls)}});
  return out;
}

} // namespace

std::string text_of(const ProfileView& view) { return Text(view).whole(); }

json to_json(const ProfileView& view) {
  const Profile& p = view.profile;
  json counters = json::array();
  for (const profile::Counter& c : p.counters)
    counters.push_back({{"name", c.name}, {"value", c.value}, {"dispatches", c.dispatches}});
  json out = {{"source", p.source},
              {"unit", p.unit},
              {"total", p.total()},
              {"windows", windows_to_json(view)},
              {"instructions", instructions_to_json(view)},
              {"counters", std::move(counters)},
              {"notes", p.notes}};
  if (p.speed) {
    json spare = json::array();
    for (const profile::Spare& s : view.spare)
      spare.push_back({{"resource", s.resource}, {"used", s.used}, {"free", s.free}});
    out["speed"] = speed_to_json(*p.speed);
    out["spare"] = std::move(spare);
    out["what_if"] = view.step ? step_to_json(*view.step) : json();
  }
  return out;
}

} // namespace asmevo::report
