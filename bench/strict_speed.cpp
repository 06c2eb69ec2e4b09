// What strict mode costs: the same loop with and without it, in one run.
#include "isa/codec.h"
#include "machine/dispatch.h"
#include "machine/execute.h"
#include "machine/strict/strict.h"

#include <benchmark/benchmark.h>
#include <ctime>

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

/// A workgroup of four waves that runs a text again and again.
struct Bench {
  isa::Codec codec;
  Image image;
  Memory memory;
  Dispatch dispatch;
  LaunchPlan plan;
  Scratch scratch;
  std::unique_ptr<Residence> residence;

  static Result<std::unique_ptr<Bench>> create(const std::string& text) {
    AE_TRY(isa::Codec codec, isa::Codec::create(isa::Target{.processor = isa::Processor::gfx942}));
    const auto bytes = codec.assemble(text);
    if (!bytes) return fail("{}", bytes.error().message);
    AE_TRY(Image image,
           Image::from_text(*bytes, codec, {.vgprs = 32, .agprs = 32, .accum_offset = 32, .lds_bytes = 16384}));
    auto bench = std::unique_ptr<Bench>(new Bench{.codec = std::move(codec), .image = std::move(image)});
    bench->dispatch.kernel = &bench->image.object().kernels.front();
    bench->dispatch.workgroup_size = {256, 1, 1};
    bench->dispatch.kernarg_address = 0x100000;
    AE_CHECK(bench->memory.map(bench->dispatch.kernarg_address, 1 << 20, Access::read_write, "data"));
    AE_TRY(bench->plan, plan_launch(bench->image, bench->dispatch, bench->memory));
    bench->residence = std::make_unique<Residence>(bench->plan, bench->memory, bench->scratch, 0);
    return bench;
  }
  /// Wave-instructions of one run.
  uint64_t run(strict::Strict* strict = nullptr) {
    residence->begin(0, nullptr);
    const auto watcher = strict ? strict->watcher(residence->group()) : nullptr;
    residence->watch(watcher.get());
    const Turn turn = Executor(Schedule::round_robin, 0).run(*residence, uint64_t{1} << 40);
    residence->watch(nullptr);
    return turn.instructions;
  }
};

/// Loops without anything that strict mode objects to: every register is written, every load waited for, and each
/// work-item has its own memory.
const std::vector<Body>& clean_bodies() {
  static const std::string init =
      "v_and_b32 v0, 0x3ff, v0\nv_mov_b32 v2, 1\nv_mov_b32 v3, 2\nv_mov_b32 v4, 3\nv_mov_b32 "
      "v5, 4\nv_mov_b32 v6, 5\nv_mov_b32 v7, 6\nv_mov_b32 v8, 7\nv_mov_b32 v9, 8\n";
  static const std::vector<Body> all = {
      {"valu", init,
       repeat("v_add_u32 v2, v3, v4\nv_fma_f32 v3, v2, v4, v5\nv_mul_f32 v4, v2, v5\nv_xor_b32 v5, v2, v3\n", 8)},
      {"valu_salu", init + "s_mov_b32 s5, 1\ns_mov_b32 s6, 2\ns_mov_b64 s[10:11], 3\n",
       repeat(
           "v_add_u32 v2, v3, v4\ns_add_u32 s4, s5, s6\nv_fma_f32 v3, v2, v4, v5\ns_and_b64 s[8:9], s[10:11], s[4:5]\n",
           8)},
      {"valu_partial", init + "s_mov_b64 exec, 0x5555aaaa\n",
       repeat("v_add_u32 v2, v3, v4\nv_fma_f32 v3, v2, v4, v5\nv_mul_f32 v4, v2, v5\nv_xor_b32 v5, v2, v3\n", 8)},
      {"lds_b32", init + "v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v3\ns_waitcnt lgkmcnt(0)\n",
       repeat("ds_read_b32 v2, v1\nds_write_b32 v1, v3 offset:1024\ns_waitcnt lgkmcnt(0)\n", 8)},
      {"lds_b128", init + "v_lshlrev_b32 v1, 4, v0\nds_write_b128 v1, v[6:9]\ns_waitcnt lgkmcnt(0)\n",
       repeat("ds_read_b128 v[2:5], v1\nds_write_b128 v1, v[6:9] offset:4096\ns_waitcnt lgkmcnt(0)\n", 8)},
      {"lds_strided", init + "v_lshlrev_b32 v1, 5, v0\nds_write_b32 v1, v3\ns_waitcnt lgkmcnt(0)\n",
       repeat("ds_read_b32 v2, v1\nds_write_b32 v1, v3 offset:16\ns_waitcnt lgkmcnt(0)\n", 8)},
      {"lds_shared",
       init + "v_lshrrev_b32 v10, 6, v0\nv_lshlrev_b32 v1, 2, v0\nv_readfirstlane_b32 s8, v10\ns_cmp_lg_u32 s8, 0\n"
              "s_cbranch_scc1 meet\nds_write_b32 v1, v3\nds_write_b32 v1, v3 offset:256\ns_waitcnt lgkmcnt(0)\n"
              "meet: s_barrier\nv_and_b32 v1, 0xff, v1\n",
       repeat("ds_read_b32 v2, v1\nds_read_b32 v4, v1 offset:256\ns_waitcnt lgkmcnt(0)\n", 8)},
      {"lds_tile", init + "v_lshlrev_b32 v1, 2, v0\nv_and_b32 v10, 0xff, v1\n",
       repeat("ds_write_b32 v1, v3\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v10\n"
              "ds_read_b32 v4, v10 offset:256\nds_read_b32 v5, v10 offset:512\nds_read_b32 v5, v10 offset:768\n"
              "s_waitcnt lgkmcnt(0)\ns_barrier\n",
              4)},
      {"lds_half",
       init + "v_lshlrev_b32 v1, 2, v0\nds_write_b32 v1, v3\ns_waitcnt lgkmcnt(0)\n"
              "s_mov_b64 exec, 0x5555aaaa\n",
       repeat("ds_read_b32 v2, v1\nds_write_b32 v1, v3 offset:1024\ns_waitcnt lgkmcnt(0)\n", 8)},
      {"global_b32", init + "v_lshlrev_b32 v1, 2, v0\n",
       repeat("global_load_dword v2, v1, s[0:1]\nglobal_store_dword v1, v3, s[0:1] offset:1024\ns_waitcnt vmcnt(0)\n",
              8)},
      {"global_shared", init + "v_and_b32 v0, 63, v0\nv_lshlrev_b32 v1, 2, v0\n",
       repeat("global_load_dword v2, v1, s[0:1]\nglobal_load_dword v4, v1, s[0:1] offset:1024\ns_waitcnt vmcnt(0)\n",
              8)},
      {"global_b128", init + "v_lshlrev_b32 v1, 4, v0\ns_add_u32 s6, s0, 0x2000\ns_addc_u32 s7, s1, 0\n",
       repeat("global_load_dwordx4 v[2:5], v1, s[0:1]\nglobal_store_dwordx4 v1, v[6:9], s[6:7]\ns_waitcnt vmcnt(0)\n",
              8)},
      {"buffer_b128",
       init + "v_lshlrev_b32 v1, 4, v0\ns_mov_b32 s8, s0\ns_mov_b32 s9, s1\ns_mov_b32 s10, 0x100000\ns_mov_b32 s11, "
              "0x20000\n"
              "s_movk_i32 s12, 0x2000\n",
       repeat("buffer_load_dwordx4 v[2:5], v1, s[8:11], 0 offen\nbuffer_store_dwordx4 v[6:9], v1, s[8:11], s12 "
              "offen\ns_waitcnt vmcnt(0)\n",
              8)},
      {"mfma_16x16x16_f16",
       init + "v_accvgpr_write_b32 a0, 0\nv_accvgpr_write_b32 a1, 0\nv_accvgpr_write_b32 a2, 0\nv_accvgpr_write_b32 "
              "a3, 0\ns_nop 3\n",
       repeat("v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]\n", 16)},
  };
  return all;
}

/// Processor time of this thread, in seconds: what else the machine does must not count.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// The same loop in normal and in strict mode, turn by turn; `ratio` is how many times longer strict mode takes.
void compare_strict(benchmark::State& state, const Body& body) {
  const auto bench = Bench::create(body.prologue + loop(body.text));
  if (!bench) return state.SkipWithError(bench.error().message.c_str());
  double normal = 0, strict = 0, instructions = 0;
  for (auto _ : state) {
    strict::Strict mode((*bench)->plan);
    const double start = processor_seconds();
    instructions += double((*bench)->run());
    const double middle = processor_seconds();
    (void)(*bench)->run(&mode);
    strict += processor_seconds() - middle;
    normal += middle - start;
    if (const auto report = mode.take(); !report.findings.empty())
      return state.SkipWithError(report.findings.front().message.c_str());
  }
  state.counters["normal"] = instructions / normal;
  state.counters["strict"] = instructions / strict;
  state.counters["ratio"] = strict / normal;
}

} // namespace

int main(int argc, char** argv) {
  for (const Body& body : clean_bodies())
    benchmark::RegisterBenchmark(body.name, [&body](benchmark::State& state) { compare_strict(state, body); });
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
