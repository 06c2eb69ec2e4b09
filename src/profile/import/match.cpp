#include "profile/import/match.h"

#include "isa/counters.h"
#include "profile/producers.h"

#include <algorithm>
#include <cxxabi.h>
#include <memory>
#include <set>

namespace asmevo::profile {

namespace {

/// Without comments, with single spaces.
std::string plain(std::string_view text) {
  std::string out;
  text = text.substr(0, text.find("//"));
  text = text.substr(0, text.find(';'));
  for (char c : text) {
    const bool space = c == ' ' || c == '\t';
    if (space && (out.empty() || out.back() == ' ')) continue;
    out += space ? ' ' : c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string mnemonic_of(const std::string& text) { return text.substr(0, text.find(' ')); }

double weight(const Record& r) {
  return r.issued + std::accumulate(r.not_issued.begin(), r.not_issued.end(), 0.0) + r.plain + r.stall + r.idle;
}

class Matcher {
public:
  Matcher(const Reading& reading, const Subject& subject, const std::string& path)
      : reading_(reading), subject_(subject), path_(path) {
    profile_.source = reading.source;
    profile_.unit = reading.unit;
    profile_.notes = reading.notes;
    if (subject.kernel) profile_.kernel = subject.kernel->name;
  }

  Result<Profile> run() {
    const bool addressed = std::ranges::any_of(reading_.records, [](const Record& r) { return r.address.has_value(); });
    AE_CHECK(addressed ? by_address() : by_text());
    AE_CHECK(add_counters());
    if (outside_ > 0)
      profile_.notes.push_back(fmt::format("{} {} outside of {} were left out", outside_, profile_.unit,
                                           subject_.kernel ? subject_.kernel->name : "the code"));
    if (by_mnemonic_)
      profile_.notes.push_back(fmt::format("of {} instructions only the mnemonic could be compared", by_mnemonic_));
    for (auto& [address, row] : rows_) profile_.rows.push_back(row);
    if (profile_.rows.empty() && profile_.counters.empty())
      return fail("{}: has nothing of {}", path_, subject_.kernel ? subject_.kernel->name : subject_.object.path);
    add_producers(profile_, subject_.code);
    return std::move(profile_);
  }

private:
  const isa::Instruction* at(uint64_t address) const {
    const auto found = std::ranges::lower_bound(subject_.code, address, {}, &isa::Instruction::address);
    return found != subject_.code.end() && found->address == address ? &*found : nullptr;
  }

  std::string text_of(const isa::Instruction& instruction) const {
    return instruction.encoding == isa::Encoding::unknown ? fmt::format(".long {:#010x}", instruction.words[0])
                                                          : plain(subject_.codec.print(instruction));
  }

  bool in_kernel(uint64_t address) const {
    const object::Kernel* k = subject_.kernel;
    return !k || (address >= k->entry_address && (k->code_size == 0 || address < k->entry_address + k->code_size));
  }

  /// What is wrong with a record, empty where nothing is. Text that differs is assembled: printers of other versions
  /// write the same instruction in other words.
  std::string disagreement(const Record& record) {
    const isa::Instruction* ours = at(*record.address);
    const auto [known, fresh] = judged_.try_emplace({*record.address, record.text});
    if (!fresh) return known->second;
    const std::string theirs = plain(record.text);
    if (!ours)
      return known->second = fmt::format(
                 "{}: address {:#x}: the profile says {}, {} has no instruction there", path_, *record.address,
                 theirs.empty() ? "it was executed" : fmt::format("`{}`", theirs), subject_.object.path);
    const std::string text = text_of(*ours);
    if (theirs.empty() || theirs == text) return {};
    if (mnemonic_of(theirs) == mnemonic_of(text)) {
      const auto bytes = ours->traits.branch ? std::unexpected(isa::AssemblyError{}) : subject_.codec.assemble(theirs);
      if (!bytes && ++by_mnemonic_) return {};
      if (bytes->size() == ours->size &&
          std::ranges::equal(*bytes, std::as_bytes(std::span(ours->words)).first(ours->size),
                             [](uint8_t a, std::byte b) { return std::byte(a) == b; }))
        return {};
    }
    return known->second = fmt::format("{}: address {:#x}: the profile says `{}`, {} has `{}`", path_, *record.address,
                                       theirs, subject_.object.path, text);
  }

  struct Loaded {
    double weight = 0;
    bool has_text = true;
    std::string disagreement;
  };

  /// Several code objects may have been loaded, and the same one on several devices.
  Result<std::set<std::string>> choose_objects() {
    std::map<std::string, Loaded> loaded;
    for (const Record& r : reading_.records) {
      Loaded& object = loaded[r.code_object];
      object.weight += weight(r);
      object.has_text &= !r.text.empty();
      if (object.disagreement.empty()) object.disagreement = disagreement(r);
    }
    std::set<std::string> chosen;
    size_t without_text = 0;
    for (const auto& [id, object] : loaded)
      if (object.disagreement.empty()) {
        chosen.insert(id);
        without_text += !object.has_text;
      }
    if (chosen.empty()) {
      const auto most = std::ranges::max_element(loaded, {}, [](const auto& l) { return l.second.weight; });
      return std::unexpected(Error{most->second.disagreement});
    }
    if (chosen.size() > 1 && without_text)
      return fail(
          "{}: {} code objects could be {} by their addresses, and the file does not say what instructions were "
          "there",
          path_, chosen.size(), subject_.object.path);
    double others = 0;
    for (const auto& [id, object] : loaded)
      if (!chosen.contains(id)) others += object.weight;
    if (others > 0)
      profile_.notes.push_back(fmt::format("{} {} of other code objects were left out", others, profile_.unit));
    if (without_text)
      profile_.notes.push_back("the file does not say what instructions it means: only addresses were compared");
    return chosen;
  }

  Result<void> by_address() {
    AE_TRY(const auto chosen, choose_objects());
    for (const Record& r : reading_.records)
      if (chosen.contains(r.code_object)) add(*r.address, r, 1);
    return {};
  }

  // Only the text is known, and not of which object. A dispatch belongs to this one if it has all its instructions.
  Result<void> by_text() {
    std::map<std::string, std::vector<uint64_t>> places;
    for (const isa::Instruction& i : subject_.code)
      if (in_kernel(i.address)) places[text_of(i)].push_back(i.address);
    std::map<std::string, std::string> foreign; // dispatch: the first text that the object does not have
    std::set<std::string> dispatches;
    double unknown = 0;
    for (const Record& r : reading_.records) {
      if (plain(r.text).empty()) { // the profiler did not know the code object
        unknown += weight(r);
        continue;
      }
      dispatches.insert(r.dispatch);
      if (!places.contains(plain(r.text))) foreign.try_emplace(r.dispatch, plain(r.text));
    }
    if (!foreign.empty() && foreign.size() == dispatches.size())
      return fail("{}: the profile has samples of `{}`, {} has no such instruction", path_, foreign.begin()->second,
                  subject_.kernel ? subject_.kernel->name : subject_.object.path);
    double spread = 0, left_out = 0;
    for (const Record& r : reading_.records) {
      if (plain(r.text).empty()) continue;
      if (foreign.contains(r.dispatch)) {
        left_out += weight(r);
        continue;
      }
      const auto& at = places.at(plain(r.text));
      if (at.size() > 1) spread += weight(r);
      for (uint64_t address : at) add(address, r, 1.0 / double(at.size()));
    }
    if (spread > 0)
      profile_.notes.push_back(fmt::format("{} {} are of instructions that occur several times; the file has no "
                                           "addresses, and they were spread over all of them",
                                           spread, profile_.unit));
    if (unknown > 0)
      profile_.notes.push_back(fmt::format("{} {} without an instruction were left out", unknown, profile_.unit));
    if (left_out > 0)
      profile_.notes.push_back(
          fmt::format("{} {} of dispatches with other instructions were left out", left_out, profile_.unit));
    return {};
  }

  void add(uint64_t address, const Record& r, double share) {
    if (!in_kernel(address)) {
      outside_ += weight(r);
      return;
    }
    if (weight(r) == 0 && r.issues == 0) return;
    Row& row = rows_[address];
    const isa::Instruction& instruction = *at(address);
    row.address = address;
    row.issues += share * r.issues;
    row.issue += share * r.issued;
    row.stalls[size_t(Reason::unknown)] += share * r.plain;
    row.stalls[size_t(Reason::other)] += share * r.idle;
    if (r.stall > 0) row.stalls[size_t(stall_of(instruction))] += share * r.stall;
    for (size_t i = 0; i < not_issued_count; ++i)
      if (r.not_issued[i] > 0) row.stalls[size_t(reason_of(NotIssued(i), instruction))] += share * r.not_issued[i];
  }

  /// The counter that an s_waitcnt waits at.
  static Reason counter_of(const isa::Instruction& instruction) {
    const isa::WaitCounts w = isa::waits_of(instruction);
    const bool vm = w.vmcnt < 63, lgkm = w.lgkmcnt < 15, exp = w.expcnt < 7;
    if (vm + lgkm + exp != 1) return Reason::wait;
    return vm ? Reason::vmcnt : lgkm ? Reason::lgkmcnt : Reason::expcnt;
  }

  /// What is busy when an instruction may issue and its unit does not take it.
  static Reason unit_of(const isa::Instruction& i) {
    return i.traits.vmem ? Reason::memory_throughput : i.traits.lds ? Reason::lds_conflict : Reason::pipe_busy;
  }

  /// Of a thread trace: the unit did not take the instruction.
  static Reason stall_of(const isa::Instruction& i) {
    return i.traits.waitcnt ? counter_of(i) : i.traits.barrier ? Reason::barrier : unit_of(i);
  }

  static Reason reason_of(NotIssued reason, const isa::Instruction& i) {
    switch (reason) {
    case NotIssued::no_instruction_available:
      return Reason::fetch;
    case NotIssued::alu_dependency:
      return Reason::dependency;
    case NotIssued::waitcnt:
      return counter_of(i);
    case NotIssued::internal_instruction:
      return Reason::internal;
    case NotIssued::barrier_wait:
      return Reason::barrier;
    case NotIssued::arbiter_not_win:
      return Reason::not_selected;
    case NotIssued::arbiter_win_ex_stall:
      return unit_of(i);
    case NotIssued::other_wait:
      return Reason::other;
    case NotIssued::sleep_wait:
      return Reason::sleep;
    default:
      return Reason::unknown;
    }
  }

  static std::string demangled(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 && text ? text.get() : name;
  }

  /// "first" of "void first<float>(float*)": what profilers make of names on request.
  static std::string truncated(const std::string& name) {
    const std::string head = name.substr(0, name.find_first_of("<("));
    return head.substr(head.find_last_of(' ') + 1); // npos + 1 is 0
  }

  /// Whether a profiler's name of a kernel means one of the subject: as it is, demangled, truncated, with ".kd" in any
  /// spelling.
  bool is_ours(std::string name) const {
    for (std::string_view end : {" [clone .kd]", " (.kd)", ".kd"})
      if (name.ends_with(end)) name.erase(name.size() - end.size());
    for (const object::Kernel& k : subject_.object.kernels)
      if ((!subject_.kernel || subject_.kernel->name == k.name) &&
          (name == k.name || name == demangled(k.name) || name == truncated(demangled(k.name))))
        return true;
    return false;
  }

  Result<void> add_counters() {
    std::map<std::string, std::map<std::string, double>> values; // by counter, by dispatch
    std::set<std::string> foreign;
    for (const CounterValue& c : reading_.counters) {
      if (!is_ours(c.kernel)) {
        foreign.insert(c.kernel);
        continue;
      }
      values[c.name][c.dispatch] += c.value;
    }
    if (values.empty() && !foreign.empty())
      return fail("{}: counts kernel {}, {} has no such kernel", path_, *foreign.begin(), subject_.object.path);
    for (const auto& [name, by_dispatch] : values) {
      double sum = 0;
      for (const auto& [dispatch, value] : by_dispatch) sum += value;
      profile_.counters.push_back({name, sum / double(by_dispatch.size()), by_dispatch.size()});
    }
    if (!foreign.empty())
      profile_.notes.push_back(fmt::format("counters of {} other kernels were left out", foreign.size()));
    return {};
  }

  const Reading& reading_;
  const Subject& subject_;
  const std::string& path_;
  Profile profile_;
  std::map<uint64_t, Row> rows_;
  std::map<std::pair<uint64_t, std::string>, std::string> judged_; // disagreements, by address and text
  std::map<uint64_t, Reason> counters_;                            // of waits, by address
  double outside_ = 0;
  size_t by_mnemonic_ = 0;
};

} // namespace

Result<Profile> match(const Reading& reading, const Subject& subject, const std::string& path) {
  return Matcher(reading, subject, path).run();
}

} // namespace asmevo::profile
