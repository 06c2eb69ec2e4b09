// Issue times of a gfx950 read out of thread traces, against the model.
//
// Eight waves of a small matrix kernel, one a SIMD, cold caches. The grain of a trace is four clocks and single gaps
// jitter by as much, so sums over many instructions are compared with the mean over the waves. What a wave waits for
// memory in a cold run is not the issue model's affair and is left out: the waits for the kernel arguments and the
// loads, and the first instruction cache miss behind the former.
#include "timing/traced.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

namespace asmevo::timing {
namespace {

const DeviceTable& mi355x = device_for(isa::Processor::gfx950);

std::string data_path(const std::string& name) {
  const char* root = std::getenv("ASMEVO_DATA");
  return (root ? std::string(root) : std::string(ASMEVO_SOURCE_DIR) + "/../shared/data") + "/sqtt_gfx950/" + name;
}

struct Recorded {
  std::vector<std::string> code;
  std::vector<double> gaps; // mean clocks from the instruction before, over all waves
};

std::optional<Recorded> recorded() {
  Recorded r;
  double waves = 0;
  for (const char* name : {"gemm_0.json", "gemm_1.json"}) {
    std::ifstream file(data_path(name));
    if (!file) return std::nullopt;
    const auto traces = nlohmann::json::parse(file);
    for (const auto& [key, trace] : traces.items()) {
      const auto& rows = trace.at("rows");
      r.gaps.resize(rows.size());
      r.code.resize(rows.size());
      for (size_t i = 0; i < rows.size(); ++i) {
        r.code[i] = rows[i].at("inst");
        if (i) r.gaps[i] += rows[i].at("issue").get<double>() - rows[i - 1].at("issue").get<double>();
      }
      ++waves;
    }
  }
  for (double& gap : r.gaps) gap /= waves;
  return r;
}

// Clocks from the issue of instruction `first` to that of `last`, for one wave alone on its SIMD.
double modelled(const Recorded& r, size_t first, size_t last) {
  std::string text;
  for (const std::string& line : r.code) text += line + "\n";
  Traced k(text, 4, isa::Processor::gfx950);
  EXPECT_EQ(k.code.size(), r.code.size());
  const uint32_t row = k.strided(4, 4), lane = k.strided(0, 16, machine::Space::lds, false, 1);
  const uint32_t write = k.strided(4, 4, machine::Space::lds, true, 16);
  const uint32_t scalar = k.strided(0, 4, machine::Space::scalar, false, 1);
  const auto code = k.code;
  k.access = [=](const Occurrence& o) {
    const auto& traits = code[o.instruction].traits;
    if (traits.smem) return Access{scalar, 0x1000};
    if (traits.lds) return Access{traits.may_store ? write : lane, 0};
    return Access{row, 0x100000};
  };
  const Estimate e = k.estimate(mi355x, {.draws = 1, .attribution = true});
  double clocks = 0; // of four waves that do the same
  for (size_t i = first; i < last; ++i) {
    const Attribution& before = e.attribution[i];
    const Attribution& next = e.attribution[i + 1];
    clocks += before.issue_cycles + std::accumulate(next.stall_cycles.begin(), next.stall_cycles.end(), 0.0);
  }
  return clocks / 4;
}

} // namespace

TEST(trace, issue_sums_of_a_gfx950_kernel_are_within_15_percent) {
  const auto r = recorded();
  if (!r) GTEST_SKIP() << "no " << data_path("gemm_0.json");
  const auto at = [&](const std::string& start, size_t from = 0) {
    for (size_t i = from; i < r->code.size(); ++i)
      if (r->code[i].starts_with(start)) return i;
    ADD_FAILURE() << start;
    return size_t{0};
  };
  struct Span {
    const char* what;
    size_t first, last;
  };
  const size_t adds = at("v_add_f32_e32 v0, 0, v0");
  const Span spans[] = {
      {"addresses and three loads", at("v_ashrrev_i32_e32 v5"), at("global_load_dwordx2")},
      {"products, LDS write and its wait", at("s_nop 0"), at("s_and_saveexec")},
      {"LDS reads and the wait for the first", at("v_mov_b32_e32 v16"), at("s_waitcnt lgkmcnt(3)")},
      {"sixteen dependent adds and their waits", adds, at("global_store_dword")},
      {"LDS write to the store", at("s_nop 0"), at("global_store_dword")},
  };
  for (const Span& span : spans) {
    const double measured = std::accumulate(r->gaps.begin() + span.first + 1, r->gaps.begin() + span.last + 1, 0.0);
    const double model = modelled(*r, span.first, span.last);
    std::printf("%-42s measured %6.1f  modelled %6.1f  %+5.1f %%\n", span.what, measured, model,
                100 * (model / measured - 1));
    EXPECT_TRUE(within(model, measured, 0.15)) << span.what;
  }
}

} // namespace asmevo::timing
