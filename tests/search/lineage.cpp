#include "search/lineage.h"

#include "support/hash.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asmevo::search {
namespace {

class LineageTest : public testing::Test {
protected:
  void SetUp() override {
    directory = (std::filesystem::temp_directory_path() / fmt::format("asmevo-lineage-{}", getpid())).string();
    std::filesystem::remove_all(directory);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  Lineage create() {
    RunInfo info{
        .original_path = "k0.hsaco", .kernel = "softmax", .seed = 0xffffffffffffffff, .epsilon = 0.002, .draws = 16};
    auto lineage =
        Lineage::create(directory, info, {.artifact = sha256_hex(original), .listing = "s_endpgm"}, original);
    EXPECT_TRUE(lineage) << lineage.error().message;
    return *std::move(lineage);
  }
  Attempt attempt(int64_t number, gate::Outcome outcome) {
    return {.number = number,
            .driver = "rewrite",
            .proposal = {{{3, 5, "s_nop 0\n"}}, "tighten-waits", "vmcnt(0) is stronger than needed"},
            .text_hash = "t",
            .artifact_hash = "a",
            .verdict = {.outcome = outcome, .evidence = "why"},
            .seconds = 0.25};
  }

  std::string directory;
  Bytes original = {1, 2, 3, 4};
  Bytes better = {5, 6};
};

TEST_F(LineageTest, RunInfoComesBackAsItWas) {
  create();
  auto again = Lineage::resume(directory);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->info().kernel, "softmax");
  EXPECT_EQ(again->info().seed, 0xffffffffffffffff);
  EXPECT_EQ(again->info().epsilon, 0.002);
  EXPECT_EQ(again->info().draws, 16u);
}

TEST_F(LineageTest, AnAcceptedAttemptBringsItsVersionAndArtifact) {
  Lineage lineage = create();
  Attempt accepted = attempt(1, gate::Outcome::accepted);
  accepted.version = 1;
  accepted.verdict.timing = gate::Timing{2, 1, 2, 0.01, 1.9, 2.1, 0.95, "simulated MI300X"};
  accepted.verdict.receipt = gate::Receipt{"o", "c", "s", "p", gate::Equivalence::tested_strict_clean, 8};
  Version version{
      .id = 1, .parent = 0, .evaluation = 1, .artifact = sha256_hex(better), .listing = "x", .speedup = 2, .cv = 0.01};
  version.resources = {.vgprs = 40, .agprs = 4, .sgprs = 24, .lds_bytes = 512, .scratch_bytes = 16};
  version.waves_per_simd = 7;
  ASSERT_TRUE(lineage.record(accepted, Lineage::Accepted{version, better}, 1.5));
  auto versions = lineage.versions();
  auto attempts = lineage.attempts();
  ASSERT_TRUE(versions && attempts);
  ASSERT_EQ(versions->size(), 2u);
  EXPECT_EQ((*versions)[0].parent, -1);
  EXPECT_EQ((*versions)[1].speedup, 2);
  EXPECT_EQ((*versions)[1].resources.vgprs, 40u);
  EXPECT_EQ((*versions)[1].resources.agprs, 4u);
  EXPECT_EQ((*versions)[1].resources.sgprs, 24u);
  EXPECT_EQ((*versions)[1].resources.lds_bytes, 512u);
  EXPECT_EQ((*versions)[1].resources.scratch_bytes, 16u);
  EXPECT_EQ((*versions)[1].waves_per_simd, 7u);
  ASSERT_EQ(attempts->size(), 1u);
  const Attempt& read = attempts->front();
  EXPECT_EQ(read.version, 1);
  EXPECT_EQ(read.proposal.edits.at(0).text, "s_nop 0\n");
  EXPECT_EQ(read.proposal.rule, "tighten-waits");
  ASSERT_TRUE(read.verdict.timing && read.verdict.receipt);
  EXPECT_EQ(read.verdict.timing->high, 2.1);
  EXPECT_EQ(read.verdict.timing->faster, 0.95);
  EXPECT_EQ(read.verdict.timing->device, "simulated MI300X");
  EXPECT_EQ(read.verdict.receipt->equivalence, gate::Equivalence::tested_strict_clean);
  EXPECT_EQ(read.verdict.receipt->case_count, 8u);
  EXPECT_EQ(lineage.artifact(version.artifact).value(), better);
  EXPECT_EQ(lineage.status()->elapsed_seconds, 1.5);
}

TEST_F(LineageTest, DecisionsAreStoredWithTheAttemptThatFollows) {
  Lineage lineage = create();
  const Decision redirect{.before = 1,
                          .worker = 2,
                          .kind = DecisionKind::redirect,
                          .focus = {Range{3, 9}, Direction::memory_access},
                          .reason = "why"};
  const Decision last{.before = 2, .kind = DecisionKind::exhausted, .reason = "no more"};
  ASSERT_TRUE(lineage.record(attempt(1, gate::Outcome::divergence), std::nullopt, 1, std::vector{redirect}));
  ASSERT_TRUE(lineage.finish("no more ideas", 2, std::vector{last}));
  const auto decisions = lineage.decisions();
  ASSERT_TRUE(decisions) << decisions.error().message;
  ASSERT_EQ(decisions->size(), 2u);
  EXPECT_EQ((*decisions)[0].worker, 2);
  EXPECT_EQ((*decisions)[0].kind, DecisionKind::redirect);
  EXPECT_EQ((*decisions)[0].focus.window, (Range{3, 9}));
  EXPECT_EQ((*decisions)[0].focus.direction, Direction::memory_access);
  EXPECT_EQ((*decisions)[0].reason, "why");
  EXPECT_EQ((*decisions)[1].before, 2);
  EXPECT_FALSE((*decisions)[1].focus.window || (*decisions)[1].focus.direction);
}

TEST_F(LineageTest, WorkerWindowAndOtherParentComeBack) {
  Lineage lineage = create();
  Attempt merged = attempt(1, gate::Outcome::divergence);
  merged.worker = 3;
  merged.window = 0xfedcba9876543210;
  merged.other_parent = 0;
  ASSERT_TRUE(lineage.record(merged, std::nullopt, 1));
  const Attempt read = lineage.attempts()->at(0);
  EXPECT_EQ(read.worker, 3);
  EXPECT_EQ(read.window, 0xfedcba9876543210);
  EXPECT_EQ(read.other_parent, 0);
}

TEST_F(LineageTest, ARejectedAttemptHasNeitherTimingNorReceipt) {
  Lineage lineage = create();
  ASSERT_TRUE(lineage.record(attempt(1, gate::Outcome::divergence), std::nullopt, 1));
  auto attempts = lineage.attempts();
  ASSERT_TRUE(attempts);
  EXPECT_EQ(attempts->at(0).verdict.outcome, gate::Outcome::divergence);
  EXPECT_FALSE(attempts->at(0).verdict.timing);
  EXPECT_FALSE(attempts->at(0).verdict.receipt);
  EXPECT_FALSE(attempts->at(0).version);
}

TEST_F(LineageTest, AnAttemptThatCannotBeStoredLeavesNoVersionBehind) {
  Lineage lineage = create();
  ASSERT_TRUE(lineage.record(attempt(1, gate::Outcome::divergence), std::nullopt, 1));
  Version version{.id = 1, .parent = 0, .evaluation = 1, .artifact = sha256_hex(better)};
  EXPECT_FALSE(
      lineage.record(attempt(1, gate::Outcome::accepted), Lineage::Accepted{version, better}, 2)); // number taken
  EXPECT_EQ(lineage.versions()->size(), 1u);
  EXPECT_FALSE(lineage.artifact(version.artifact));
  EXPECT_EQ(lineage.status()->elapsed_seconds, 1);
}

TEST_F(LineageTest, WhatWasRecordedSurvivesAKilledProcess) {
  pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Lineage lineage = create();
    for (int i = 1; i <= 5; ++i)
      if (!lineage.record(attempt(i, gate::Outcome::duplicate), std::nullopt, i)) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto lineage = Lineage::resume(directory);
  ASSERT_TRUE(lineage) << lineage.error().message;
  EXPECT_EQ(lineage->attempts()->size(), 5u);
  EXPECT_EQ(lineage->status()->elapsed_seconds, 5);
}

TEST_F(LineageTest, TwoProcessesCannotWorkOnOneRun) {
  Lineage lineage = create();
  auto second = Lineage::resume(directory);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos);
  EXPECT_TRUE(Lineage::read(directory)); // looking is allowed
}

TEST_F(LineageTest, ARunIsNeverCreatedOverAnother) {
  create();
  EXPECT_FALSE(Lineage::create(directory, {}, {.artifact = "x"}, original));
  ASSERT_TRUE(Lineage::remove(directory));
  EXPECT_FALSE(Lineage::exists(directory));
}

TEST_F(LineageTest, ADamagedArtifactIsNotReturned) {
  Lineage lineage = create();
  Attempt accepted = attempt(1, gate::Outcome::accepted);
  Version version{.id = 1, .parent = 0, .evaluation = 1, .artifact = sha256_hex(original), .listing = "x"};
  version.artifact.back() ^= 1; // a hash that these bytes do not have
  ASSERT_TRUE(lineage.record(accepted, Lineage::Accepted{version, better}, 1));
  auto bytes = lineage.artifact(version.artifact);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().message.find("damaged"), std::string::npos);
}

TEST_F(LineageTest, AFileThatIsNoLineageIsAnError) {
  std::filesystem::create_directories(directory);
  ASSERT_TRUE(write_text_file(directory + "/lineage.sqlite", "not a database, but long enough to look at"));
  EXPECT_FALSE(Lineage::resume(directory));
  EXPECT_FALSE(Lineage::read(directory));
}

TEST_F(LineageTest, ExtendingARunOpensItAgain) {
  Lineage lineage = create();
  ASSERT_TRUE(lineage.finish("budget spent", 3));
  EXPECT_EQ(lineage.status()->ending, "budget spent");
  ASSERT_TRUE(lineage.extend(500, 0));
  EXPECT_EQ(lineage.status()->ending, "");
  EXPECT_EQ(lineage.info().budget_evaluations, 500);
}

} // namespace
} // namespace asmevo::search
