#include "search/controller.h"

#include "gate/slow_kernel.h"

#include <set>

namespace asmevo::search {
namespace {

/// Proposes random changes of the delay's length, some shorter, some wrong; has ideas for ever.
class DelayDriver : public Driver {
public:
  std::string_view name() const override { return "delay"; }
  std::optional<Proposal> propose(const State& state, std::mt19937_64& random) override {
    ++proposed;
    if (proposed > ideas) return std::nullopt;
    for (size_t i = state.function->first; i < state.function->last; ++i) {
      if (!state.program->items[i].text.starts_with("s_movk_i32 s8")) continue;
      // What was refused before is remembered: the driver's state depends on every verdict.
      uint64_t length = 1 + (random() + refused) % 0x1400;
      return Proposal{{{i, i + 1, fmt::format("s_movk_i32 s8, 0x{:x}", length)}}, "delay", "another length"};
    }
    return std::nullopt;
  }
  void learn(const Proposal&, const gate::Verdict& verdict) override {
    if (verdict.outcome != gate::Outcome::accepted) ++refused;
    if (on_learn) on_learn();
  }

  int proposed = 0, ideas = 1000, refused = 0;
  std::function<void()> on_learn;
};

class ControllerTest : public gate::testing::SlowKernel {
protected:
  std::string run_directory(const std::string& name) const { return directory + "/" + name; }
  Lineage create(const std::string& name, int64_t evaluations) {
    RunInfo info{.original_hash = original.hash,
                 .kernel = "twice",
                 .driver = "delay",
                 .seed = 42,
                 .budget_evaluations = evaluations};
    auto lineage = Lineage::create(run_directory(name), info, {.artifact = original.hash}, k0->bytes);
    EXPECT_TRUE(lineage) << lineage.error().message;
    return *std::move(lineage);
  }
  Summary search(Lineage& lineage, Driver& driver) {
    Controller controller(bench, driver, lineage);
    auto summary = controller.run();
    EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
    return summary ? *summary : Summary{};
  }
  /// Everything that a run decided, without times of day.
  std::string story(Lineage& lineage) {
    std::string out;
    const auto attempts = lineage.attempts(); // named: the loop must not iterate over a temporary's content
    for (const Attempt& a : *attempts)
      out += fmt::format("{} {} {} {} {} {}\n", a.number, a.parent, a.proposal.edits.at(0).text, a.artifact_hash,
                         gate::outcome_name(a.verdict.outcome), a.verdict.evidence);
    const auto versions = lineage.versions();
    for (const Version& v : *versions) out += fmt::format("{} {} {} {}\n", v.id, v.parent, v.artifact, v.speedup);
    return out;
  }
};

TEST_F(ControllerTest, TheBestVersionIsVerifiedAndFaster) {
  Lineage lineage = create("run", 12);
  DelayDriver driver;
  Summary summary = search(lineage, driver);
  EXPECT_EQ(summary.ending, Ending::budget_spent);
  EXPECT_EQ(summary.snapshot.evaluations, 12);
  EXPECT_GT(summary.best.speedup, 1.01);
  EXPECT_EQ(lineage.attempts()->at(size_t(summary.best.evaluation - 1)).verdict.outcome, gate::Outcome::accepted);
  EXPECT_EQ(sha256_hex(lineage.artifact(summary.best.artifact).value()), summary.best.artifact);
  EXPECT_EQ(lineage.status()->ending, "budget spent");
  EXPECT_GT(summary.best.resources.vgprs, 0u);
  EXPECT_GT(summary.best.waves_per_simd, 0u);
}

TEST_F(ControllerTest, WithoutIdeasTheBestIsTheOriginal) {
  Lineage lineage = create("run", 12);
  DelayDriver driver;
  driver.ideas = 0;
  Summary summary = search(lineage, driver);
  EXPECT_EQ(summary.ending, Ending::no_more_ideas);
  EXPECT_EQ(summary.best.id, root_version);
  EXPECT_EQ(lineage.artifact(summary.best.artifact).value(), k0->bytes);
}

/// Asks someone who is not always there; cannot say the same twice.
class OutsideDriver : public DelayDriver {
public:
  bool repeatable() const override { return false; }
  std::optional<std::string> trouble() const override {
    return gone ? std::optional<std::string>("nobody answers") : std::nullopt;
  }
  std::optional<Proposal> propose(const State& state, std::mt19937_64& random) override {
    seen = state;
    known = {state.versions->size(), state.attempts->size()};
    gone = proposed == most;
    return gone ? std::nullopt : DelayDriver::propose(state, random);
  }
  int most = 3;
  bool gone = false;
  State seen;
  std::pair<size_t, size_t> known;
};

TEST_F(ControllerTest, ADriverInTroubleEndsTheSessionAndAnotherOneGoesOn) {
  Lineage lineage = create("run", 5);
  OutsideDriver driver, next;
  Summary first = search(lineage, driver);
  EXPECT_EQ(first.ending, Ending::driver_stopped);
  EXPECT_EQ(first.snapshot.evaluations, 3);
  EXPECT_EQ(lineage.status()->ending, "driver stopped");
  Summary second = search(lineage, next);
  EXPECT_EQ(second.ending, Ending::budget_spent);
  EXPECT_EQ(second.replayed, 3);
  EXPECT_EQ(second.snapshot.evaluations, 5);
}

TEST_F(ControllerTest, ADriverIsToldWhereTheRunStands) {
  Lineage lineage = create("run", 4);
  OutsideDriver driver;
  search(lineage, driver);
  EXPECT_EQ(driver.seen.number, 4);
  EXPECT_EQ(driver.seen.evaluations_left, 1);
  EXPECT_EQ(driver.known, (std::pair{lineage.versions()->size(), size_t{3}}));
  EXPECT_EQ(driver.seen.timed_case, &reference->launch().cases.front());
  const gate::CommitRule& rule = bench.settings.rule;
  const double cv = lineage.versions()->at(size_t(driver.seen.version)).cv;
  EXPECT_NEAR(driver.seen.least_gain, std::max(rule.epsilon, rule.k * cv), 1e-12);
  EXPECT_EQ(driver.seen.speedup, lineage.versions()->at(size_t(driver.seen.version)).speedup);
  EXPECT_LE(driver.seen.best_speedup, lineage.versions()->back().speedup);
  EXPECT_NE(driver.seen.model, nullptr);
}

TEST_F(ControllerTest, ADriverThatIsStoppedWhileItAsksInterruptsTheRun) {
  Lineage lineage = create("run", 5);
  bool stop = false;
  bench.stop = &stop;
  struct Waiting : OutsideDriver {
    explicit Waiting(bool& stop) : stop_(stop) {}
    std::optional<Proposal> propose(const State& state, std::mt19937_64& random) override {
      if (proposed < 2) return OutsideDriver::propose(state, random);
      stop_ = true; // as a signal would, while nobody answers
      return std::nullopt;
    }
    bool& stop_;
  } waiting(stop);
  EXPECT_EQ(search(lineage, waiting).ending, Ending::interrupted);
  EXPECT_EQ(lineage.status()->ending, "");
  bench.stop = nullptr;
}

TEST_F(ControllerTest, TheSameSeedGivesTheSameLineage) {
  Lineage first = create("first", 8), second = create("second", 8);
  DelayDriver a, b;
  search(first, a);
  search(second, b);
  EXPECT_EQ(story(first), story(second));
}

/// Asked ahead: what it proposes depends on the program and on how often it was asked, and not on refusals.
class AheadDriver : public Driver {
public:
  std::string_view name() const override { return "ahead"; }
  std::unique_ptr<Driver> clone() const override { return std::make_unique<AheadDriver>(*this); }
  std::optional<Proposal> propose(const State& state, std::mt19937_64& random) override {
    if (++asked > 40) return std::nullopt;
    for (size_t i = state.function->first; i < state.function->last; ++i) {
      const std::string& text = state.program->items[i].text;
      if (!text.starts_with("s_movk_i32 s8")) continue;
      const uint64_t length = 1 + random() % 0x1400;
      // Some of them the same twice, some wrong, and all in a way that the number of acceptances shows in.
      const std::string line = asked % 5 == 0   ? "s_movk_i32 s9, 1"
                               : asked % 7 == 0 ? "s_movk_i32 s8, 0x7fff"
                                                : fmt::format("s_movk_i32 s8, 0x{:x}", length);
      return Proposal{{{i, i + 1, line}}, fmt::format("delay-{}-{}", asked, accepted), ""};
    }
    return std::nullopt;
  }
  void learn(const Proposal&, const gate::Verdict& verdict) override {
    if (verdict.outcome == gate::Outcome::accepted) ++accepted;
  }
  int asked = 0, accepted = 0;
};

class ThreadsTest : public ControllerTest {
protected:
  Lineage create_team(const std::string& name, int64_t team, int64_t evaluations) {
    RunInfo info{.original_hash = original.hash,
                 .kernel = "twice",
                 .driver = "ahead",
                 .seed = 7,
                 .budget_evaluations = evaluations,
                 .team = team,
                 .turn = 5,
                 .stall = 6};
    return std::move(*Lineage::create(run_directory(name), info, {.artifact = original.hash}, k0->bytes));
  }
  Summary search_with(Lineage& lineage, size_t threads) {
    std::vector<std::unique_ptr<device::Device>> devices;
    std::vector<std::unique_ptr<isa::Codec>> codecs;
    std::vector<gate::Bench> benches(threads);
    std::vector<AheadDriver> drivers(size_t(lineage.info().team));
    Controller controller(bench, drivers[0], lineage);
    for (size_t k = 1; k < drivers.size(); ++k) controller.add_driver(drivers[k]);
    for (gate::Bench& one : benches) {
      devices.push_back(*device::make_simulated(gate::testing::codec().target(), ""));
      codecs.push_back(std::make_unique<isa::Codec>(*isa::Codec::create(gate::testing::codec().target())));
      one.original = bench.original;
      one.reference = bench.reference;
      one.codec = codecs.back().get();
      one.device = devices.back().get();
      if (threads > 1) controller.add_bench(one);
    }
    if (on_show) controller.on_progress(on_show);
    auto summary = controller.run();
    EXPECT_TRUE(summary) << (summary ? "" : summary.error().message);
    return summary ? *summary : Summary{};
  }
  std::string whole_story(Lineage& lineage) {
    std::string out = story(lineage);
    const auto attempts = *lineage.attempts();
    for (const Attempt& a : attempts) out += fmt::format("{} {} {}\n", a.number, a.worker, a.proposal.rule);
    const auto decisions = *lineage.decisions();
    for (const Decision& d : decisions)
      out += fmt::format("{} {} {} {} {}\n", d.before, d.worker, decision_name(d.kind), d.version, d.reason);
    return out;
  }
  std::function<void(const Snapshot&)> on_show;
};

TEST_F(ThreadsTest, AnyNumberOfThreadsGivesTheSameLineage) {
  Lineage one = create_team("one", 1, 30), four = create_team("four", 1, 30);
  const Summary summary = search_with(one, 1);
  search_with(four, 4);
  EXPECT_GT(summary.snapshot.counts[size_t(gate::Outcome::accepted)], 1);
  EXPECT_GT(summary.snapshot.counts[size_t(gate::Outcome::duplicate)], 1);
  EXPECT_EQ(whole_story(one), whole_story(four));
}

TEST_F(ThreadsTest, ATeamHasTheSameLineageWithAnyNumberOfThreads) {
  Lineage one = create_team("one", 3, 36), three = create_team("three", 3, 36);
  search_with(one, 1);
  search_with(three, 3);
  std::set<int64_t> workers;
  for (const auto attempts = *one.attempts(); const Attempt& attempt : attempts) workers.insert(attempt.worker);
  EXPECT_EQ(workers.size(), 3u);
  EXPECT_EQ(whole_story(one), whole_story(three));
}

TEST_F(ThreadsTest, ATeamThatIsStoppedAgainAndAgainEndsAsIfUndisturbed) {
  Lineage undisturbed = create_team("undisturbed", 2, 24);
  search_with(undisturbed, 1);
  {
    Lineage made = create_team("stopped", 2, 24);
  }
  for (int session = 0; session < 12; ++session) {
    bool stop = false;
    bench.stop = &stop;
    auto lineage = Lineage::resume(run_directory("stopped"));
    ASSERT_TRUE(lineage) << lineage.error().message;
    const auto before = int64_t(lineage->attempts()->size());
    on_show = [&](const Snapshot& snapshot) { stop = snapshot.evaluations >= before + 5; };
    const Summary summary = search_with(*lineage, size_t(1 + session % 3));
    EXPECT_FALSE(summary.driver_changed);
    if (summary.ending == Ending::budget_spent) break;
  }
  bench.stop = nullptr;
  auto lineage = Lineage::resume(run_directory("stopped"));
  ASSERT_TRUE(lineage);
  EXPECT_EQ(whole_story(*lineage), whole_story(undisturbed));
}

TEST_F(ThreadsTest, WinsOfTwoBranchesAreMergedAndMustBeFasterThanBoth) {
  // Each worker can do one thing: shorten the delay, or count by two.
  Lineage lineage = create("run", 4);
  const size_t delay = item("s_movk_i32 s8"), wait = item("s_sub_u32 s8");
  struct Script : Driver {
    explicit Script(std::vector<Proposal> list) : proposals(std::move(list)) {}
    std::string_view name() const override { return "script"; }
    std::optional<Proposal> propose(const State&, std::mt19937_64&) override {
      if (next == proposals.size()) return std::nullopt;
      return proposals[next++];
    }
    void learn(const Proposal&, const gate::Verdict&) override {}
    std::vector<Proposal> proposals;
    size_t next = 0;
  };
  Proposal first{{{delay, delay + 1, "s_movk_i32 s8, 0x400"}}, "first", ""};
  Proposal second{{{wait, wait + 1, "s_sub_u32 s8, s8, 2"}}, "second", ""};
  first.parent = second.parent = 0;
  Script driver({first, second});
  search(lineage, driver);
  const auto versions = *lineage.versions();
  ASSERT_EQ(versions.size(), 4u);
  EXPECT_EQ(versions[3].parent, 1);
  EXPECT_EQ(versions[3].other_parent, 2);
  EXPECT_GT(versions[3].speedup, std::max(versions[1].speedup, versions[2].speedup));
  const auto attempts = *lineage.attempts();
  EXPECT_EQ(attempts.back().driver, "composition");
  EXPECT_EQ(attempts.back().verdict.outcome, gate::Outcome::accepted);
}

TEST_F(ControllerTest, ARunThatIsStoppedAgainAndAgainEndsAsIfUndisturbed) {
  Lineage undisturbed = create("undisturbed", 10);
  DelayDriver calm;
  search(undisturbed, calm);

  {
    Lineage made = create("stopped", 10);
  }
  for (int session = 0; session < 12; ++session) {
    bool stop = false;
    bench.stop = &stop;
    auto lineage = Lineage::resume(run_directory("stopped"));
    ASSERT_TRUE(lineage) << lineage.error().message;
    size_t before = lineage->attempts()->size();
    DelayDriver driver;
    size_t learned = 0;
    driver.on_learn = [&] { stop = ++learned > before + 1; }; // two evaluations a session
    Summary summary = search(*lineage, driver);
    if (summary.ending == Ending::budget_spent) break;
    EXPECT_EQ(summary.ending, Ending::interrupted);
  }
  bench.stop = nullptr;
  auto lineage = Lineage::resume(run_directory("stopped"));
  ASSERT_TRUE(lineage);
  EXPECT_EQ(story(*lineage), story(undisturbed));
}

TEST_F(ControllerTest, NothingIsEvaluatedTwice) {
  Lineage lineage = create("run", 6);
  DelayDriver driver;
  search(lineage, driver);
  ASSERT_TRUE(lineage.extend(7, 0));
  device->launches = 0;
  DelayDriver again;
  Summary summary = search(lineage, again);
  EXPECT_EQ(summary.replayed, 6);
  EXPECT_FALSE(summary.driver_changed);
  EXPECT_EQ(summary.snapshot.evaluations, 7);
  size_t cases = reference->launch().cases.size();
  EXPECT_LE(size_t(device->launches), cases * 20); // of one evaluation, not of seven
}

TEST_F(ControllerTest, ADriverThatChangedIsNoticed) {
  Lineage lineage = create("run", 4);
  DelayDriver driver;
  search(lineage, driver);
  ASSERT_TRUE(lineage.extend(5, 0));
  DelayDriver changed;
  changed.refused = 77;
  EXPECT_TRUE(search(lineage, changed).driver_changed);
}

TEST_F(ControllerTest, ADriverThatThrowsEndsTheRunWithAnError) {
  class Thrower : public DelayDriver {
    std::optional<Proposal> propose(const State&, std::mt19937_64&) override { throw std::runtime_error("model gone"); }
  };
  Lineage lineage = create("run", 4);
  Thrower driver;
  Controller controller(bench, driver, lineage);
  auto summary = controller.run();
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().message, "driver delay: model gone");
}

TEST_F(ControllerTest, ProgressCountsEveryVerdict) {
  Lineage lineage = create("run", 5);
  DelayDriver driver;
  Controller controller(bench, driver, lineage);
  std::vector<int64_t> seen;
  Snapshot last;
  controller.on_progress([&](const Snapshot& snapshot) {
    seen.push_back(snapshot.evaluations);
    last = snapshot;
  });
  ASSERT_TRUE(controller.run());
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  int64_t total = 0;
  for (int64_t count : last.counts) total += count;
  EXPECT_EQ(total, 5);
}

TEST_F(ControllerTest, ProposalsFromOutsideAreJudgedOneAtATime) {
  Lineage lineage = create("run", 3);
  DelayDriver driver;
  Controller controller(bench, driver, lineage);
  ASSERT_TRUE(controller.open());
  const size_t delay = item("s_movk_i32 s8");
  auto first = controller.submit(0, {{{delay, delay + 1, "s_movk_i32 s8, 0x400"}}, "outside", ""});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ((*first)->version, 1);
  EXPECT_EQ(controller.versions().size(), 2u);
  auto second = controller.submit(0, {{{delay, delay + 1, "s_movk_i32 s8, 0x10"}}, "outside", ""});
  ASSERT_TRUE(second);
  EXPECT_EQ((*second)->version, 2);
  EXPECT_EQ(controller.versions()[2].parent, 0);
  ASSERT_TRUE(controller.submit(1, {{{delay, delay + 1, "s_movk_i32 s8, 0x400"}}, "outside", ""}));
  EXPECT_EQ(lineage.attempts()->at(2).verdict.outcome, gate::Outcome::duplicate);
  EXPECT_EQ(controller.submit(0, {}).error().message, "the budget is spent");
  EXPECT_EQ(driver.proposed, 0);
  EXPECT_EQ(lineage.attempts()->size(), 3u);
}

TEST_F(ControllerTest, EditsOutsideTheirWindowAreRefused) {
  Lineage lineage = create("run", 3);
  DelayDriver driver;
  Controller controller(bench, driver, lineage);
  ASSERT_TRUE(controller.open());
  const size_t delay = item("s_movk_i32 s8");
  Proposal proposal{{{delay, delay + 1, "s_movk_i32 s8, 0x400"}}, "outside", ""};
  proposal.window = Range{delay + 1, delay + 4};
  auto refused = controller.submit(0, proposal);
  ASSERT_TRUE(refused);
  EXPECT_EQ((*refused)->verdict.outcome, gate::Outcome::static_inconsistency);
  EXPECT_EQ((*refused)->verdict.evidence, fmt::format("edit 0: items [{}, {}) are outside the window [{}, {})", delay,
                                                      delay + 1, delay + 1, delay + 4));
  proposal.window = Range{delay, delay + 4};
  EXPECT_EQ(controller.submit(0, proposal).value()->verdict.outcome, gate::Outcome::accepted);
}

TEST_F(ControllerTest, AStoppedProposalFromOutsideIsNotRecorded) {
  Lineage lineage = create("run", 3);
  DelayDriver driver;
  bool stop = true;
  bench.stop = &stop;
  Controller controller(bench, driver, lineage);
  ASSERT_TRUE(controller.open());
  const size_t delay = item("s_movk_i32 s8");
  auto attempt = controller.submit(0, {{{delay, delay + 1, "s_movk_i32 s8, 0x400"}}, "outside", ""});
  ASSERT_TRUE(attempt);
  EXPECT_EQ(*attempt, nullptr);
  EXPECT_EQ(lineage.attempts()->size(), 0u);
  bench.stop = nullptr;
}

/// Writes one faster version after the other, always over K0's code.
class OriginalDriver : public Driver {
public:
  OriginalDriver(size_t delay, std::optional<int64_t> parent) : delay_(delay), parent_(parent) {}
  std::string_view name() const override { return "original"; }
  bool repeatable() const override { return false; }
  std::optional<Proposal> propose(const State&, std::mt19937_64&) override {
    ++proposed;
    Proposal proposal{{{delay_, delay_ + 1, fmt::format("s_movk_i32 s8, {}", 0x800 - 0x100 * proposed)}}, "delay", ""};
    proposal.parent = parent_;
    return proposal;
  }
  void learn(const Proposal&, const gate::Verdict&) override { ++learned; }
  int proposed = 0, learned = 0;

private:
  size_t delay_;
  std::optional<int64_t> parent_;
};

TEST_F(ControllerTest, ADriverMayGoBackToAnyVersion) {
  Lineage lineage = create("run", 3);
  OriginalDriver driver(item("s_movk_i32 s8"), 0);
  search(lineage, driver);
  const auto versions = *lineage.versions();
  ASSERT_EQ(versions.size(), 4u);
  for (size_t v = 1; v < versions.size(); ++v) EXPECT_EQ(versions[v].parent, 0);
}

TEST_F(ControllerTest, EditsOfAVersionThatThereIsNotAreAVerdict) {
  Lineage lineage = create("run", 2);
  OriginalDriver driver(item("s_movk_i32 s8"), 7);
  search(lineage, driver);
  const auto attempts = *lineage.attempts();
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].verdict.outcome, gate::Outcome::static_inconsistency);
  EXPECT_EQ(attempts[0].verdict.evidence, "edits of version 7: there are versions 0 to 0");
}

TEST_F(ControllerTest, ADriverThatIsNotRepeatableIsToldAndNotAskedAgain) {
  {
    Lineage lineage = create("run", 2);
    OriginalDriver driver(item("s_movk_i32 s8"), 0);
    search(lineage, driver);
    ASSERT_TRUE(lineage.extend(3, 0));
  }
  auto lineage = Lineage::resume(run_directory("run"));
  ASSERT_TRUE(lineage);
  OriginalDriver again(item("s_movk_i32 s8"), 0);
  Summary summary = search(*lineage, again);
  EXPECT_EQ(again.proposed, 1);
  EXPECT_EQ(again.learned, 3);
  EXPECT_FALSE(summary.driver_changed);
}

} // namespace
} // namespace asmevo::search
