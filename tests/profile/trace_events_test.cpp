// What viewers of the Trace Event Format need.
#include "profile/trace_events.h"

#include "support/json.h"

#include <gtest/gtest.h>
#include <set>

namespace asmevo::profile {
namespace {

const std::vector<timing::Slice> timeline = {
    {.workgroup = 7, .wave = 1, .simd = 2, .slot = 3, .instruction = 0, .issue = true, .begin = 1000, .end = 1004},
    {.workgroup = 7,
     .wave = 1,
     .simd = 2,
     .slot = 3,
     .instruction = 1,
     .issue = false,
     .reason = timing::Stall::vmcnt,
     .begin = 1004,
     .end = 2500},
    {.workgroup = 7, .wave = 0, .simd = 0, .slot = 0, .instruction = 0, .issue = true, .begin = 1200, .end = 1204},
};

nlohmann::json written() {
  const std::string text = trace_events(timeline, {.title = "kernel \"k\"",
                                                   .text = [](uint32_t i) { return i ? "s_waitcnt \"x\"" : "v_nop"; },
                                                   .address = [](uint32_t i) { return 0x100 + 4ull * i; }});
  return nlohmann::json::parse(text);
}

} // namespace

TEST(trace_events, complete_events_have_all_that_the_format_asks_for) {
  size_t complete = 0;
  const nlohmann::json document = written();
  for (const auto& e : document.at("traceEvents")) {
    EXPECT_TRUE(e.at("name").is_string());
    EXPECT_GT(e.at("pid").get<int>(), 0);
    if (e.at("ph") == "M") continue;
    EXPECT_EQ(e.at("ph"), "X");
    EXPECT_GT(e.at("tid").get<int>(), 0);
    EXPECT_TRUE(e.at("ts").is_number());
    EXPECT_GT(e.at("dur").get<double>(), 0);
    ++complete;
  }
  EXPECT_EQ(complete, 5u); // three slices, two waves around them
}

TEST(trace_events, a_shader_clock_is_a_nanosecond) {
  const nlohmann::json document = written();
  EXPECT_EQ(document.at("displayTimeUnit"), "ns");
  for (const auto& e : document.at("traceEvents"))
    if (e.at("name") == "vmcnt: s_waitcnt \"x\"") {
      EXPECT_DOUBLE_EQ(e.at("ts").get<double>(), 1.004);
      EXPECT_DOUBLE_EQ(e.at("dur").get<double>(), 1.496);
      EXPECT_EQ(e.at("cat"), "stall");
      EXPECT_EQ(e.at("args").at("address"), "0x104");
      return;
    }
  FAIL() << "the stall is not there";
}

TEST(trace_events, each_wave_slot_is_a_named_track_of_its_simd) {
  const nlohmann::json document = written();
  std::map<int, std::string> processes, threads;
  std::set<std::pair<int, int>> used;
  for (const auto& e : document.at("traceEvents")) {
    if (e.at("name") == "process_name") processes[e.at("pid")] = e.at("args").at("name");
    if (e.at("name") == "thread_name") threads[e.at("tid")] = e.at("args").at("name");
    if (e.at("ph") == "X") used.emplace(e.at("pid"), e.at("tid"));
  }
  EXPECT_EQ(processes.size(), 2u);
  for (const auto& [pid, tid] : used) {
    EXPECT_TRUE(processes.contains(pid));
    EXPECT_TRUE(threads.contains(tid));
  }
  EXPECT_EQ(threads.size(), used.size()); // no number on two tracks
}

TEST(trace_events, a_wave_encloses_what_it_does_and_comes_first) {
  const nlohmann::json document = written();
  bool wave = false;
  for (const auto& e : document.at("traceEvents")) {
    if (e.at("name") == "workgroup 7 wave 1") {
      wave = true;
      EXPECT_DOUBLE_EQ(e.at("ts").get<double>(), 1.0);
      EXPECT_DOUBLE_EQ(e.at("dur").get<double>(), 1.5);
    }
    if (e.at("name") == "v_nop") {
      EXPECT_TRUE(wave);
    }
  }
  EXPECT_TRUE(wave);
}

TEST(trace_events, of_nothing_is_still_a_document) {
  const auto text = trace_events({}, {});
  EXPECT_TRUE(nlohmann::json::accept(text));
}

} // namespace asmevo::profile
