#include "cli/watch.h"

#include "cli/setting.h"
#include "isa/target.h"

#include <algorithm>
#include <set>

namespace asmevo::cli {
namespace {

using analysis::Rule;

// In the order of machine::FindingKind, and last what ends or spoils a run.
constexpr std::array rules = {
    Rule{"S001", "a register is used before the load that brings it has finished"},
    Rule{"S002", "wait states are missing between two instructions that a wave executes"},
    Rule{"S003", "two waves access the same bytes, one of them writes, and nothing orders them"},
    Rule{"S004", "a register, LDS or scratch is read that nothing has written"},
    Rule{"S005", "an access lies outside its buffer or allocation"},
    Rule{"S006", "an access is misaligned"},
    Rule{"S007", "a run faults, does not end, or writes where it must not"},
};
constexpr size_t spoilt = rules.size() - 1;

class Observer {
public:
  Observer(const Source& source, const Setting& setting) : source_(source), setting_(setting) {
    for (size_t i = 0; i < source.program.items.size(); ++i)
      if (const recover::Item& item = source.program.items[i];
          item.kind == recover::ItemKind::instruction && item.origin >= 0)
        items_.emplace(uint64_t(item.origin), i);
  }

  void add(const launch::Case& c, const device::Outcome& outcome) {
    const std::string place = setting_.launch.cases.size() > 1 ? fmt::format("case \"{}\": ", c.name) : "";
    for (const machine::Finding& f : outcome.strict.findings) {
      if (!seen_.insert({f.kind, f.instruction, f.cause}).second) continue;
      report::Lint lint = lint_of(size_t(f.kind), spot(f.instruction), place + f.message);
      if (f.cause >= 0 && f.cause != int64_t(f.instruction)) lint.cause = spot(f.cause);
      watched.lints.push_back(std::move(lint));
    }
    for (const std::string& gap : outcome.strict.gaps) watched.gaps.push_back(place + gap);
    constexpr std::string_view endings[] = {"", "fault: ", "does not end: ", "deadlock: ", ""};
    if (outcome.status != machine::Status::completed)
      watched.lints.push_back(lint_of(spoilt, outcome.fault ? spot(outcome.fault->instruction) : report::Spot{},
                                      place + std::string(endings[size_t(outcome.status)]) +
                                          (outcome.fault ? outcome.fault->message : "")));
    for (const auto* damages : {&outcome.guard_damage, &outcome.read_only_damage})
      for (const std::string& damage : *damages) watched.lints.push_back(lint_of(spoilt, {}, place + damage));
  }

  Watched watched;

private:
  report::Lint lint_of(size_t rule, const report::Spot& at, std::string message) const {
    return {std::string(rules[rule].id), setting_.kernel->name, std::move(message), at, {}};
  }

  report::Spot spot(int64_t index) const {
    const auto& instructions = setting_.loaded.image->instructions();
    if (index < 0 || size_t(index) >= instructions.size()) return {};
    const auto item = items_.find(instructions[size_t(index)].address);
    return item == items_.end() ? report::Spot{} : spot_of(source_, item->second);
  }

  const Source& source_;
  const Setting& setting_;
  std::map<uint64_t, size_t> items_; // by address
  std::set<std::tuple<machine::FindingKind, uint32_t, int64_t>> seen_;
};

} // namespace

std::span<const Rule> watch_rules() { return rules; }

report::Spot spot_of(const Source& source, size_t item) {
  report::Spot spot;
  if (item >= source.program.items.size()) return spot;
  spot.line = source.lines[item];
  const int64_t origin = source.program.items[item].origin;
  if (const object::Section* code = origin < 0 ? nullptr : source.object->section_at(uint64_t(origin))) {
    spot.address = uint64_t(origin) - code->address;
    spot.section = code->name;
  }
  return spot;
}

Result<Watched> watch(const Source& source, const WatchOptions& options, const volatile bool* stop) {
  AE_TRY(isa::Codec codec, isa::Codec::create(source.program.target));
  AE_TRY(const Setting setting, open_setting(Input{source.object, std::move(codec)},
                                             {options.file, options.launch, options.kernel, options.device}));
  Observer observer(source, setting);
  device::LaunchOptions launching;
  launching.run.strict = true;
  launching.run.stop = stop;
  for (const launch::Case& c : setting.launch.cases) {
    AE_TRY(const device::Outcome outcome, setting.device->launch(setting.loaded, c, launching));
    if (outcome.status == machine::Status::stopped) {
      observer.watched.stopped = true;
      break;
    }
    observer.add(c, outcome);
  }
  return std::move(observer.watched);
}

} // namespace asmevo::cli
