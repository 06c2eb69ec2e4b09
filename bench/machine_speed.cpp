// How fast the simulated machine executes: wave-instructions per second on one core, by kind of loop, each beside a
// plain C++ loop that does the same lane arithmetic (the roofline of running lanes as vector code).
#include "isa/codec.h"
#include "machine/dispatch.h"
#include "machine/execute.h"

#include <benchmark/benchmark.h>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

std::string repeat(const std::string& lines, int times) {
  std::string text;
  for (int k = 0; k < times; ++k) text += lines;
  return text;
}

std::string loop(const std::string& body) {
  return "s_mov_b32 s20, 0\nagain:\n" + body +
         "s_add_u32 s20, s20, 1\ns_cmp_lt_u32 s20, 2000\ns_cbranch_scc1 again\ns_endpgm\n";
}

struct Body {
  const char* name;
  std::string prologue, text;
};

const std::vector<Body>& bodies() {
  static const std::vector<Body> all = {
      {"valu_int", "",
       repeat("v_add_u32 v2, v3, v4\nv_xor_b32 v3, v2, v5\nv_lshlrev_b32 v4, 3, v2\nv_and_b32 v5, v2, v3\n", 8)},
      {"valu_f32", "",
       repeat("v_fma_f32 v2, v3, v4, v5\nv_mul_f32 v3, v2, v5\nv_add_f32 v4, v2, v3\nv_fmac_f32 v5, v2, v3\n", 8)},
      {"valu_sgpr", "",
       repeat("v_mul_f32 v2, s4, v3\nv_add_u32 v3, s5, v2\nv_fma_f32 v4, v2, s6, v3\nv_add_f32 v5, 1.0, v3\n", 8)},
      {"valu_neg", "", repeat("v_fma_f32 v2, -v3, v4, v5\nv_fma_f32 v3, v2, |v4|, -v5\n", 16)},
      {"valu_compare", "",
       repeat("v_cmp_lt_f32 vcc, v2, v3\nv_cndmask_b32 v4, v2, v3, vcc\nv_cmp_gt_u32 vcc, v4, v3\nv_cndmask_b32 v5, "
              "v3, v4, vcc\n",
              8)},
      {"valu_salu", "",
       repeat(
           "v_add_u32 v2, v3, v4\ns_add_u32 s4, s5, s6\nv_fma_f32 v3, v2, v4, v5\ns_and_b64 s[8:9], s[10:11], s[4:5]\n",
           8)},
      {"salu", "",
       repeat("s_add_u32 s4, s5, s6\ns_lshl_b32 s5, s4, 3\ns_and_b64 s[8:9], s[10:11], s[4:5]\ns_mul_i32 s6, s5, s4\n",
              8)},
      {"valu_partial", "s_mov_b64 exec, 0x5555aaaa\n",
       repeat("v_add_u32 v2, v3, v4\nv_fma_f32 v3, v2, v4, v5\nv_mul_f32 v4, v2, v5\nv_xor_b32 v5, v2, v3\n", 8)},
      {"dpp", "",
       repeat("v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf\nv_add_f32_dpp v3, v2, v4 quad_perm:[1,0,3,2] "
              "row_mask:0xf bank_mask:0xf\n",
              8)},
      {"exp", "", repeat("v_exp_f32 v2, v3\nv_rcp_f32 v3, v2\n", 8)},
      {"pk_fma", "", repeat("v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[2:3]\nv_pk_mul_f32 v[4:5], v[2:3], v[6:7]\n", 8)},
      {"add64", "",
       repeat("v_lshl_add_u64 v[2:3], v[4:5], 2, v[6:7]\nv_add_co_u32 v4, vcc, v2, v6\nv_addc_co_u32 v5, vcc, v3, v7, "
              "vcc\n",
              8)},
      {"lds_b32", "v_lshlrev_b32 v1, 2, v0\n", repeat("ds_read_b32 v2, v1\nds_write_b32 v1, v3 offset:256\n", 8)},
      {"lds_b128", "v_lshlrev_b32 v1, 4, v0\n",
       repeat("ds_read_b128 v[2:5], v1\nds_write_b128 v1, v[6:9] offset:1024\n", 8)},
      {"global_b32", "v_lshlrev_b32 v1, 2, v0\n",
       repeat("global_load_dword v2, v1, s[0:1]\nglobal_store_dword v1, v3, s[0:1] offset:1024\n", 8)},
      {"global_b128", "v_lshlrev_b32 v1, 4, v0\n",
       repeat("global_load_dwordx4 v[2:5], v1, s[0:1]\nglobal_store_dwordx4 v1, v[6:9], s[0:1] offset:1024\n", 8)},
      {"buffer_b128", "v_lshlrev_b32 v1, 4, v0\ns_mov_b32 s2, 0x100000\ns_mov_b32 s3, 0x20000\n",
       repeat("buffer_load_dwordx4 v[2:5], v1, s[0:3], 0 offen\nbuffer_store_dwordx4 v[6:9], v1, s[0:3], 0 offen "
              "offset:1024\n",
              8)},
      {"mfma_16x16x16_f16", "",
       repeat("v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]\nv_mfma_f32_16x16x16_f16 a[4:7], v[2:3], v[4:5], "
              "a[4:7]\n",
              8)},
  };
  return all;
}

void run_body(benchmark::State& state, const Body& body) {
  const auto codec = isa::Codec::create(isa::Target{.processor = isa::Processor::gfx942});
  const auto bytes = codec->assemble(body.prologue + loop(body.text));
  if (!bytes) return state.SkipWithError(bytes.error().message.c_str());
  const auto image =
      Image::from_text(*bytes, *codec, {.vgprs = 32, .agprs = 32, .accum_offset = 32, .lds_bytes = 8192});
  Memory memory;
  Dispatch dispatch;
  dispatch.kernel = &image->object().kernels.front();
  dispatch.workgroup_size = {256, 1, 1};
  dispatch.kernarg_address = 0x100000;
  (void)memory.map(dispatch.kernarg_address, 1 << 20, Access::read_write, "data");
  const auto plan = plan_launch(*image, dispatch, memory);
  const Scratch scratch;
  Residence residence(*plan, memory, scratch, 0);
  Executor executor(Schedule::round_robin, 0);
  uint64_t instructions = 0;
  for (auto _ : state) {
    residence.begin(0, nullptr);
    const Turn turn = executor.run(residence, uint64_t{1} << 40);
    instructions += turn.instructions;
    if (turn.end != TurnEnd::finished) return state.SkipWithError(residence.group().fault->message.c_str());
  }
  state.counters["wave_instructions"] = benchmark::Counter(double(instructions), benchmark::Counter::kIsRate);
}

/// What 64 lanes of a dependent multiply-add cost as a plain loop.
void plain_loop(benchmark::State& state) {
  alignas(64) static float a[64], b[64], c[64];
  uint64_t instructions = 0;
  for (auto _ : state) {
    for (int k = 0; k < 1000; ++k) {
      for (int i = 0; i < 64; ++i) c[i] = a[i] * b[i] + c[i];
      benchmark::ClobberMemory();
    }
    instructions += 1000;
  }
  state.counters["wave_instructions"] = benchmark::Counter(double(instructions), benchmark::Counter::kIsRate);
}
BENCHMARK(plain_loop);

} // namespace

int main(int argc, char** argv) {
  for (const Body& body : bodies())
    benchmark::RegisterBenchmark(body.name, [&body](benchmark::State& state) { run_body(state, body); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
