#include "agent/workspace_fixture.h"

namespace asmevo::agent {
namespace {

using testing::json;
using testing::WorkspaceTest;

class Tools : public WorkspaceTest {
protected:
  json faster() { return edit_of(item("s_movk_i32 s8"), item("s_movk_i32 s8") + 1, "s_movk_i32 s8, 0x10"); }
};

TEST_F(Tools, SchemasUseNothingThatIsNotChecked) {
  for (const ToolEntry* entry : all_tools()) {
    EXPECT_EQ(unknown_keyword(entry->input()), "") << entry->name;
    EXPECT_EQ(unknown_keyword(entry->output()), "") << entry->name;
    EXPECT_EQ(entry->input()["additionalProperties"], false) << entry->name;
    EXPECT_FALSE(entry->description.empty()) << entry->name;
  }
}

TEST_F(Tools, TakeNoToleranceThresholdCaseOrPath) {
  constexpr std::string_view decided_elsewhere[] = {
      "tolerance", "atol", "rtol",   "cosine", "threshold", "epsilon", "floor",  "path", "output", "case",
      "cases",     "seed", "launch", "policy", "draws",     "budget",  "device", "file", "kernel", "force"};
  for (const ToolEntry* entry : all_tools())
    for (std::string_view name : decided_elsewhere)
      EXPECT_TRUE(fault_of(
          {{name, 1}},
          {{"type", "object"}, {"properties", entry->input()["properties"]}, {"additionalProperties", false}}, ""))
          << entry->name << " takes " << name;
}

TEST_F(Tools, EveryToolThatNeedsNoArgumentsAnswersAsItsSchemaSays) {
  for (const char* name :
       {"status", "inspect", "windows", "profile", "occupancy", "check", "verify", "time", "lineage", "search_memory"})
    EXPECT_FALSE(good(name).empty()) << name;
}

TEST_F(Tools, TheHottestWindowIsTheDelayWithItsLabel) {
  const json window = good("windows")["windows"][0];
  EXPECT_EQ(window["first"], item("s_sub_u32 s8") - 1);
  EXPECT_EQ(window["last"], item("s_cbranch_scc1") + 1);
}

TEST_F(Tools, DisassembleTellsWhatAWindowIsGivenAndOwes) {
  const size_t load = item("global_load_dword");
  const json window = good("disassemble", {{"first", load}, {"last", load + 1}});
  const auto has = [&](const char* key, const char* name) {
    return std::ranges::find(window[key], json(name)) != window[key].end();
  };
  EXPECT_TRUE(has("live_in", "s[4:7]")) << window["live_in"];
  EXPECT_TRUE(has("live_in", "v0")) << window["live_in"];
  EXPECT_TRUE(has("live_out", "v[0:1]")) << window["live_out"];
  EXPECT_TRUE(has("free", "v[2:63]")) << window["free"];
  EXPECT_EQ(window["in_flight_in"]["vmcnt"], 0);
  EXPECT_EQ(window["in_flight_out"]["vmcnt"], 1);
  EXPECT_EQ(window["in_flight_out"]["vector_memory"], json({"v1"}));
  EXPECT_EQ(window["falls_through"], true);
  EXPECT_EQ(window["lines"][0]["text"], "global_load_dword v1, v0, s[6:7]");
}

TEST_F(Tools, AWindowInsideOfALoopSaysHowItIsLeft) {
  const size_t sub = item("s_sub_u32 s8"), branch = item("s_cbranch_scc1");
  const json body = good("disassemble", {{"first", sub}, {"last", branch + 1}});
  EXPECT_EQ(body["branches_to"].size(), 1u); // the label is not in it
  const json loop = good("disassemble", {{"first", sub - 1}, {"last", branch + 1}});
  EXPECT_EQ(loop["branches_to"].size(), 0u);
  EXPECT_EQ(good("disassemble", {{"first", sub - 2}, {"last", sub + 1}})["entered_inside"], true);
}

TEST_F(Tools, WindowsOutsideOfTheKernelAreRefused) {
  EXPECT_NE(bad("disassemble", {{"first", 0}, {"last", 1000}}).find("no window of the kernel"), std::string::npos);
  EXPECT_NE(bad("disassemble", {{"first", 5}, {"last", 5}}).find("no window of the kernel"), std::string::npos);
  EXPECT_NE(bad("disassemble", {{"first", 1'000'000'000}, {"last", 1'000'000'000}}), "");
  EXPECT_NE(bad("windows", {{"version", 7}}).find("no version 7"), std::string::npos);
}

TEST_F(Tools, AFasterEditBecomesAVersionAndTheOutput) {
  const json verdict = propose(faster());
  EXPECT_EQ(verdict["outcome"], "accepted") << verdict;
  EXPECT_EQ(verdict["version"], 1);
  EXPECT_GT(verdict["best_speedup"], 2.0);
  EXPECT_EQ(verdict["evaluations_left"], 99);
  EXPECT_EQ(good("status")["current_version"], 1);
  EXPECT_EQ(sha256_hex(*read_file(directory + "/out.hsaco")), lineage->versions()->at(1).artifact);
  EXPECT_EQ(good("verify")["equivalent"], true);
  EXPECT_GT(good("time")["timing"]["speedup"], 2.0);
  const json difference = good("diff", {{"from", 0}, {"to", 1}});
  EXPECT_NE(difference.dump().find("s_movk_i32 s8, 0x10"), std::string::npos);
}

TEST_F(Tools, AnEditOfAnOlderPictureIsRefusedAndNotRecorded) {
  json edit = faster();
  propose(edit);
  EXPECT_NE(bad("propose", {{"edits", json::array({edit})}}).find("is not that of items"), std::string::npos);
  edit["base_hash"] = "";
  EXPECT_NE(bad("propose", {{"edits", json::array({edit})}}), "");
  EXPECT_EQ(good("status")["evaluations"], 1);
}

TEST_F(Tools, AHashIsOfOneWindowOnly) {
  json edit = faster();
  edit["last"] = edit["last"].get<size_t>() + 1;
  EXPECT_NE(bad("propose", {{"version", 0}, {"edits", json::array({edit})}}).find("is not that of items"),
            std::string::npos);
}

TEST_F(Tools, SeveralWindowsAreOneProposalInAnyOrder) {
  const size_t delay = item("s_movk_i32 s8"), add = item("v_add_f32");
  const json verdict =
      good("propose",
           {{"edits",
             {edit_of(add, add + 1, "v_mul_f32_e32 v1, 2.0, v1"), edit_of(delay, delay + 1, "s_movk_i32 s8, 0x20")}}});
  EXPECT_EQ(verdict["outcome"], "accepted") << verdict;
  EXPECT_NE(
      bad("propose", {{"version", 0}, {"edits", {edit_of(delay, delay + 2, ""), edit_of(delay + 1, delay + 2, "")}}})
          .find("overlap"),
      std::string::npos);
}

TEST_F(Tools, AFailureSaysWhatWouldHaveBeenLegalAndIsRemembered) {
  const size_t add = item("v_add_f32");
  const json verdict = propose(edit_of(add, add + 1, "v_mul_f32_e32 v1, v1, v1"));
  EXPECT_EQ(verdict["outcome"], "divergence");
  EXPECT_FALSE(verdict["evidence"].get<std::string>().empty());
  EXPECT_NE(verdict["advice"].get<std::string>().find("live behind the window"), std::string::npos);
  EXPECT_EQ(good("search_memory", {{"query", "v_mul_f32"}})["total"], 1);
  EXPECT_EQ(good("search_memory", {{"item", add}})["total"], 1);
  EXPECT_EQ(good("search_memory", {{"item", add + 1}})["total"], 0);
  EXPECT_EQ(good("search_memory", {{"outcome", "duplicate"}})["total"], 0);
  EXPECT_EQ(propose(edit_of(add, add + 1, "v_mul_f32_e32  v1, v1, v1"))["outcome"], "duplicate");
}

TEST_F(Tools, CheckTellsWhatTheStaticGatesSayAndCostsNothing) {
  const size_t wait = item("s_waitcnt vmcnt(0)");
  const json lacking = good("check", {{"edits", json::array({edit_of(wait, wait + 1, "")})}});
  EXPECT_EQ(lacking["passes"], false);
  EXPECT_EQ(lacking["outcome"], "static_inconsistency");
  EXPECT_GE(lacking["total"], 1);
  EXPECT_EQ(good("check", {{"edits", json::array({edit_of(wait, wait + 1, "")})}, {"auto_waits", true}})["passes"],
            true);
  EXPECT_EQ(good("check", {{"edits", json::array({edit_of(wait, wait + 1, "v_bogus")})}})["outcome"],
            "assembly_failure");
  EXPECT_EQ(good("status")["evaluations"], 0);
}

TEST_F(Tools, NothingIsProposedBeyondTheBudget) {
  open_workspace(1);
  const json edit = faster();
  propose(edit);
  EXPECT_EQ(bad("propose", {{"version", 0}, {"edits", json::array({edit})}}), "the budget is spent");
  EXPECT_EQ(good("status")["budget_spent"], true);
  ASSERT_TRUE(workspace->close());
  EXPECT_EQ(lineage->status()->ending, "budget spent");
}

TEST_F(Tools, CheckoutGoesBackToAnyVersionAndNoOther) {
  propose(faster());
  EXPECT_EQ(good("checkout", {{"version", 0}})["version"], 0);
  EXPECT_EQ(good("windows")["version"], 0);
  EXPECT_NE(bad("checkout", {{"version", 2}}).find("no version 2"), std::string::npos);
}

TEST_F(Tools, AStoppedProposalLeavesNoTrace) {
  const json edit = faster();
  stop = true;
  EXPECT_FALSE(call("propose", {{"edits", json::array({edit})}}));
  stop = false;
  EXPECT_EQ(good("status")["evaluations"], 0);
  EXPECT_EQ(propose(edit)["outcome"], "accepted");
}

TEST_F(Tools, AnotherSessionGoesOnWhereTheFirstEnded) {
  propose(faster());
  open_again();
  EXPECT_EQ(good("status")["evaluations"], 1);
  EXPECT_EQ(good("status")["current_version"], 1);
  EXPECT_EQ(good("propose", {{"version", 0}, {"edits", json::array({faster()})}})["outcome"], "duplicate");
}

TEST_F(Tools, LookupKnowsCountersHazardsAndLatency) {
  const json found = good("lookup_isa", {{"mnemonic", "global_load_dword"}, {"limit", 1}});
  const json& load = found["instructions"][0];
  EXPECT_EQ(load["mnemonic"], "global_load_dword");
  EXPECT_EQ(load["counters"]["vmcnt"], 1);
  EXPECT_EQ(load["unit"], "vmem");
  EXPECT_GE(load["latency"].size(), 3u);
  EXPECT_GT(found["total"], 1);
  EXPECT_NE(good("lookup_isa", {{"mnemonic", "v_exp_f32"}, {"limit", 1}}).dump().find("approximate"),
            std::string::npos);
  EXPECT_NE(bad("lookup_isa", {{"mnemonic", "v_bogus"}}).find("no instruction"), std::string::npos);
}

TEST_F(Tools, OccupancyShowsWhatMoreRegistersWouldCost) {
  const json answer = good("occupancy", {{"vgprs", 256}});
  EXPECT_EQ(answer["now"]["occupancy"]["waves_per_simd"], 8);
  EXPECT_EQ(answer["then"]["occupancy"]["waves_per_simd"], 2);
  EXPECT_EQ(answer["then"]["occupancy"]["limiter"], "vgpr");
}

TEST_F(Tools, TheRecordOfAProposalKeepsWhoMadeIt) {
  good("propose", {{"edits", json::array({faster()})},
                   {"model", "m"},
                   {"prompt_hash", "abc"},
                   {"input_tokens", 10},
                   {"output_tokens", 3},
                   {"direction", "latency-hiding"}});
  const search::Attempt attempt = lineage->attempts()->at(0);
  const search::Proposal& proposal = attempt.proposal;
  EXPECT_EQ(proposal.origin, (search::Origin{"m", "abc", 10, 3}));
  EXPECT_EQ(attempt.parent, 0);
  EXPECT_EQ(proposal.parent, std::nullopt); // of the best version: said only where it is another
  EXPECT_EQ(proposal.rule, "latency-hiding");
}

} // namespace
} // namespace asmevo::agent
