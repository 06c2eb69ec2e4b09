// Traces, dumps and coverage.
#include "text_run.h"

#include "machine/debug/debugging.h"

using namespace asmevo;
using namespace asmevo::machine;

namespace {

struct DebugRun : TextRun {
  Debugging debugging;
  std::vector<TraceLine> lines;
  std::vector<Dump> dumps;

  using TextRun::TextRun;
  RunResult debug() {
    debugging.on_line = [&](const TraceLine& line) { lines.push_back(line); };
    debugging.on_dump = [&](const Dump& dump) { dumps.push_back(dump); };
    options.debugging = &debugging;
    return run();
  }
  uint64_t address(size_t index) const { return image.instructions()[index].address; }
};

const std::string text =
    "v_lshlrev_b32 v1, 2, v0\ns_mov_b32 s6, 0\nagain: s_add_u32 s6, s6, 1\nv_add_u32 v2, s6, v1\n"
    "s_cmp_lt_u32 s6, 3\ns_cbranch_scc1 again\nds_write_b32 v1, v2\nglobal_store_dword v1, v2, s[0:1]";

} // namespace

TEST(Trace, TellsWhatEachInstructionWritesInOrder) {
  DebugRun r(text);
  r.debugging.trace.emplace();
  const RunResult result = r.debug();
  ASSERT_EQ(r.lines.size(), result.instructions);
  for (size_t k = 0; k < r.lines.size(); ++k) EXPECT_EQ(r.lines[k].number, k);
  const TraceLine& add = r.lines[3];
  EXPECT_EQ(add.instruction, 3u);
  EXPECT_EQ(add.exec, all_lanes);
  ASSERT_EQ(add.registers.size(), 1u);
  EXPECT_EQ(add.registers[0].name, "v2");
  EXPECT_EQ(add.registers[0].values[10], 41u);
  ASSERT_EQ(r.lines[2].registers.size(), 2u);
  EXPECT_EQ(r.lines[2].registers[0].name, "s6");
  EXPECT_EQ(r.lines[2].registers[1].name, "scc");
}

TEST(Trace, TellsAddressesAndContentOfMemory) {
  DebugRun r(text);
  r.debugging.trace.emplace();
  r.debug();
  const TraceLine &lds = r.lines[r.lines.size() - 3], &store = r.lines[r.lines.size() - 2];
  ASSERT_EQ(lds.accesses.size(), 1u);
  EXPECT_EQ(lds.accesses[0].space, "lds");
  EXPECT_EQ(lds.accesses[0].lanes[5].address, 20u);
  ASSERT_EQ(store.accesses.size(), 1u);
  EXPECT_TRUE(store.accesses[0].write);
  ASSERT_EQ(store.accesses[0].lanes.size(), 64u);
  EXPECT_EQ(store.accesses[0].lanes[5].address, out_base + 20);
  EXPECT_EQ(store.accesses[0].lanes[5].content, (std::vector<uint8_t>{23, 0, 0, 0}));
}

TEST(Trace, FiltersByAddressRegisterAndWave) {
  DebugRun r(text);
  r.dispatch.workgroups = {2, 1, 1};
  r.dispatch.workgroup_size = {128, 1, 1};
  TraceFilter& filter = r.debugging.trace.emplace();
  filter.written = parse_registers("s6");
  filter.first = r.address(2);
  filter.workgroup = 1;
  filter.wave = 1;
  r.debug();
  ASSERT_EQ(r.lines.size(), 3u);
  for (const TraceLine& line : r.lines) {
    EXPECT_EQ(line.instruction, 2u);
    EXPECT_EQ(line.workgroup, 1u);
    EXPECT_EQ(line.wave, 1u);
  }
}

TEST(Trace, ReadsRegisterNames) {
  EXPECT_EQ(parse_registers("v3"), (isa::RegisterRange{isa::File::vgpr, 3, 1}));
  EXPECT_EQ(parse_registers("a[4:7]"), (isa::RegisterRange{isa::File::agpr, 4, 4}));
  EXPECT_EQ(parse_registers("vcc"), (isa::RegisterRange{isa::File::sgpr, isa::vcc_lo, 2}));
  for (const char* bad : {"", "v", "x3", "v[3", "v[5:4]", "s[1]", "v9999", "v[:]", "s1x"})
    EXPECT_FALSE(parse_registers(bad)) << bad;
}

TEST(DebugDump, HoldsWhatAWaveSeesAtThatArrival) {
  DebugRun r(text);
  r.debugging.dumps.push_back({.address = r.address(3), .arrival = 2});
  r.debug();
  ASSERT_EQ(r.dumps.size(), 1u);
  const Dump& d = r.dumps[0];
  EXPECT_EQ(d.scalars[6], 2u);
  EXPECT_EQ(d.vectors[1][7], 28u);
  EXPECT_EQ(d.vectors[2][7], 29u); // of the arrival before
  EXPECT_EQ(d.exec, all_lanes);
  EXPECT_EQ(d.lds.size(), 1024u);
}

TEST(DebugDump, IsTakenForEveryWaveOfTheWorkgroupThatIsAskedFor) {
  DebugRun r(text);
  r.dispatch.workgroups = {3, 1, 1};
  r.dispatch.workgroup_size = {128, 1, 1};
  r.debugging.dumps.push_back({.address = r.address(7), .workgroup = 2});
  r.debug();
  ASSERT_EQ(r.dumps.size(), 2u);
  EXPECT_EQ(r.dumps[0].workgroup, 2u);
  EXPECT_NE(r.dumps[0].wave, r.dumps[1].wave);
  EXPECT_EQ(r.dumps[0].lds[4], 7u); // 4 * 1 + 3, which the instruction before has written
}

TEST(Coverage, CountsWaveInstructions) {
  DebugRun r(text);
  r.dispatch.workgroups = {5, 1, 1};
  r.debugging.coverage = true;
  const RunResult result = r.debug();
  ASSERT_EQ(result.executed.size(), r.image.instructions().size());
  EXPECT_EQ(result.executed[0], 5u);
  EXPECT_EQ(result.executed[2], 15u);
  uint64_t sum = 0;
  for (uint64_t count : result.executed) sum += count;
  EXPECT_EQ(sum, result.instructions);
}

TEST(Trace, ChangesNothingAndWorksUnderLateLoads) {
  const std::string late = "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 7\nglobal_load_dword v2, v1, s[0:1]\n"
                           "global_store_dword v1, v2, s[0:1] offset:256";
  DebugRun r(late);
  r.options.schedule = Schedule::late_loads;
  r.debugging.trace.emplace();
  r.debug();
  EXPECT_EQ(r.dword(64), 7u);
  EXPECT_EQ(r.lines[2].registers[0].values[0], 0u); // what the load brings
}
