#include "oracle/bench.h"

#include <cmath>

using namespace asmevo;
using namespace asmevo::oracle;
using namespace asmevo::oracle::testing;

TEST(Oracle, a_candidate_that_rounds_a_little_differently_is_equivalent) {
  Bench bench;
  Judgement j = bench.judge([](World& w) {
    affine(w);
    for (float& v : w.floats("out")) v = std::nextafter(v, 10.0f);
  });
  EXPECT_EQ(j.finding, Finding::equivalent) << j.evidence;
  EXPECT_EQ(j.case_count, 2u);
  EXPECT_EQ(j.runs, 8u); // two cases, four ways
}

TEST(Oracle, one_wrong_element_is_a_divergence_that_names_its_index_and_both_values) {
  Bench bench;
  Judgement j = bench.judge([](World& w) {
    affine(w);
    w.floats("out")[2 * 64 + 5] = 100;
  });
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("`out` f32[16,64]: 1 of 1024 elements differ"), std::string::npos) << j.evidence;
  EXPECT_NE(j.evidence.find("only where index 0 is 2 (of 0 to 15) and index 1 is 5 (of 0 to 63)"), std::string::npos)
      << j.evidence;
  EXPECT_NE(j.evidence.find("[2,5] expected "), std::string::npos) << j.evidence;
  EXPECT_NE(j.evidence.find("got 100 (0x42c80000)"), std::string::npos) << j.evidence;
}

TEST(Oracle, zeros_are_a_divergence) {
  Judgement j = Bench().judge([](World& w) { std::ranges::fill(w.floats("out"), 0.0f); });
  EXPECT_EQ(j.finding, Finding::divergence);
}

TEST(Oracle, a_candidate_that_does_nothing_is_a_divergence) {
  EXPECT_EQ(Bench().judge([](World&) {}).finding, Finding::divergence);
}

TEST(Oracle, a_candidate_that_skips_when_the_output_looks_done_is_a_divergence) {
  Judgement j = Bench().judge([](World& w) {
    bool done = true;
    for (float v : w.floats("out")) done &= std::fabs(v) < 1000;
    if (!done) affine(w);
  });
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("after an earlier launch"), std::string::npos) << j.evidence;
}

TEST(Oracle, a_candidate_that_recognises_the_poison_is_a_divergence) {
  Bytes poison(4);
  launch::fill_poison(1, "out", 0, poison);
  Judgement j = Bench().judge([&](World& w) {
    if (std::memcmp(w.memory["out"].data(), poison.data(), 4) == 0) affine(w);
  });
  EXPECT_EQ(j.finding, Finding::divergence);
}

TEST(Oracle, a_candidate_that_knows_the_input_is_a_divergence) {
  std::map<size_t, Bytes> answers;
  Bench bench;
  for (const launch::Case& c : bench.launch.cases) {
    Bytes in = *launch::initial_bytes(c, *c.buffer("in"), 0), out = in;
    for (size_t i = 0; i < in.size(); i += 4) {
      float v;
      std::memcpy(&v, &in[i], 4);
      v = 2 * v + 1;
      std::memcpy(&out[i], &v, 4);
    }
    answers[in.size()] = out;
  }
  Judgement j = bench.judge([&](World& w) { w.memory["out"] = answers.at(w.memory["out"].size()); });
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("another input"), std::string::npos) << j.evidence;
}

TEST(Oracle, a_candidate_that_compiled_in_a_floating_point_scalar_is_a_divergence) {
  std::string with_scale = replaced("{\"i32\": \"rows\"}", "{\"f32\": 2, \"name\": \"scale\"}");
  Kernel by_argument = [](World& w) {
    float scale;
    std::memcpy(&scale, w.c.arguments[2].value.data(), 4);
    auto in = w.floats("in"), out = w.floats("out");
    for (size_t i = 0; i < in.size(); ++i) out[i] = scale * in[i] + 1;
  };
  EXPECT_EQ(Bench(by_argument, with_scale).judge(by_argument).finding, Finding::equivalent);
  EXPECT_EQ(Bench(by_argument, with_scale).judge(affine).finding, Finding::divergence);
}

TEST(Oracle, a_candidate_that_depends_on_addresses_is_a_divergence) {
  Judgement j = Bench().judge([](World& w) {
    if (w.options.placement == 0) affine(w);
  });
  EXPECT_EQ(j.finding, Finding::divergence);
}

TEST(Oracle, a_candidate_that_depends_on_the_schedule_is_a_divergence) {
  for (machine::Schedule bad :
       {machine::Schedule::run_to_barrier, machine::Schedule::seeded_random, machine::Schedule::late_loads}) {
    Judgement j = Bench().judge([&](World& w) {
      affine(w);
      if (w.options.run.schedule == bad) w.floats("out")[0] += 1;
    });
    EXPECT_EQ(j.finding, Finding::divergence);
  }
}

TEST(Oracle, a_write_where_K0_leaves_the_poison_is_a_divergence) {
  Bench bench([](World& w) {
    affine(w);
    launch::fill_poison(w.options.poison_seed, "out", 0, std::span(w.memory["out"]).first(16 * 4));
  });
  EXPECT_EQ(bench
                .judge([](World& w) {
                  auto out = w.floats("out"), in = w.floats("in");
                  for (size_t i = 16; i < in.size(); ++i) out[i] = 2 * in[i] + 1;
                })
                .finding,
            Finding::equivalent);
  Judgement j = bench.judge(affine);
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("K0 does not write here"), std::string::npos) << j.evidence;
}

TEST(Oracle, one_number_that_happens_to_be_the_poison_is_a_result) {
  const auto kernel = [](uint32_t off) {
    return [off](World& w) {
      affine(w);
      if (w.options.poison_seed <= 4) return; // of the examination, and of the seed below there are others
      Bytes poison(w.memory["out"].size());
      launch::fill_poison(w.options.poison_seed, "out", 0, poison);
      for (size_t i = 0; i + 1 < poison.size() / 4; ++i) {
        uint32_t bits;
        std::memcpy(&bits, &poison[4 * i], 4);
        if ((bits >> 23 & 0xff) > 100 && (bits >> 23 & 0xff) < 120) { // a number below one
          bits += off;
          std::memcpy(&w.memory["out"][4 * i], &bits, 4);
          return;
        }
      }
    };
  };
  Bench bench(kernel(0));
  const Judgement j = bench.judge(kernel(1), {.seed = 77});
  EXPECT_EQ(j.finding, Finding::equivalent) << j.evidence;
}

TEST(Oracle, every_other_element_left_alone_is_recognised_even_when_elements_are_bytes) {
  std::string bytes = replaced("\"out\": {\"dtype\": \"f32\"", "\"out\": {\"dtype\": \"fp8\"");
  Kernel alternate = [](World& w) {
    auto in = w.floats("in");
    for (size_t i = 0; i < in.size(); i += 2)
      w.memory["out"][i] = uint8_t(launch::bits_of(launch::DType::fp8, in[i] * 4));
  };
  Bench bench(alternate, bytes);
  EXPECT_EQ(bench.judge(alternate).finding, Finding::equivalent);
  Judgement j = bench.judge([&](World& w) {
    alternate(w);
    w.memory["out"][9] ^= 1; // poison that K0 leaves
  });
  EXPECT_EQ(j.finding, Finding::divergence);
}

TEST(Oracle, NaN_matches_only_NaN) {
  Kernel with_nan = [](World& w) {
    affine(w);
    w.floats("out")[3] = NAN;
  };
  EXPECT_EQ(Bench(with_nan).judge(with_nan).finding, Finding::equivalent);
  EXPECT_EQ(Bench(with_nan).judge(affine).finding, Finding::divergence);
  EXPECT_EQ(Bench(affine).judge(with_nan).finding, Finding::divergence);
}

TEST(Oracle, an_endless_candidate_is_a_runtime_fault_that_names_the_budget) {
  Judgement j = Bench().judge([](World& w) { w.outcome.instructions = 1'000'000'000; });
  EXPECT_EQ(j.finding, Finding::runtime_fault);
  EXPECT_NE(j.evidence.find("did not finish within 1001000 instructions"), std::string::npos) << j.evidence;
  EXPECT_NE(j.evidence.find("K0 needs 100 instructions"), std::string::npos) << j.evidence;
}

TEST(Oracle, a_fault_is_reported_with_wave_and_lane) {
  Judgement j = Bench().judge([](World& w) {
    w.outcome.status = machine::Status::fault;
    w.outcome.fault = machine::Fault{.address = 0x1c4,
                                     .workgroup = 7,
                                     .wave = 2,
                                     .lane = 5,
                                     .message = "global_store_dword writes 4 bytes past the end of `out`"};
  });
  EXPECT_EQ(j.finding, Finding::runtime_fault);
  EXPECT_NE(j.evidence.find("fault: global_store_dword writes 4 bytes past the end of `out`"), std::string::npos)
      << j.evidence;
  EXPECT_NE(j.evidence.find("0x1c4 of the object, workgroup 7, wave 2, lane 5"), std::string::npos) << j.evidence;
}

TEST(Oracle, guard_and_input_damage_are_findings_of_their_own) {
  EXPECT_EQ(
      Bench()
          .judge([](World& w) { affine(w), w.outcome.guard_damage = {"guard after `out`: 4 bytes changed at +0"}; })
          .finding,
      Finding::guard_corruption);
  EXPECT_EQ(Bench()
                .judge([](World& w) { affine(w), w.outcome.read_only_damage = {"`in` (read-only) is written at +0"}; })
                .finding,
            Finding::read_only_damage);
}

TEST(Oracle, a_stopped_run_is_no_judgement) {
  EXPECT_EQ(Bench().judge([](World& w) { w.outcome.status = machine::Status::stopped; }).finding, Finding::stopped);
}

TEST(Oracle, inputs_of_the_seed_that_K0_was_examined_with_are_not_made_anew) {
  FakeDevice device;
  auto launch = launch::parse_launch(text, "l.json");
  auto reference =
      Reference::create(device, device.add("k0", affine), *launch, default_policy(), {.seed = 7, .stop = nullptr});
  ASSERT_TRUE(reference) << reference.error().message;
  ASSERT_TRUE(verify(device, *reference, device.add("k1", affine), {.seed = 7}));
  const int before = device.launches["k0"];
  ASSERT_TRUE(verify(device, *reference, device.add("k2", affine), {.seed = 7}));
  EXPECT_EQ(device.launches["k0"], before);
}

TEST(Oracle, K0_runs_only_when_an_input_is_new) {
  Bench bench;
  bench.judge(affine);
  int before = bench.device.launches["k0"];
  bench.judge(affine);
  EXPECT_EQ(bench.device.launches["k0"], before);
  bench.judge(affine, {.seed = 9});
  EXPECT_GT(bench.device.launches["k0"], before);
}

TEST(Oracle, another_seed_finds_a_candidate_that_knows_all_inputs_of_the_first) {
  std::map<std::vector<float>, bool> known;
  Bench bench;
  bool learning = true;
  Kernel remembering = [&](World& w) {
    auto in = w.floats("in");
    std::vector<float> key(in.begin(), in.end());
    if (learning) known[key] = true;
    if (known.contains(key)) affine(w);
  };
  EXPECT_EQ(bench.judge(remembering).finding, Finding::equivalent);
  learning = false;
  EXPECT_EQ(bench.judge(remembering).finding, Finding::equivalent);
  EXPECT_EQ(bench.judge(remembering, {.seed = 1}).finding, Finding::divergence);
}

TEST(Oracle, the_receipt_binds_objects_cases_and_policy) {
  Bench bench;
  Judgement a = bench.judge(affine), b = bench.judge(affine), other_seed = bench.judge(affine, {.seed = 1});
  EXPECT_EQ(a.original, sha256_hex(std::string_view("k0")));
  EXPECT_EQ(a.candidate, sha256_hex(std::string_view("k1")));
  EXPECT_EQ(a.cases, b.cases);
  EXPECT_EQ(a.policy, b.policy);
  EXPECT_NE(a.cases, other_seed.cases);
  Bench tolerant(affine, replaced("\"cases\"", "\"tolerance\": {\"out\": {\"relative\": 1e-3}}, \"cases\""));
  EXPECT_NE(tolerant.judge(affine).policy, a.policy);
}

// ---- K0 itself

TEST(Oracle, K0_that_reads_its_output_is_refused_with_the_role_it_needs) {
  Bench bench([](World& w) {
    affine(w);
    launch::Buffer b = *w.c.buffer("out");
    Bytes poison = *launch::initial_bytes(w.c, b, w.options.poison_seed);
    w.floats("out")[0] += float(poison[0]);
  });
  EXPECT_NE(bench.error.find("give it the role \"inout\""), std::string::npos) << bench.error;
}

TEST(Oracle, K0_that_depends_on_the_schedule_is_a_note_and_candidates_are_not_asked_more) {
  Kernel racy = [](World& w) {
    affine(w);
    if (w.options.run.schedule == machine::Schedule::run_to_barrier) w.floats("out")[0] += 1;
  };
  Bench bench(racy);
  EXPECT_TRUE(bench.has_note("when waves run to barriers; candidates are judged under the default schedule only"));
  EXPECT_EQ(bench.judge(racy).finding, Finding::equivalent);
  EXPECT_EQ(bench.judge(affine).finding, Finding::equivalent);
}

TEST(Oracle, K0_that_breaks_under_late_loads_is_a_note_and_only_that_is_not_asked_of_candidates) {
  auto breaks_under = [](machine::Schedule schedule) {
    return [schedule](World& w) {
      affine(w);
      if (w.options.run.schedule == schedule) w.floats("out")[0] *= 1 + 1e-4f;
    };
  };
  Bench bench(breaks_under(machine::Schedule::late_loads));
  EXPECT_TRUE(
      bench.has_note("arrive only when its waits force them; candidates are judged with loads that finish at once"));
  EXPECT_FALSE(bench.has_note("bound is widened"));
  EXPECT_EQ(bench.judge(breaks_under(machine::Schedule::late_loads)).finding, Finding::equivalent);
  EXPECT_EQ(bench.judge(breaks_under(machine::Schedule::seeded_random)).finding, Finding::divergence);
}

TEST(Oracle, K0_without_a_prologue_for_old_firmware_is_a_note_but_a_candidate_may_not_lose_one) {
  auto needs_preloading = [](World& w) {
    affine(w);
    if (!w.options.preload) w.floats("out")[5] = 7;
  };
  EXPECT_EQ(Bench().judge(needs_preloading).finding, Finding::divergence);
  Bench bench(needs_preloading);
  EXPECT_TRUE(bench.has_note("fails on firmware that preloads no kernel arguments"));
  EXPECT_EQ(bench.judge(needs_preloading).finding, Finding::equivalent);
}

TEST(Oracle, K0_that_does_not_finish_under_another_schedule_is_a_note) {
  Bench bench([](World& w) {
    affine(w);
    if (w.options.run.schedule == machine::Schedule::run_to_barrier) w.outcome.instructions = 1'000'000'000'000;
  });
  EXPECT_TRUE(bench.has_note("does not finish when waves run to barriers"));
}

TEST(Oracle, rounding_that_varies_with_the_schedule_widens_the_bound) {
  auto varying = [](float by) {
    return [by](World& w) {
      affine(w);
      if (w.options.run.schedule == machine::Schedule::seeded_random)
        for (float& v : w.floats("out")) v *= 1 + by;
    };
  };
  Bench bench(varying(2e-4f));
  EXPECT_TRUE(bench.has_note("`out` varies with the schedule; its bound is widened"));
  EXPECT_EQ(bench.judge(varying(1e-4f)).finding, Finding::equivalent);
  EXPECT_EQ(bench.judge(varying(1e-2f)).finding, Finding::divergence);
}

TEST(Oracle, K0_that_reads_what_nothing_has_written_is_a_note_but_a_candidate_may_not) {
  Kernel reads_undefined = [](World& w) {
    affine(w);
    w.floats("out")[0] += float(w.options.run.undefined_seed);
  };
  Bench bench(reads_undefined);
  EXPECT_TRUE(bench.has_note("depend on registers or LDS that nothing has written"));
  EXPECT_EQ(bench.judge(reads_undefined).finding, Finding::equivalent);
  Kernel only_first = [](World& w) {
    if (w.options.run.undefined_seed == 1) affine(w);
  };
  EXPECT_EQ(Bench().judge(only_first).finding, Finding::divergence);
}

TEST(Oracle, K0_that_depends_on_addresses_is_a_note) {
  Bench bench([](World& w) {
    affine(w);
    w.floats("out")[0] = float(w.options.placement);
  });
  EXPECT_TRUE(bench.has_note("depend on the addresses of buffers"));
}

TEST(Oracle, K0_that_writes_only_zeros_is_refused) {
  Bench bench([](World& w) { std::ranges::fill(w.floats("out"), 0.0f); });
  EXPECT_NE(bench.error.find("in no case does k0 leave anything but zeros in `out`"), std::string::npos) << bench.error;
  EXPECT_NE(Bench([](World&) {}).error, "");
}

TEST(Oracle, K0_that_damages_guards_or_inputs_or_faults_is_an_error_that_names_the_case) {
  EXPECT_NE(Bench([](World& w) {
              w.outcome.guard_damage = {"guard after `out`: 4 bytes changed at +0"};
            }).error.find("k0: on case \"main\" of l.json: the kernel writes outside its buffers"),
            std::string::npos);
  EXPECT_NE(Bench([](World& w) {
              w.outcome.read_only_damage = {"`in` (read-only) is written at +0"};
            }).error.find("give it the role \"inout\""),
            std::string::npos);
  EXPECT_NE(Bench([](World& w) { w.outcome.status = machine::Status::fault; }).error.find("fault"), std::string::npos);
}

// ---- the policy

TEST(Oracle, a_bound_that_would_let_zeros_pass_is_tightened_and_said) {
  std::string loose = replaced("\"cases\"", "\"tolerance\": {\"out\": {\"absolute\": 100}}, \"cases\"");
  Bench bench(affine, loose);
  EXPECT_TRUE(
      bench.has_note("would let zeros and a result shifted by one element and a scaled result pass; it is tightened"));
  EXPECT_EQ(bench.judge([](World& w) { std::ranges::fill(w.floats("out"), 0.0f); }).finding, Finding::divergence);
}

TEST(Oracle, a_bound_that_is_beyond_help_is_refused) {
  std::string loose = replaced("\"cases\"", "\"tolerance\": {\"out\": {\"absolute\": 1e9}}, \"cases\"");
  Bench bench(affine, loose);
  EXPECT_NE(bench.error.find("would let zeros"), std::string::npos) << bench.error;
}

TEST(Oracle, integer_results_must_be_equal) {
  std::string integers = replaced("\"out\": {\"dtype\": \"f32\"", "\"out\": {\"dtype\": \"i32\"");
  Kernel rounded = [](World& w) {
    auto in = w.floats("in");
    auto out = w.view<int32_t>("out");
    for (size_t i = 0; i < in.size(); ++i) out[i] = int32_t(in[i] * 1000);
  };
  Bench bench(rounded, integers);
  EXPECT_FALSE(allows_float_rewrites(default_policy(), bench.launch));
  EXPECT_EQ(bench.judge(rounded).finding, Finding::equivalent);
  Judgement j = bench.judge([&](World& w) {
    rounded(w);
    w.view<int32_t>("out")[1] += 1;
  });
  EXPECT_EQ(j.finding, Finding::divergence);
  EXPECT_NE(j.evidence.find("compared exactly"), std::string::npos);
}

TEST(Oracle, scalars_that_never_change_are_told) {
  Bench bench;
  EXPECT_TRUE(bench.has_note("nothing is known of other values: `three`"));
}

TEST(Oracle, results_that_do_not_follow_the_input_are_told) {
  Bench bench([](World& w) {
    auto out = w.floats("out");
    for (size_t i = 0; i < out.size(); ++i) out[i] = float(i + 1);
  });
  EXPECT_TRUE(bench.has_note("other random inputs give the same results"));
}

namespace {

constexpr std::string_view alike_text = R"({
  "workgroups": 1, "workgroup_size": 64,
  "sizes": {"n": 64},
  "buffers": {
    "in": {"dtype": "f32", "shape": "n", "role": "in"},
    "out": {"dtype": "f32", "shape": "n", "role": "out"}
  },
  "arguments": [{"buffer": "in"}, {"buffer": "out"}],
  "cases": [{"name": "1"}, {"name": "2"}, {"name": "3"}, {"name": "short", "sizes": {"n": 32}}]
})";

/// A kernel that takes its time.
Kernel large(Kernel kernel) {
  return [kernel = std::move(kernel)](World& w) {
    w.outcome.instructions = 5'000'000;
    kernel(w);
  };
}

} // namespace

TEST(Oracle, large_cases_that_differ_in_their_inputs_share_the_other_ways) {
  Bench bench(large(affine), alike_text);
  EXPECT_TRUE(bench.has_note("cases 1, 2, 3 differ in their random inputs only")) << bench.error;
  EXPECT_TRUE(bench.reference->leads(0));
  EXPECT_FALSE(bench.reference->leads(1));
  EXPECT_TRUE(bench.reference->leads(3));                 // another shape
  EXPECT_EQ(bench.judge(large(affine)).runs, 4u + 3 + 3); // as given; ways of the three; ways of the short one
}

TEST(Oracle, small_cases_all_run_in_every_way) {
  Bench bench(affine, alike_text);
  EXPECT_FALSE(bench.has_note("differ in their random inputs only"));
  EXPECT_EQ(bench.judge(affine).runs, 4u * 4);
}

TEST(Oracle, what_goes_wrong_with_one_input_or_in_one_way_of_a_large_case_is_found) {
  Bench bench(large(affine), alike_text);
  for (const std::string_view name : {"1", "2", "3"}) {
    Judgement j = bench.judge(large([&](World& w) {
      affine(w);
      if (w.c.name == name) w.floats("out")[7] += 100;
    }));
    EXPECT_EQ(j.finding, Finding::divergence) << name;
  }
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto late = large([](World& w) {
      affine(w);
      if (w.options.run.schedule == machine::Schedule::late_loads && w.c.buffers[0].elements() == 64)
        w.floats("out")[7] += 100;
    });
    EXPECT_EQ(bench.judge(late, {.seed = seed}).finding, Finding::divergence) << seed;
  }
}

TEST(Oracle, large_cases_of_a_kernel_that_varies_are_examined_one_by_one) {
  Bench bench(large([](World& w) {
                affine(w);
                if (w.options.run.schedule == machine::Schedule::late_loads) w.floats("out")[0] += 100;
              }),
              alike_text);
  EXPECT_TRUE(bench.reference->leads(1));
  EXPECT_EQ(bench.reference->notes().size(), 4u);
}

namespace {

Result<Trial> once(Kernel k0, Kernel candidate) {
  static FakeDevice device;
  auto parsed = launch::parse_launch(alike_text, "l.json");
  EXPECT_TRUE(parsed) << parsed.error().message;
  const device::Loaded loaded = device.add("k1", std::move(candidate));
  return Reference::verify_once(device, device.add("k0", std::move(k0)), *parsed, default_policy(), loaded, {});
}

} // namespace

TEST(Oracle, one_candidate_alone_is_asked_what_one_of_many_is) {
  auto trial = once(large(affine), large(affine));
  ASSERT_TRUE(trial) << trial.error().message;
  EXPECT_EQ(trial->judgement.finding, Finding::equivalent) << trial->judgement.evidence;
  EXPECT_EQ(trial->judgement.runs, 4u + 3 + 3);
  EXPECT_EQ(trial->judgement.case_count, 4u);
  for (const std::string_view name : {"1", "2", "3", "short"}) {
    auto wrong = once(large(affine), large([&](World& w) {
                        affine(w);
                        if (w.c.name == name) w.floats("out")[7] += 100;
                      }));
    ASSERT_TRUE(wrong) << wrong.error().message;
    EXPECT_EQ(wrong->judgement.finding, Finding::divergence) << name;
    EXPECT_NE(wrong->judgement.evidence.find(fmt::format("case \"{}\"", name)), std::string::npos);
  }
}

TEST(Oracle, the_original_is_examined_on_all_cases_even_where_the_candidate_is_wrong_on_an_early_one) {
  const auto k0 = large([](World& w) {
    affine(w);
    if (w.c.name == "3") w.outcome.status = machine::Status::fault;
  });
  EXPECT_FALSE(once(k0, large([](World&) {})));
}
