// What nt, sc0, sc1, glc and slc do to the caches of the model.
#include "timing/traced.h"

#include "timing/cache_policy.h"

namespace asmevo::timing {
namespace {

using isa::Processor;

CachePolicy policy_of(const std::string& line, Processor processor = Processor::gfx942) {
  return cache_policy(Traced(line, 1, processor).code.front(), processor);
}

/// A table that a wave walks again and again, and between two loads from it a piece of a stream that nobody reads
/// twice. Each is waited for alone, so that what the table costs is not hidden.
struct Contest {
  uint64_t table = 0;    // bytes
  unsigned streamed = 1; // accesses of the stream for each load of the table
  std::string table_bits, stream_bits;
  Processor processor = Processor::gfx942;
  bool stores = false; // the stream is written

  /// Of four walks, when it has been walked four times.
  double cycles() const { return run(8) - run(4); }

private:
  double run(uint32_t walks) const {
    const std::string stream =
        (stores ? "global_store_dwordx4 v[4:5], v[8:11], off" : "global_load_dwordx4 v[8:11], v[4:5], off") +
        stream_bits;
    Traced k("loop:\nglobal_load_dwordx4 v[12:15], v[0:1], off" + table_bits + "\ns_waitcnt vmcnt(0)\n" +
                 times(streamed, stream) + "s_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm",
             1, processor);
    const uint32_t row = k.strided(16, 16), written = k.strided(16, 16, machine::Space::global, true);
    k.trips = static_cast<uint32_t>(table / 1024) * walks;
    k.access = [=, this](const Occurrence& o) {
      if (o.instruction == 0) return Access{row, 0x1000000 + o.times * 1024ull % table};
      const uint64_t at = (o.times * uint64_t{streamed} + o.instruction - 2) * 1024;
      return Access{stores ? written : row, 0x4000000000 + at};
    };
    return k.cycles(device_for(processor));
  }
};

} // namespace

TEST(cache_policy, agent_scope_misses_l1_and_workgroup_scope_does_not) {
  EXPECT_TRUE(policy_of("global_load_dword v1, v[2:3], off sc1").misses_l1);
  EXPECT_TRUE(policy_of("global_load_dword v1, v[2:3], off sc0 sc1").misses_l1);
  EXPECT_TRUE(policy_of("buffer_load_dword v1, off, s[0:3], 0 sc1").misses_l1);
  EXPECT_FALSE(policy_of("global_load_dword v1, v[2:3], off sc0").misses_l1);
  EXPECT_FALSE(policy_of("buffer_load_dword v1, off, s[0:3], 0 sc0").misses_l1);
  for (Processor older : {Processor::gfx908, Processor::gfx90a}) {
    EXPECT_TRUE(policy_of("global_load_dword v1, v[2:3], off glc", older).misses_l1);
    EXPECT_FALSE(policy_of("global_load_dword v1, v[2:3], off slc", older).misses_l1);
  }
}

TEST(cache_policy, nt_streams_through_both_caches_and_slc_through_l2) {
  for (const char* line : {"global_load_dword v1, v[2:3], off nt", "global_store_dword v[2:3], v1, off nt",
                           "flat_load_dword v1, v[2:3] nt", "buffer_load_dword v1, off, s[0:3], 0 nt",
                           "tbuffer_load_format_x v1, off, s[0:3], 0 format:[BUF_DATA_FORMAT_32] nt"}) {
    EXPECT_TRUE(policy_of(line).streams_l1) << line;
    EXPECT_TRUE(policy_of(line).streams_l2) << line;
    EXPECT_FALSE(policy_of(line).misses_l1) << line;
  }
  for (Processor older : {Processor::gfx908, Processor::gfx90a}) {
    EXPECT_TRUE(policy_of("global_load_dword v1, v[2:3], off slc", older).streams_l2);
    EXPECT_FALSE(policy_of("global_load_dword v1, v[2:3], off slc", older).streams_l1);
  }
  EXPECT_FALSE(policy_of("global_load_dword v1, v[2:3], off").streams_l2);
  EXPECT_FALSE(policy_of("ds_read_b32 v1, v2").streams_l2);
}

TEST(cache_policy, a_table_of_l1_size_survives_a_stream_that_is_nt) {
  Contest contest{.table = 24 << 10, .streamed = 2};
  const double lost = contest.cycles();
  contest.stream_bits = " nt";
  const double survives = contest.cycles();
  EXPECT_TRUE(within(lost - survives, 4 * 24 * (212 - 118), 0.10)); // each load of the table: L2 and not L1
}

TEST(cache_policy, stores_leave_l1_alone_with_and_without_nt) {
  Contest contest{.table = 12 << 10, .streamed = 2, .stores = true};
  const double before = contest.cycles();
  contest.stream_bits = " nt";
  EXPECT_EQ(contest.cycles(), before);
}

TEST(cache_policy, a_table_of_l2_size_survives_a_stream_that_is_nt) {
  for (const bool stores : {false, true}) {
    Contest contest{.table = 2 << 20, .streamed = 2, .stores = stores};
    const double lost = contest.cycles();
    contest.stream_bits = " nt";
    EXPECT_LT(contest.cycles(), 0.9 * lost) << stores;
  }
}

TEST(cache_policy, slc_keeps_a_table_in_l2_but_not_in_l1) {
  Contest in_l2{.table = 4 << 20, .streamed = 2, .processor = Processor::gfx90a};
  const double lost = in_l2.cycles();
  in_l2.stream_bits = " slc";
  EXPECT_LT(in_l2.cycles(), 0.9 * lost);
  Contest in_l1{.table = 12 << 10, .streamed = 2, .processor = Processor::gfx90a};
  const double before = in_l1.cycles();
  in_l1.stream_bits = " slc";
  EXPECT_EQ(in_l1.cycles(), before);
}

TEST(cache_policy, a_table_that_is_read_with_agent_scope_is_never_found_in_l1) {
  Contest contest{.table = 8 << 10, .streamed = 0};
  const double in_l1 = contest.cycles();
  contest.table_bits = " sc0";
  EXPECT_EQ(contest.cycles(), in_l1);
  contest.table_bits = " sc1";
  EXPECT_GT(contest.cycles(), 1.5 * in_l1);
}

TEST(cache_policy, a_load_of_agent_scope_takes_the_line_out_of_l1) {
  const auto run = [](const std::string& bits) {
    Traced k("loop:\nglobal_load_dword v4, v[0:1], off\ns_waitcnt vmcnt(0)\nglobal_load_dword v5, v[2:3], off" + bits +
             "\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
    const uint32_t row = k.strided(4, 4);
    k.trips = 200;
    k.access = [=](const Occurrence&) { return Access{row, 0x1000000}; };
    return k.cycles(device_for(Processor::gfx942)) / 200;
  };
  // Both loads miss: the second by its scope, the first because of the second.
  EXPECT_GT(run(" sc1") - run(""), 1.8 * (212 - 118));
}

TEST(cache_policy, a_table_that_is_itself_nt_is_lost_to_the_stream) {
  Contest contest{.table = 24 << 10, .streamed = 2, .stream_bits = " nt"};
  const double kept = contest.cycles();
  contest.table_bits = " nt";
  EXPECT_GT(contest.cycles(), 1.02 * kept);
}

TEST(cache_policy, streamed_output_leaves_the_input_in_l2_for_the_next_launch) {
  // 3 MB read and 3 MB written an XCD: together they do not fit 4 MB, the input does.
  const auto run = [](const std::string& bits) {
    Traced k("loop:\nglobal_load_dwordx4 v[8:11], v[0:1], off\ns_waitcnt vmcnt(0)\n"
             "global_store_dwordx4 v[4:5], v[8:11], off" +
             bits + "\ns_cbranch_scc1 loop\ns_endpgm");
    const uint32_t row = k.strided(16, 16), written = k.strided(16, 16, machine::Space::global, true);
    k.workgroups = {304, 1, 1};
    k.resident = 1;
    k.trips = 80;
    k.access = [=](const Occurrence& o) {
      const uint64_t at = (o.workgroup * 80ull + o.times) * 1024;
      return o.instruction == 0 ? Access{row, 0x1000000 + at} : Access{written, 0x80000000 + at};
    };
    return k.cycles(device_for(Processor::gfx942));
  };
  EXPECT_LT(run(" nt"), 0.9 * run(""));
}

TEST(cache_policy, attribution_says_whose_lines_are_wanted_again) {
  Traced k("loop:\nglobal_load_dword v12, v[0:1], off\nglobal_load_dwordx4 v[8:11], v[4:5], off\n"
           "s_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
  const uint32_t row = k.strided(4, 4), wide = k.strided(16, 16);
  k.trips = 100;
  k.access = [=](const Occurrence& o) {
    return o.instruction == 0 ? Access{row, 0x1000000} : Access{wide, 0x4000000 + o.times * 1024ull};
  };
  const Estimate e = k.estimate(device_for(Processor::gfx942), {.draws = 1, .attribution = true});
  EXPECT_EQ(e.attribution[0].lines, 200);
  EXPECT_EQ(e.attribution[0].reused_in_l1, 198);
  EXPECT_EQ(e.attribution[1].lines, 800);
  EXPECT_EQ(e.attribution[1].reused_in_l1 + e.attribution[1].reused_in_l2, 0);
  EXPECT_EQ(e.attribution[2].lines, 0);
}

TEST(cache_policy, lines_that_other_compute_units_use_count_as_wanted) {
  Traced k("loop:\nglobal_load_dword v12, v[0:1], off\ns_waitcnt vmcnt(0)\ns_cbranch_scc1 loop\ns_endpgm");
  const uint32_t row = k.strided(4, 4);
  k.trips = 10;
  k.workgroups = {304, 1, 1};
  k.resident = 1;
  k.access = [=](const Occurrence& o) { return Access{row, 0x1000000 + o.times * 1024ull}; };
  const Estimate e = k.estimate(device_for(Processor::gfx942), {.draws = 1, .attribution = true});
  EXPECT_GT(e.attribution[0].reused_in_l2, 0.9 * e.attribution[0].lines);
}

} // namespace asmevo::timing
