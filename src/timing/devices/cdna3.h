// What a gfx942 compute unit costs, whatever part it sits in.
//
// Sources: "ladder" is the pointer-chase and bandwidth set of RRZE-HPC/gpu-benches on MI300X and MI300A; "LDS table"
// the 64 back-to-back ds_reads by stride measured on MI300X (nod-ai amd-shark-ai); "trace" the thread traces of a
// gfx950, used where no gfx942 measurement exists, with a wider bar; "loops" MI300X throughput loops with one wave a
// SIMD (mgpusim ground truth), which include loop overhead; "LLVM" the LLVM 22 scheduling model; "docs" the
// rocprofiler-compute pipeline description; "assumed" no public figure found.
#pragma once

#include "timing/device_table.h"

namespace asmevo::timing::devices {

constexpr ParameterSet<Parameter> cdna3_compute_unit() {
  return {
      .dispatch_workgroup = {8.06, 0.3, "empty kernel slope, 4 waves a workgroup; floydwarshall with 1 wave 7.5-8.5"},
      .dispatch_wave = {2, 0.5, "at most, empty kernel slope"},
      .wave_start = {28, 12, "trace, warm"},
      .workgroup_turnover = {100, 50, "assumed"},

      .valu_dependent = {4, 0, "trace: chains of v_add_f32"},
      .valu_fma_dependent = {3.6, 0.8, "one turn: nbody's chain on MI300A; perhaps two: loops 9 with overhead"},
      .valu_f64_issue = {4, 0, "LLVM: full rate; peak 81.7 TFLOP/s f64"},
      .valu_f64_dependent = {8, 3, "two or three turns: loops 14 with overhead"},
      .valu_trans_issue = {16, 0, "LLVM: quarter rate"},
      .valu_trans_dependent = {20, 4, "issue + one turn, assumed"},
      .valu_convert_issue = {8, 4, "sources disagree: 16 (LLVM), 4 (GCN tables)"},
      .valu_multiply_issue = {16, 2, "loops: int32 multiply-add 17"},
      .valu_wide_issue = {8, 4, "assumed: half rate"},
      .valu_cross_lane = {4, 4, "shark guide: DPP 4-12, permlane 4-8"},
      .valu_to_scalar = {8, 4, "assumed: two turns"},
      .valu_to_memory = {10, 2, "trace: 8-12 to global, ds_write and ds_read alike"},
      .mfma_result = {2, 2, "gfx950: dependent 16x16x32 f16 18 clk for 16 of passes"},
      .mfma_gap = {1, 1, "gfx950: 4 independent 17 clk each"},

      .salu_dependent = {4, 0, "trace"},
      .branch_taken = {20, 4, "trace"},
      .branch_not_taken = {4, 0, "trace"},
      .fetch_split = {4, 4, "GCN heritage, size assumed"},
      .fetch_sequential_miss = {20, 20, "trace: one stall of 64 in 32 crossings; prefetch hides the rest"},
      .fetch_jump_miss = {180, 80, "trace: no stall in a line entered 190 clk after the one before it"},
      .barrier_release = {24, 12, "assumed; trace mean of 100 includes imbalance"},
      .message = {16, 8, "assumed"},

      .scalar_hit = {44, 12, "trace: at most 40 after the last issue"},
      .scalar_miss_extra = {20, 20, "assumed"},

      .lds_latency = {58, 8, "dependent ds_read_b32 about 64 with its port time; gfx950 69"},
      .lds_write_latency = {34, 8, "trace: ds_write_b32 to lgkmcnt(0) 36-48"},
      .lds_read_fixed = {3, 0.5, "LDS table, conflict-free rows"},
      .lds_read_rate = {60, 4, "LDS table, conflict-free rows; 64 peak (docs)"},
      .lds_write_fixed = {4, 0.5, "docs: 64x4 B 8 clk, 64x16 B 20 clk"},
      .lds_write_rate = {64, 3, "docs"},
      .lds_access = {1.72, 0.08, "LDS table, slope over conflicts"},
      .lds_bank_access = {1.0, 0.1, "docs: 128 B/clk a CU"},
      .lds_permute = {44, 8, "shark guide: about 50 with the wait"},
      .lds_queue = {8, 4, "assumed; trace: issue 4 clk empty, 16-20 full"},

      .address_rate = {16, 0, "docs: 64 lanes in 4 clk"},
      .l1_line = {1.65, 0.15, "atax kernel1, gathers of stride 2 to 8 lines by 1 to 4 waves"},
      .l1_rate = {60.6, 1, "ladder: 38.6 TB/s on 304 CUs"},
      .vmem_queue = {16, 8, "assumed; trace: back-pressure 100-560 clk"},
      .l1_latency = {118, 4, "ladder, up to 32 KB"},
      .l2_latency = {212, 6, "ladder, up to 4 MB"},
      .mall_latency = {480, 30, "ladder: 455, 477-519 at 80-160 MB"},
      .hbm_latency = {880, 30, "ladder, from 360 MB"},
      .store_latency = {210, 40, "as an L2 hit: atax with one wave, 240 clk an iteration that waits for its store"},
      .atomic_line = {16, 8, "assumed"},
      .l2_port_rate = {48, 4, "atax kernel1, gathers that miss L1: 640-700 clk for 256 lines; 64 peak (docs)"},
      .l2_rate = {1650, 75, "ladder: 27.5 TB/s of 8 XCDs"},
      .cu_memory_rate = {24, 8, "assumed"},
  };
}

} // namespace asmevo::timing::devices
