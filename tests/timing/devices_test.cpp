// Device tables, draws, and classes against the facts they are taken from.
#include "timing/traced.h"

#include <bit>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace asmevo::timing {
namespace {

std::string data_path(const std::string& name) {
  const char* root = std::getenv("ASMEVO_DATA");
  return (root ? std::string(root) : std::string(ASMEVO_SOURCE_DIR) + "/../shared/data") + "/" + name;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

} // namespace

TEST(devices, every_parameter_of_every_device_has_a_value_and_a_source) {
  for (const DeviceTable* device : all_devices()) {
    const auto table = std::bit_cast<std::array<Parameter, parameter_count>>(device->parameters);
    for (size_t i = 0; i < parameter_count; ++i) {
      EXPECT_GT(table[i].value, 0) << device->name << " " << parameter_info[i].name;
      EXPECT_GE(table[i].value, table[i].error) << device->name << " " << parameter_info[i].name;
      EXPECT_STRNE(table[i].source, "") << device->name << " " << parameter_info[i].name;
    }
    EXPECT_EQ(device->compute_units % device->xcds, 0u) << device->name;
  }
}

TEST(devices, the_power_limit_slows_arithmetic_and_not_the_memory) {
  const DeviceTable& mi300x = device_for(isa::Processor::gfx942);
  const double ratio = mi300x.parameters.clock.value / mi300x.parameters.power_limited_clock.value;
  const auto slower = [&](Traced& k) {
    const double floor = 1e-6 * mi300x.parameters.launch_floor.value;
    return (k.estimate(mi300x, {.draws = 1, .power_limited = true}).seconds[0] - floor) /
           (k.estimate(mi300x, {.draws = 1}).seconds[0] - floor);
  };
  Traced arithmetic("loop:\n" + times(64, "v_add_f32 v0, v1, v2") + "s_cbranch_scc1 loop\ns_endpgm", 8);
  arithmetic.trips = 400;
  EXPECT_TRUE(within(slower(arithmetic), ratio, 0.01));

  Traced stream("loop:\n" + times(4, "global_load_dwordx4 v[4:7], v[0:1], off") +
                    "s_waitcnt vmcnt(8)\ns_cbranch_scc1 loop\ns_endpgm",
                4);
  const uint32_t row = stream.strided(16, 16);
  stream.workgroups = {608, 1, 1};
  stream.resident = 2;
  stream.trips = 400;
  stream.access = [=](const Occurrence& o) {
    const uint64_t at = (o.times * 4ull + o.instruction) * 1024;
    return Access{row, 0x100000000 + (o.workgroup * 4ull + o.wave) * (16 << 20) + at};
  };
  EXPECT_LT(slower(stream), 1.1);
}

TEST(devices, are_found_by_name_in_any_case_and_an_unknown_name_lists_them) {
  EXPECT_EQ(device_name(*device_named("mi308x").value()), "MI308X");
  const auto unknown = device_named("MI999");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("MI300X, MI300A"), std::string::npos);
}

TEST(devices, the_default_part_of_a_processor_is_its_best_known_one) {
  EXPECT_EQ(device_name(device_for(isa::Processor::gfx942)), "MI300X");
  EXPECT_EQ(device_name(device_for(isa::Processor::gfx90a)), "MI210");
  EXPECT_EQ(device_name(device_for(isa::Processor::gfx950)), "MI355X");
}

TEST(draws, number_zero_is_the_table_and_others_stay_within_the_error_bars) {
  const DeviceTable& d = device_for(isa::Processor::gfx942);
  EXPECT_EQ(draw(d, 7, 0).l2_latency, d.parameters.l2_latency.value);
  bool moved = false;
  for (unsigned n = 1; n < 100; ++n) {
    const double v = draw(d, 7, n).l2_latency;
    EXPECT_LE(std::abs(v - d.parameters.l2_latency.value), d.parameters.l2_latency.error);
    moved |= v != d.parameters.l2_latency.value;
  }
  EXPECT_TRUE(moved);
}

TEST(draws, the_same_seed_gives_two_programs_the_same_device) {
  const DeviceTable& d = device_for(isa::Processor::gfx942);
  Traced k(times(100, "v_add_f32 v0, v1, v2") + "s_endpgm");
  const Estimate a = k.estimate(d, {.draws = 5, .seed = 3}), b = k.estimate(d, {.draws = 5, .seed = 3});
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_NE(a.seconds, k.estimate(d, {.draws = 5, .seed = 4}).seconds);
  EXPECT_EQ(a.seconds.size(), 5u);
  EXPECT_GT(a.cv, 0);
}

TEST(classes, matrix_shapes_agree_with_the_calculator) {
  std::ifstream table(data_path("tables/mfma_calculator.csv"));
  if (!table) GTEST_SKIP() << "no " << data_path("tables/mfma_calculator.csv");
  std::string line;
  std::getline(table, line);
  int rows = 0;
  while (std::getline(table, line)) {
    const auto cells = split(line);
    const auto processor = cells[0] == "cdna1"   ? isa::Processor::gfx908
                           : cells[0] == "cdna2" ? isa::Processor::gfx90a
                                                 : isa::Processor::gfx942;
    isa::Instruction i;
    i.mnemonic = isa::mnemonic_id(cells[1]);
    i.traits.mfma = i.traits.valu = true;
    const uint32_t exec = static_cast<uint32_t>(std::stoul(cells[7]));
    const uint32_t beside = cells[11].empty() ? 0 : static_cast<uint32_t>(std::stoul(cells[11]));
    const MfmaShape shape = mfma_shape(i, processor);
    EXPECT_EQ(4 * shape.passes, exec) << line;
    EXPECT_EQ(shape.valu_blocked, exec - beside) << line;
    ++rows;
  }
  EXPECT_GT(rows, 80);
}

TEST(classes, eight_bit_inputs_of_the_mixed_format_take_twice_the_passes) {
  const auto passes = [](const std::string& formats) {
    Traced k("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]" + formats, 1, isa::Processor::gfx950);
    return mfma_shape(k.code[0], isa::Processor::gfx950).passes;
  };
  EXPECT_EQ(passes(""), 8u);
  Traced fp4("v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[12:15], v[0:3] cbsz:4 blgp:4", 1, isa::Processor::gfx950);
  EXPECT_EQ(mfma_shape(fp4.code[0], isa::Processor::gfx950).passes, 4u);
}

} // namespace asmevo::timing
