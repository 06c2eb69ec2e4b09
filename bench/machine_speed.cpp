// How fast the simulated machine executes: wave-instructions per second on one core, by kind of loop, each beside a
// plain C++ loop that does the same lane arithmetic at the same instruction set level (plain_loops.h). A benchmark's
// label names the one it is to be divided by; bench/compare.py does that. ASMEVO_ISA_LEVEL=v3 measures the AVX2 build.
#include "isa/codec.h"
#include "machine/dispatch.h"
#include "machine/execute.h"
#include "machine/registry.h"
#include "plain_loops.h"
#include "support/file.h"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <iostream>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

std::string repeat(const std::string& lines, int times) {
  std::string text;
  for (int k = 0; k < times; ++k) text += lines;
  return text;
}

std::string loop(const std::string& body, int times = 2000) {
  return "s_mov_b32 s20, 0\nagain:\n" + body + "s_add_u32 s20, s20, 1\ns_cmp_lt_u32 s20, " + std::to_string(times) +
         "\ns_cbranch_scc1 again\ns_endpgm\n";
}

struct Body {
  const char* name;
  const char* plain; // the loop that it is compared with
  std::string prologue, text;
  double flops = 0; // of an instruction
};

const std::vector<Body>& bodies() {
  static const std::vector<Body> all = {
      {"valu_int", "plain_int", "",
       repeat("v_add_u32 v2, v3, v4\nv_xor_b32 v3, v2, v5\nv_lshlrev_b32 v4, 3, v2\nv_and_b32 v5, v2, v3\n", 8)},
      {"valu_f32", "plain_f32", "",
       repeat("v_fma_f32 v2, v3, v4, v5\nv_mul_f32 v3, v2, v5\nv_add_f32 v4, v2, v3\nv_fmac_f32 v5, v2, v3\n", 8)},
      {"valu_f32_flush", "plain_f32", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\n",
       repeat("v_fma_f32 v2, v3, v4, v5\nv_mul_f32 v3, v2, v5\nv_add_f32 v4, v2, v3\nv_fmac_f32 v5, v2, v3\n", 8)},
      {"valu_sgpr", "plain_f32", "",
       repeat("v_mul_f32 v2, s4, v3\nv_add_u32 v3, s5, v2\nv_fma_f32 v4, v2, s6, v3\nv_add_f32 v5, 1.0, v3\n", 8)},
      {"valu_neg", "plain_f32", "", repeat("v_fma_f32 v2, -v3, v4, v5\nv_fma_f32 v3, v2, |v4|, -v5\n", 16)},
      {"valu_compare", "plain_int", "",
       repeat("v_cmp_lt_f32 vcc, v2, v3\nv_cndmask_b32 v4, v2, v3, vcc\nv_cmp_gt_u32 vcc, v4, v3\nv_cndmask_b32 v5, "
              "v3, v4, vcc\n",
              8)},
      {"valu_salu", "plain_int", "",
       repeat(
           "v_add_u32 v2, v3, v4\ns_add_u32 s4, s5, s6\nv_fma_f32 v3, v2, v4, v5\ns_and_b64 s[8:9], s[10:11], s[4:5]\n",
           8)},
      {"salu", "plain_int", "",
       repeat("s_add_u32 s4, s5, s6\ns_lshl_b32 s5, s4, 3\ns_and_b64 s[8:9], s[10:11], s[4:5]\ns_mul_i32 s6, s5, s4\n",
              8)},
      {"valu_mixed", "plain_f32", "",
       repeat("v_add_u32 v2, v3, v4\nv_fma_f32 v3, v2, v4, v5\nv_mul_f32 v4, v2, v5\nv_xor_b32 v5, v2, v3\n", 8)},
      {"valu_partial", "valu_mixed", "s_mov_b64 exec, 0x5555aaaa\n",
       repeat("v_add_u32 v2, v3, v4\nv_fma_f32 v3, v2, v4, v5\nv_mul_f32 v4, v2, v5\nv_xor_b32 v5, v2, v3\n", 8)},
      {"dpp", "plain_f32", "",
       repeat("v_mov_b32_dpp v2, v3 row_shr:1 row_mask:0xf bank_mask:0xf\nv_add_f32_dpp v3, v2, v4 quad_perm:[1,0,3,2] "
              "row_mask:0xf bank_mask:0xf\n",
              8)},
      {"exp", "plain_f32", "", repeat("v_exp_f32 v2, v3\nv_rcp_f32 v3, v2\n", 8)},
      {"pk_fma", "plain_f32", "",
       repeat("v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[2:3]\nv_pk_mul_f32 v[4:5], v[2:3], v[6:7]\n", 8)},
      {"add64", "plain_int", "",
       repeat("v_lshl_add_u64 v[2:3], v[4:5], 2, v[6:7]\nv_add_co_u32 v4, vcc, v2, v6\nv_addc_co_u32 v5, vcc, v3, v7, "
              "vcc\n",
              8)},
      {"lds_b32", "plain_copy", "v_lshlrev_b32 v1, 2, v0\n",
       repeat("ds_read_b32 v2, v1\nds_write_b32 v1, v3 offset:256\n", 8)},
      {"lds_b128", "plain_transpose", "v_lshlrev_b32 v1, 4, v0\n",
       repeat("ds_read_b128 v[2:5], v1\nds_write_b128 v1, v[6:9] offset:1024\n", 8)},
      {"global_b32", "plain_copy", "v_lshlrev_b32 v1, 2, v0\n",
       repeat("global_load_dword v2, v1, s[0:1]\nglobal_store_dword v1, v3, s[0:1] offset:1024\n", 8)},
      {"global_b128", "plain_transpose", "v_lshlrev_b32 v1, 4, v0\n",
       repeat("global_load_dwordx4 v[2:5], v1, s[0:1]\nglobal_store_dwordx4 v1, v[6:9], s[0:1] offset:1024\n", 8)},
      {"buffer_b128", "plain_transpose", "v_lshlrev_b32 v1, 4, v0\ns_mov_b32 s2, 0x100000\ns_mov_b32 s3, 0x20000\n",
       repeat("buffer_load_dwordx4 v[2:5], v1, s[0:3], 0 offen\nbuffer_store_dwordx4 v[6:9], v1, s[0:3], 0 offen "
              "offset:1024\n",
              8)},
      {"mfma_16x16x16_f16", "peak_f32", "",
       repeat("v_mfma_f32_16x16x16_f16 a[0:3], v[2:3], v[4:5], a[0:3]\nv_mfma_f32_16x16x16_f16 a[4:7], v[2:3], v[4:5], "
              "a[4:7]\n",
              8),
       16 * 16 * 16 * 2},
  };
  return all;
}

void report(benchmark::State& state, double instructions, const char* plain = nullptr, double flops = 0) {
  using benchmark::Counter;
  if (flops) state.counters["flops"] = Counter(instructions * flops, Counter::kIsRate);
  state.counters["wave_instructions"] = Counter(instructions, Counter::kIsRate);
  if (plain) state.SetLabel(plain);
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
  report(state, double(instructions), body.plain, body.flops);
}

// Workgroups over threads: a kernel of 64 workgroups without communication, as `run` executes it.
void run_threads(benchmark::State& state, unsigned threads) {
  const auto codec = isa::Codec::create(isa::Target{.processor = isa::Processor::gfx942});
  const std::string body = repeat("v_add_u32 v2, v3, v4\nv_fma_f32 v3, v2, v4, v5\nds_write_b32 v1, v3\n"
                                  "ds_read_b32 v4, v1\nglobal_load_dword v5, v1, s[0:1]\n",
                                  8);
  const auto bytes = codec->assemble("v_lshlrev_b32 v1, 2, v0\n" + loop(body, 250));
  const auto image = Image::from_text(*bytes, *codec, {.vgprs = 32, .accum_offset = 32, .lds_bytes = 8192});
  Memory memory;
  Dispatch dispatch;
  dispatch.kernel = &image->object().kernels.front();
  dispatch.workgroups = {64, 1, 1};
  dispatch.workgroup_size = {256, 1, 1};
  dispatch.kernarg_address = 0x100000;
  (void)memory.map(dispatch.kernarg_address, 1 << 20, Access::read_write, "data");
  uint64_t instructions = 0;
  for (auto _ : state) {
    const auto result = run(*image, dispatch, memory, {.threads = threads});
    if (!result || result->status != Status::completed) return state.SkipWithError("the kernel did not complete");
    instructions += result->instructions;
  }
  report(state, double(instructions), threads > 1 ? "one_core" : "plain_int");
}

// From the bytes of a large hand-written object to its first executed instruction. The first start of a process also
// makes LLVM's tables; later ones decode what they have not seen.
void start_up(benchmark::State& state, const std::filesystem::path& path) {
  for (auto _ : state) {
    auto bytes = read_file(path.string());
    auto object = object::read_code_object(std::move(*bytes), path.string());
    if (!object) return state.SkipWithError(object.error().message.c_str());
    const auto target = isa::target_from_elf(object->e_flags, object->abi_version, path.string());
    const auto codec = isa::Codec::create(*target);
    const auto image = Image::create(std::make_shared<const object::CodeObject>(std::move(*object)), *codec);
    if (!image) return state.SkipWithError(image.error().message.c_str());
    Memory memory;
    Dispatch dispatch;
    dispatch.kernel = &image->object().kernels.front();
    dispatch.workgroup_size = {64, 1, 1};
    dispatch.kernarg_address = 0x100000;
    (void)memory.map(dispatch.kernarg_address, 1 << 12, Access::read_write, "arguments");
    const auto result = run(*image, dispatch, memory, {.instruction_budget = 1});
    if (!result) return state.SkipWithError(result.error().message.c_str());
  }
}

template <class Rows> void plain_loop(benchmark::State& state, void (*pass)(Rows&), int instructions) {
  static Rows rows{};
  for (auto _ : state)
    for (int k = 0; k < 100; ++k) pass(rows);
  report(state, 100.0 * instructions * double(state.iterations()));
}
void plain_memory(benchmark::State& state, void (*pass)(plain::Rows&, plain::Block&), int instructions) {
  static plain::Rows rows{};
  static plain::Block block{};
  for (auto _ : state)
    for (int k = 0; k < 100; ++k) pass(rows, block);
  report(state, 100.0 * instructions * double(state.iterations()));
}
void peak(benchmark::State& state, float (*pass)(float)) {
  for (auto _ : state)
    for (int k = 0; k < 100; ++k) benchmark::DoNotOptimize(pass(float(k & 1)));
  state.counters["flops"] =
      benchmark::Counter(100 * plain::multiply_adds_flops * double(state.iterations()), benchmark::Counter::kIsRate);
}

} // namespace

int main(int argc, char** argv) {
  const plain::Loops& loops = plain::loops(chosen_isa());
  const auto add = [](const char* name, auto run) { return benchmark::RegisterBenchmark(name, run); };
  add("plain_int", [&](benchmark::State& state) { plain_loop(state, loops.integer, 4); });
  add("plain_f32", [&](benchmark::State& state) { plain_loop(state, loops.single, 4); });
  add("plain_copy", [&](benchmark::State& state) { plain_memory(state, loops.copy, 2); });
  add("plain_transpose", [&](benchmark::State& state) { plain_memory(state, loops.transpose, 2); });
  add("peak_f32", [&](benchmark::State& state) { peak(state, loops.multiply_adds); });
  for (const Body& body : bodies()) add(body.name, [&body](benchmark::State& state) { run_body(state, body); });
  for (unsigned threads : {1, 2})
    add(threads == 1 ? "one_core" : "two_cores", [threads](benchmark::State& state) { run_threads(state, threads); })
        ->UseRealTime()
        ->MeasureProcessCPUTime();
  const char* data = std::getenv("ASMEVO_DATA");
  const std::filesystem::path object = std::filesystem::path(data ? data : "../shared/data") /
                                       "aiter/hsa/gfx942/fmha_v3_fwd/MI300/fwd_hd128_bf16_rtne.co";
  if (std::filesystem::exists(object))
    add("start_up", [object](benchmark::State& state) { start_up(state, object); })->Unit(benchmark::kMillisecond);
  else
    std::cerr << "start_up SKIPPED: no " << object << " (set ASMEVO_DATA)\n";
  benchmark::AddCustomContext("isa_level", std::string(chosen_isa()));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
