// Every outcome, each from a candidate that really provokes it.
#include "gate/pipeline.h"

#include "gate/slow_kernel.h"

#include <algorithm>

namespace asmevo::gate {
namespace {

class Gate : public testing::SlowKernel {
protected:
  Evaluation evaluate_edits(std::vector<recover::Edit> edits) {
    return run(Edited{&original.program, std::move(edits)});
  }
  /// The listing of K0 with one piece of text replaced.
  Evaluation evaluate_listing(const std::string& old_text, const std::string& new_text) {
    std::string listing = recover::print_listing(original.program, false);
    size_t at = listing.find(old_text);
    EXPECT_NE(at, std::string::npos) << old_text;
    if (at != std::string::npos) listing.replace(at, old_text.size(), new_text);
    return run(Listing{listing});
  }
  Evaluation run(const Candidate& candidate) {
    auto evaluation = evaluate(candidate, 1, 1, known, bench);
    EXPECT_TRUE(evaluation) << (evaluation ? "" : evaluation.error().message);
    if (!evaluation || !*evaluation) return {};
    return **evaluation;
  }

  Known known;
};

TEST_F(Gate, AFasterCandidateIsAcceptedWithTimingAndReceipt) {
  Evaluation e = evaluate_edits({without_delay()});
  ASSERT_EQ(e.verdict.outcome, Outcome::accepted) << e.verdict.evidence;
  ASSERT_TRUE(e.verdict.timing && e.verdict.receipt && e.built);
  EXPECT_GT(e.verdict.timing->speedup, 1.5);
  EXPECT_EQ(e.verdict.timing->device, "simulated MI300X");
  EXPECT_EQ(e.verdict.receipt->original, original.hash);
  EXPECT_EQ(e.verdict.receipt->candidate, sha256_hex(e.built->object->bytes));
  EXPECT_EQ(e.artifact_hash, e.verdict.receipt->candidate);
}

TEST_F(Gate, TextThatDoesNotAssembleIsAnAssemblyFailureWithItsLine) {
  Evaluation e = evaluate_edits({replace("v_add_f32", "s_nop 0\nv_bogus_f32 v1, v1, v1")});
  EXPECT_EQ(e.verdict.outcome, Outcome::assembly_failure);
  EXPECT_NE(e.verdict.evidence.find("2:"), std::string::npos) << e.verdict.evidence;
  EXPECT_TRUE(e.artifact_hash.empty());
  EXPECT_EQ(device->launches, 0);
}

TEST_F(Gate, RegistersBeyondTheDeclarationAreStaticInconsistencies) {
  std::string listing = recover::print_listing(original.program, false);
  for (size_t at = 0; (at = listing.find("v1", at)) != std::string::npos; at += 3) listing.replace(at, 2, "v40");
  Evaluation e = run(Listing{listing});
  EXPECT_EQ(e.verdict.outcome, Outcome::static_inconsistency);
  EXPECT_NE(e.verdict.evidence.find("VGPRs"), std::string::npos) << e.verdict.evidence;
  EXPECT_EQ(device->launches, 0);
}

TEST_F(Gate, PutsInTheWaitsOfAnAutoCandidate) {
  std::vector<recover::Edit> edits = {without_delay(), replace("s_waitcnt vmcnt(0)", "")};
  std::ranges::sort(edits, {}, &recover::Edit::first);
  EXPECT_EQ(evaluate_edits(edits).verdict.outcome, Outcome::static_inconsistency);
  Evaluation e = run(Edited{&original.program, edits, true});
  EXPECT_EQ(e.verdict.outcome, Outcome::accepted) << e.verdict.evidence;
}

TEST_F(Gate, AMissingWaitIsAStaticInconsistency) {
  Evaluation e = evaluate_edits({replace("s_waitcnt vmcnt(0)", "")});
  EXPECT_EQ(e.verdict.outcome, Outcome::static_inconsistency);
  EXPECT_TRUE(e.verdict.evidence.starts_with("W")) << e.verdict.evidence;
  EXPECT_EQ(device->launches, 0);
}

TEST_F(Gate, AChangedAbiIsAStaticInconsistency) {
  Evaluation e = evaluate_listing(".kernarg_segment_size: 16", ".kernarg_segment_size: 24");
  EXPECT_EQ(e.verdict.outcome, Outcome::static_inconsistency) << e.verdict.evidence;
}

TEST_F(Gate, AnEditOutsideTheKernelOrWithADirectiveIsAStaticInconsistency) {
  size_t end = original.program.items.size();
  EXPECT_EQ(evaluate_edits({{end + 5, end + 6, ""}}).verdict.outcome, Outcome::static_inconsistency);
  EXPECT_EQ(evaluate_edits({replace("v_add_f32", ".incbin \"/etc/passwd\"")}).verdict.outcome,
            Outcome::static_inconsistency);
}

TEST_F(Gate, AWrongResultIsADivergenceAndIsNeverTimed) {
  Evaluation e = evaluate_edits({without_delay(), replace("v_add_f32", "v_mul_f32_e32 v1, v1, v1")});
  EXPECT_EQ(e.verdict.outcome, Outcome::divergence);
  EXPECT_NE(e.verdict.evidence.find("out"), std::string::npos) << e.verdict.evidence;
  EXPECT_FALSE(e.verdict.timing);
  EXPECT_FALSE(e.verdict.receipt);
  EXPECT_EQ(device->times, 0);
}

TEST_F(Gate, ADivergenceTellsAStateInWhichTheEditedCodeDiffers) {
  Evaluation e = evaluate_edits({replace("v_add_f32", "v_mul_f32_e32 v1, v1, v1")});
  EXPECT_EQ(e.verdict.outcome, Outcome::divergence);
  EXPECT_NE(e.verdict.evidence.find("run by itself: v1 in lane"), std::string::npos) << e.verdict.evidence;
}

TEST_F(Gate, AnAcceptedCandidateIsWatchedInStrictMode) {
  Evaluation e = evaluate_edits({without_delay()});
  ASSERT_TRUE(e.verdict.receipt) << e.verdict.evidence;
  EXPECT_EQ(e.verdict.receipt->equivalence, Equivalence::tested_strict_clean);
  EXPECT_NE(e.verdict.evidence.find("not proved: "), std::string::npos) << e.verdict.evidence;
}

TEST_F(Gate, WhatComputesTheSameIsProved) {
  bench.settings.rule = {.epsilon = -1, .k = 0, .floor = 0, .faster = 0}; // faster or not
  Evaluation e = evaluate_edits({replace("v_lshlrev_b32", "v_mul_lo_u32 v0, v0, 4")});
  ASSERT_EQ(e.verdict.outcome, Outcome::accepted) << e.verdict.evidence;
  EXPECT_EQ(e.verdict.receipt->equivalence, Equivalence::proved) << e.verdict.evidence;
  EXPECT_NE(e.verdict.evidence.find("proved: 1 region differs and computes the same for all inputs"), std::string::npos)
      << e.verdict.evidence;
}

TEST_F(Gate, NothingIsProvedWhereThatIsNotWanted) {
  bench.settings.rule = {.epsilon = -1, .k = 0, .floor = 0, .faster = 0};
  bench.settings.proof_limit = 0;
  Evaluation e = evaluate_edits({replace("v_lshlrev_b32", "v_mul_lo_u32 v0, v0, 4")});
  ASSERT_EQ(e.verdict.outcome, Outcome::accepted) << e.verdict.evidence;
  EXPECT_EQ(e.verdict.receipt->equivalence, Equivalence::tested_strict_clean);
}

TEST_F(Gate, ARegisterThatNothingWroteIsAFaultEvenWhereItChangesNothing) {
  Evaluation e = evaluate_edits({without_delay(), replace("v_add_f32", "v_mov_b32 v2, v5\nv_add_f32_e32 v1, v1, v1")});
  EXPECT_EQ(e.verdict.outcome, Outcome::runtime_fault) << e.verdict.evidence;
  EXPECT_NE(e.verdict.evidence.find("strict mode: case"), std::string::npos) << e.verdict.evidence;
  EXPECT_NE(e.verdict.evidence.find("uninitialised"), std::string::npos) << e.verdict.evidence;
  EXPECT_FALSE(e.built);
}

TEST_F(Gate, AnEndlessLoopIsARuntimeFault) {
  Evaluation e = evaluate_edits({replace("s_sub_u32 s8", "s_nop 0")});
  EXPECT_EQ(e.verdict.outcome, Outcome::runtime_fault) << e.verdict.evidence;
  EXPECT_EQ(device->times, 0);
}

TEST_F(Gate, AStoreToNowhereIsARuntimeFault) {
  Evaluation e =
      evaluate_edits({replace("global_store_dword", "s_mov_b64 s[4:5], 0\nglobal_store_dword v0, v1, s[4:5]")});
  EXPECT_EQ(e.verdict.outcome, Outcome::runtime_fault) << e.verdict.evidence;
}

TEST_F(Gate, AWritePastTheBufferIsGuardCorruption) {
  Evaluation e =
      evaluate_edits({replace("global_store_dword", "global_store_dword v0, v1, s[4:5]\n"
                                                    "global_store_dword v0, v1, s[4:5] offset:4\n"
                                                    "s_waitcnt vmcnt(0)\nglobal_store_dword v0, v1, s[4:5]")});
  EXPECT_EQ(e.verdict.outcome, Outcome::guard_corruption) << e.verdict.evidence;
  EXPECT_NE(e.verdict.evidence.find("out"), std::string::npos) << e.verdict.evidence;
}

TEST_F(Gate, AWriteToAnInputIsGuardCorruption) {
  Evaluation e = evaluate_edits({replace("global_store_dword", "global_store_dword v0, v1, s[4:5]\n"
                                                               "global_store_dword v0, v1, s[6:7]")});
  EXPECT_TRUE(e.verdict.outcome == Outcome::guard_corruption || e.verdict.outcome == Outcome::runtime_fault)
      << outcome_name(e.verdict.outcome);
  EXPECT_NE(e.verdict.evidence.find("in"), std::string::npos) << e.verdict.evidence;
}

TEST_F(Gate, ASlowerCandidateIsInsufficientWithTimingAndReceipt) {
  Evaluation e = evaluate_edits({replace("s_movk_i32 s8", "s_movk_i32 s8, 0x7000")});
  EXPECT_EQ(e.verdict.outcome, Outcome::insufficient_speedup) << e.verdict.evidence;
  ASSERT_TRUE(e.verdict.timing && e.verdict.receipt);
  EXPECT_LT(e.verdict.timing->speedup, 1);
  EXPECT_FALSE(e.built);
}

TEST_F(Gate, AGainInsideItsSpreadIsTimingUnstable) {
  bench.settings.rule.k = 1e6; // any spread of the model is too much
  Evaluation e = evaluate_edits({without_delay()});
  EXPECT_EQ(e.verdict.outcome, Outcome::timing_unstable) << e.verdict.evidence;
  EXPECT_TRUE(e.verdict.timing && e.verdict.receipt);
}

TEST_F(Gate, TheSameTextIsADuplicateBeforeAnyWork) {
  known.add(sha256_hex(normalised_text(original.program, {})), "", 0);
  Evaluation e = evaluate_edits({replace("s_movk_i32 s8", "s_movk_i32  s8,0x1000 ; the same")});
  EXPECT_EQ(e.verdict.outcome, Outcome::duplicate);
  EXPECT_EQ(e.verdict.evidence, "same text as evaluation 0");
  EXPECT_TRUE(e.artifact_hash.empty());
}

TEST_F(Gate, OtherTextWithTheSameBytesIsADuplicateBeforeAnyLaunch) {
  known.add("", original.hash, 0);
  Evaluation e = evaluate_edits({replace("s_movk_i32 s8", "s_movk_i32 s8, 4096")});
  EXPECT_EQ(e.verdict.outcome, Outcome::duplicate) << e.verdict.evidence;
  EXPECT_EQ(e.verdict.evidence, "same object as evaluation 0");
  EXPECT_EQ(device->launches, 0);
}

TEST_F(Gate, AcceptanceIsVerifiedAgainAfterTiming) {
  device->spoil_after_timing = true; // behaves until it has been timed
  Evaluation e = evaluate_edits({without_delay()});
  EXPECT_EQ(e.verdict.outcome, Outcome::divergence) << e.verdict.evidence;
  EXPECT_FALSE(e.verdict.timing);
  EXPECT_FALSE(e.built);
}

TEST_F(Gate, AnInterruptedEvaluationIsNoVerdict) {
  bool stop = true;
  bench.stop = &stop;
  auto evaluation = evaluate(Edited{&original.program, {without_delay()}}, 1, 1, known, bench);
  ASSERT_TRUE(evaluation) << evaluation.error().message;
  EXPECT_FALSE(*evaluation);
}

TEST_F(Gate, WhoeverRunsWhenItIsToldToStopTheCandidateIsNotJudged) {
  bench.stop = &device->stop;
  ASSERT_EQ(evaluate_edits({without_delay()}).verdict.outcome, Outcome::accepted);
  int launches = device->launches;
  for (int at = 1; at <= launches; ++at) {
    device->launches = 0;
    device->stop = false;
    device->stop_at_launch = at;
    bench.examination = {}; // K0 runs in strict mode again
    auto evaluation = evaluate(Edited{&original.program, {without_delay()}, false}, 1, at, known, bench);
    ASSERT_TRUE(evaluation) << at << ": " << evaluation.error().message;
    EXPECT_FALSE(*evaluation) << at;
  }
}

TEST_F(Gate, TheParentsSpeedupSetsTheBar) {
  auto evaluation = evaluate(Edited{&original.program, {without_delay()}}, 1000, 1, known, bench);
  ASSERT_TRUE(evaluation && *evaluation);
  EXPECT_EQ((*evaluation)->verdict.outcome, Outcome::insufficient_speedup);
}

TEST_F(Gate, OnTheSimulatedDeviceTheOriginalIsTimedOnce) {
  evaluate_edits({replace("s_movk_i32 s8", "s_movk_i32 s8, 0x7000")});
  evaluate_edits({replace("s_movk_i32 s8", "s_movk_i32 s8, 0x7001")});
  EXPECT_EQ(device->times, 3);
}

TEST(Law, NothingIsTimedWithoutAReceipt) {
  // Only the equivalence stage makes a Verified, and timing takes nothing else.
  static_assert(!std::is_default_constructible_v<Verified>);
  static_assert(!std::is_constructible_v<Verified, device::Loaded, Receipt>);
  static_assert(!std::is_invocable_v<decltype(&time), const Built&, Bench&>);
  static_assert(!std::is_invocable_v<decltype(&time), const device::Loaded&, Bench&>);
}

} // namespace
} // namespace asmevo::gate
