// A state of a search as drivers see it, on the small kernel, with a made-up estimate: what models are shown must not
// change with every parameter of the timing model.
#pragma once

#include "agent/code_view.h"
#include "gate/slow_kernel.h"
#include "search/lineage.h"

namespace asmevo::agent::testing {

class StateTest : public gate::testing::SlowKernel {
protected:
  void SetUp() override {
    SlowKernel::SetUp();
    make_state();
  }
  void TearDown() override {
    view = {};
    SlowKernel::TearDown();
  }

  void make_state() {
    loaded = *device->load(k0);
    const auto code = loaded.image->instructions();
    estimate = {.seconds = {1e-5}, .median = 1e-5, .cv = 0.01, .kernel_cycles = 20000, .simulated_cycles = 20000};
    estimate.bound = "latency";
    estimate.loads = {{"issue", 0.25}, {"hbm", 0.01}};
    estimate.attribution.resize(code.size());
    const auto cost = [&](std::string_view text, double busy, timing::Stall stall, double exposed) {
      timing::Attribution& a = estimate.attribution[index(text)];
      a.issues = a.issues + 8;
      a.busy_cycles = busy;
      a.exposed_cycles[size_t(stall)] = exposed;
    };
    cost("s_load_dwordx4", 100, timing::Stall::fetch, 0);
    cost("s_sub_u32 s8", 4000, timing::Stall::dependency, 3000);
    cost("s_cmp_lg_u32", 4000, timing::Stall::dependency, 0);
    cost("s_cbranch_scc1", 4000, timing::Stall::fetch, 2000);
    cost("s_waitcnt vmcnt", 100, timing::Stall::vmcnt, 2500);
    cost("global_store_dword", 100, timing::Stall::vmcnt, 0);
    estimate.dependences = {
        {uint32_t(index("s_sub_u32 s8")), uint32_t(index("s_sub_u32 s8")), timing::Stall::dependency, 3000, 3000},
        {uint32_t(index("global_load")), uint32_t(index("s_waitcnt vmcnt")), timing::Stall::vmcnt, 2500, 2500}};
    auto function = gate::function_of(original.program, original.kernel);
    ASSERT_TRUE(function);
    versions = {{.artifact = original.hash}};
    attempts.clear();
    state = {.program = &original.program,
             .function = *function,
             .estimate = &estimate,
             .image = &*loaded.image,
             .codec = &gate::testing::codec(),
             .number = 1,
             .versions = &versions,
             .attempts = &attempts,
             .evaluations_left = 50,
             .timed_case = &reference->launch().cases.front(),
             .device = "simulated MI300X"};
    view = view_code(original.program, **function, estimate, code, "simulated MI300X");
  }

  size_t index(std::string_view text) const {
    const auto code = loaded.image->instructions();
    const auto address = uint64_t(original.program.items[item(text)].origin);
    for (size_t i = 0; i < code.size(); ++i)
      if (code[i].address == address) return i;
    ADD_FAILURE() << "no instruction " << text;
    return 0;
  }

  /// An attempt on version 0 that replaced one item.
  search::Attempt& attempt(gate::Outcome outcome, std::string text, std::string evidence) {
    search::Attempt made{.number = int64_t(attempts.size()) + 1, .driver = "test"};
    made.proposal = {
        {{item("v_add_f32"), item("v_add_f32") + 1, std::move(text)}}, "latency-hiding", "it ends earlier"};
    made.verdict = {.outcome = outcome, .evidence = std::move(evidence)};
    if (outcome == gate::Outcome::accepted) {
      made.version = int64_t(versions.size());
      made.verdict.timing = gate::Timing{.speedup = 1.25};
      versions.push_back(
          {.id = *made.version, .parent = state.version, .evaluation = made.number, .artifact = "x", .speedup = 1.25});
    }
    attempts.push_back(std::move(made));
    state.number = int64_t(attempts.size()) + 1;
    return attempts.back();
  }

  device::Loaded loaded;
  timing::Estimate estimate;
  std::vector<search::Version> versions;
  std::vector<search::Attempt> attempts;
  search::State state;
  CodeView view;
};

} // namespace asmevo::agent::testing
