// Stages: what happens around an instruction's own meaning, the same for all vector ALU instructions.
//
// In front of the core, for each source: a scalar register is splatted into a row; DPP moves it between lanes; SDWA
// picks a byte or word; op_sel picks a half; neg and abs change its sign. Behind it: omod and clamp of a float result,
// and the merge of a part of a register (SDWA dst_sel, op_sel). The decoder points Op::src and Op::dst at the staging
// rows, and the core runs between the two halves without knowing. DPP also takes lanes away: the core runs under a
// smaller EXEC.
//
// Staging rows: 2k and 2k+1 hold source k, 6 and 7 a redirected result, from 8 on is scratch of the stage runner. From
// staging_rows on lie splats that stay: a scalar register that is an instruction's only staged source is looked for in
// the one row that its number gives, and splatted again only if that row holds another word. Loops read the same
// scalars over and over.
#pragma once

#include "machine/registry.h"

namespace asmevo::machine {

inline constexpr uint32_t staging_source(unsigned k) { return 2 * k; }
inline constexpr uint32_t staging_result = 6, staging_scratch = 8;
inline constexpr uint32_t splat_slot(ScalarRef scalar) { return scalar.index() % splat_rows; }
inline RowRef splat_row(ScalarRef scalar) { return RowRef::of(RowSpace::staging, staging_rows + splat_slot(scalar)); }

enum class Select : uint8_t { byte0, byte1, byte2, byte3, word0, word1, dword };

/// Data-parallel primitives: which lane a lane reads from.
struct Dpp {
  uint8_t from[lanes] = {};
  Row within_row{};           // the same, counted within the lane's 16 lanes...
  bool row_local = false;     // ...where no lane reads from another row
  uint64_t valid = 0;         // lanes whose source exists
  Row valid_lanes{};          // the same as ~0 and 0
  uint64_t enabled = 0;       // row_mask and bank_mask
  bool bound_control = false; // lanes without a source read 0 and write; else they keep the destination
};

/// How one source gets into its staging rows; `rows` 0 where it needs none.
struct SourceStage {
  RowRef from;
  ScalarRef scalar; // splat this instead, where splat is set
  bool splat = false;
  uint8_t rows = 0;
  Format format = Format::b32;
  bool neg = false, abs = false, neg_hi = false;
  Select select = Select::dword;                     // SDWA
  bool sign_extend = false;                          // SDWA
  bool low_from_high = false, high_from_low = false; // op_sel: which half (dword for p32) each half comes from
};

struct ResultStage {
  RowRef to;               // the real destination
  bool redirected = false; // the core writes staging_result
  Select select = Select::dword;
  uint8_t unused = 0; // SDWA dst_unused: 0 pad, 1 sign extend, 2 preserve
  Format format = Format::none;
  uint8_t rows = 0;
  uint8_t omod = 0;
  bool clamp = false;
};

struct Stage {
  Handler core = nullptr;
  SourceStage source[3];
  ResultStage result;
  Dpp dpp;
  bool has_dpp = false;
  bool refresh = false;     // a source is vccz, execz or scc
  bool approximate = false; // count it: the hardware's rounding is unpublished
  RowRef scale[2];          // v_mfma_scale_*: the scale operands, from the first half of the instruction
  ScalarRef scale_scalar[2];
  uint8_t scale_splat = 0;      // bit k: scale k is scale_scalar[k], splatted into staging_scratch + k
  uint8_t scale_select[2] = {}; // byte of the scale dword
};

/// Op::run of staged instructions.
struct StageRunners {
  Handler general = nullptr;
  Handler splat[3] = {};   // source k is a 32-bit scalar register, splatted into its splat_row; nothing else
  Handler count = nullptr; // the instruction is approximate; nothing else
  Handler signs = nullptr; // scalar registers, neg and abs of 32-bit sources; nothing else
  Handler dpp = nullptr;   // DPP of a 32-bit source 0; nothing else
};

const StageRunners& stage_runners(); // of the chosen instruction set

} // namespace asmevo::machine
