// Samples, address rules, sharing and footprint.
#include "timing/grid.h"
#include "timing/traced.h"

#include <algorithm>

namespace asmevo::timing {
namespace {

const DeviceTable& mi300x = device_for(isa::Processor::gfx942);

// A tiled product's loads: rows of A move with y, columns of B with x.
Traced tiled(std::array<uint32_t, 3> shape) {
  Traced k("global_load_dword v4, v[0:1], off\nglobal_load_dword v5, v[2:3], off\ns_endpgm");
  const uint32_t row = k.strided(4, 4);
  k.workgroups = shape;
  k.access = [=](const Occurrence& o) {
    const uint64_t x = o.workgroup % shape[0], y = o.workgroup / shape[0] % shape[1];
    return Access{row, o.instruction == 0 ? 0x10000000 + y * 4096 : 0x20000000 + x * 256};
  };
  return k;
}

struct Analysed {
  PatternTable patterns;
  StaticTable code;
  Grid grid;
  explicit Analysed(Traced& k)
      : patterns((k.launch(mi300x), k.trace), mi300x.processor), code(k.code, k.target),
        grid(k.trace, k.workgroups, code, patterns, mi300x, k.resident) {}
};

} // namespace

TEST(samples, a_small_grid_is_traced_whole) { EXPECT_EQ(sample_workgroups({3, 2, 2}, {}, mi300x).size(), 12u); }

TEST(samples, a_large_grid_needs_few_and_they_are_sorted_and_inside) {
  for (std::array<uint32_t, 3> shape :
       {std::array<uint32_t, 3>{1u << 20, 1, 1}, {64, 32, 1}, {2, 2, 500}, {1, 13, 1}}) {
    const auto ids = sample_workgroups(shape, {}, mi300x);
    EXPECT_LE(ids.size(), 13u);
    EXPECT_TRUE(std::ranges::is_sorted(ids));
    EXPECT_EQ(ids.front(), 0u);
    EXPECT_EQ(ids.back(), shape[0] * shape[1] * shape[2] - 1);
  }
}

TEST(samples, workgroups_that_may_wait_for_others_are_not_executed_alone) {
  const isa::Codec& codec = codec_for(isa::Target{.processor = mi300x.processor});
  const isa::Occupancy occupancy{.waves_per_simd = 8, .workgroups_per_cu = 2, .limiter = "waves"};
  const auto image_of = [&](const char* text) {
    return *machine::Image::from_text(*codec.assemble(text), codec, {.vgprs = 8});
  };
  const auto adding = image_of("global_atomic_add v0, v1, s[0:1]\ns_endpgm");
  EXPECT_FALSE(sampling(adding, {100, 1, 1}, occupancy, mi300x).only_traced);
  EXPECT_TRUE(sampling(adding, {100'000, 1, 1}, occupancy, mi300x).only_traced); // too many to wait for each other
  EXPECT_TRUE(sampling(image_of("ds_add_u32 v0, v1\ns_endpgm"), {100, 1, 1}, occupancy, mi300x).only_traced);
  EXPECT_EQ(sampling(adding, {100, 1, 1}, occupancy, mi300x).traced, sample_workgroups({100, 1, 1}, {}, mi300x));
}

TEST(grid, learns_how_addresses_move_with_the_workgroup) {
  Traced k = tiled({32, 32, 1});
  const Analysed a(k);
  EXPECT_TRUE(a.grid.rules()[0].regular);
  EXPECT_EQ(a.grid.rules()[0].step, (std::array<int64_t, 3>{0, 4096, 0}));
  EXPECT_EQ(a.grid.rules()[1].step, (std::array<int64_t, 3>{256, 0, 0}));
  EXPECT_EQ(a.grid.shift(0, {5, 3, 0}, 0), 3 * 4096);
}

TEST(grid, an_address_that_follows_no_rule_is_found_out) {
  Traced k = tiled({1024, 1, 1});
  const uint32_t row = 0;
  k.access = [=](const Occurrence& o) { return Access{row, 0x10000000 + (o.workgroup * 2654435761u % 4096) * 256}; };
  const Analysed a(k);
  EXPECT_FALSE(a.grid.rules()[0].regular);
  EXPECT_NE(a.grid.shift(0, {1, 0, 0}, 5), a.grid.shift(0, {1, 0, 0}, 6));
}

TEST(grid, counts_the_units_that_share_a_line) {
  Traced k = tiled({32, 32, 1});
  k.resident = 1;
  const Analysed a(k);
  // 304 workgroups at a time are 9.5 rows of 32: a row of A is read by 32 CUs of 8 XCDs, a column of B by 9 or 10 CUs
  // of one XCD (32 is a multiple of 8).
  EXPECT_TRUE(within(a.grid.sharing(0).device, 32, 0.1));
  EXPECT_TRUE(within(a.grid.sharing(0).xcd, 4, 0.1));
  EXPECT_TRUE(within(a.grid.sharing(1).xcd, 9.5, 0.1));
  EXPECT_TRUE(within(a.grid.sharing(1).device, 9.5, 0.1));
}

TEST(grid, the_footprint_counts_a_shared_line_once) {
  Traced k = tiled({32, 32, 1});
  EXPECT_TRUE(within(Analysed(k).grid.footprint(), 32 * 256 + 32 * 256, 0.01));
}

TEST(grid, a_border_workgroup_stands_for_the_border) {
  Traced k = tiled({64, 64, 1});
  const Analysed a(k);
  const auto& samples = a.grid.samples();
  const Coordinates far = samples[a.grid.stand_in(64 * 30 + 63)].at;
  EXPECT_EQ(far[0], 63);
  const Coordinates inside = samples[a.grid.stand_in(64 * 30 + 30)].at;
  EXPECT_TRUE(inside[0] > 0 && inside[0] < 63 && inside[1] > 0 && inside[1] < 63);
}

} // namespace asmevo::timing
