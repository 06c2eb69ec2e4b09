// The table and what follows from it.
#include "isa/mfma.h"

#include "isa/fields.h"

#include <algorithm>
#include <array>

namespace asmevo::isa {
namespace {

using enum MatrixType;

// name, M, N, K, blocks, types of A, B and C, sparse, passes on gfx908, gfx90a, gfx942, gfx950.
// Before gfx942 names have no block count. gfx950 drops xf32 and needs twice the passes for f64 16x16x4.
constexpr std::array table = {
    MatrixOp{"v_mfma_f32_32x32x1f32", 32, 32, 1, 2, f32, f32, f32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x1f32", 16, 16, 1, 4, f32, f32, f32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_4x4x1f32", 4, 4, 1, 16, f32, f32, f32, false, {2, 2, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x2f32", 32, 32, 2, 1, f32, f32, f32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x4f32", 16, 16, 4, 1, f32, f32, f32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x4f16", 32, 32, 4, 2, f16, f16, f32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x4f16", 16, 16, 4, 4, f16, f16, f32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_4x4x4f16", 4, 4, 4, 16, f16, f16, f32, false, {2, 2, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x8f16", 32, 32, 8, 1, f16, f16, f32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x16f16", 16, 16, 16, 1, f16, f16, f32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_i32_32x32x4i8", 32, 32, 4, 2, i8, i8, i32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_i32_16x16x4i8", 16, 16, 4, 4, i8, i8, i32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_i32_4x4x4i8", 4, 4, 4, 16, i8, i8, i32, false, {2, 2, 0, 0}},
    MatrixOp{"v_mfma_i32_32x32x8i8", 32, 32, 8, 1, i8, i8, i32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_i32_16x16x16i8", 16, 16, 16, 1, i8, i8, i32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x2bf16", 32, 32, 2, 2, bf16, bf16, f32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x2bf16", 16, 16, 2, 4, bf16, bf16, f32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_4x4x2bf16", 4, 4, 2, 16, bf16, bf16, f32, false, {2, 2, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x4bf16", 32, 32, 4, 1, bf16, bf16, f32, false, {16, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x8bf16", 16, 16, 8, 1, bf16, bf16, f32, false, {8, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x4bf16_1k", 32, 32, 4, 2, bf16, bf16, f32, false, {0, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x4bf16_1k", 16, 16, 4, 4, bf16, bf16, f32, false, {0, 8, 0, 0}},
    MatrixOp{"v_mfma_f32_4x4x4bf16_1k", 4, 4, 4, 16, bf16, bf16, f32, false, {0, 2, 0, 0}},
    MatrixOp{"v_mfma_f32_32x32x8bf16_1k", 32, 32, 8, 1, bf16, bf16, f32, false, {0, 16, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x16bf16_1k", 16, 16, 16, 1, bf16, bf16, f32, false, {0, 8, 0, 0}},
    MatrixOp{"v_mfma_f64_16x16x4f64", 16, 16, 4, 1, f64, f64, f64, false, {0, 8, 0, 0}},
    MatrixOp{"v_mfma_f64_4x4x4f64", 4, 4, 4, 4, f64, f64, f64, false, {0, 4, 0, 0}},
    MatrixOp{"v_mfma_f32_16x16x8_xf32", 16, 16, 8, 1, xf32, xf32, f32, false, {0, 0, 4, 0}},
    MatrixOp{"v_mfma_f32_32x32x4_xf32", 32, 32, 4, 1, xf32, xf32, f32, false, {0, 0, 8, 0}},
    MatrixOp{"v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, 2, f32, f32, f32, false, {0, 0, 16, 16}},
    MatrixOp{"v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, 4, f32, f32, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, 16, f32, f32, f32, false, {0, 0, 2, 2}},
    MatrixOp{"v_mfma_f32_32x32x2_f32", 32, 32, 2, 1, f32, f32, f32, false, {0, 0, 16, 16}},
    MatrixOp{"v_mfma_f32_16x16x4_f32", 16, 16, 4, 1, f32, f32, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, 2, f16, f16, f32, false, {0, 0, 16, 16}},
    MatrixOp{"v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, 4, f16, f16, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, 16, f16, f16, f32, false, {0, 0, 2, 2}},
    MatrixOp{"v_mfma_f32_32x32x8_f16", 32, 32, 8, 1, f16, f16, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_16x16x16_f16", 16, 16, 16, 1, f16, f16, f32, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, 2, i8, i8, i32, false, {0, 0, 16, 16}},
    MatrixOp{"v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, 4, i8, i8, i32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, 16, i8, i8, i32, false, {0, 0, 2, 2}},
    MatrixOp{"v_mfma_i32_32x32x16_i8", 32, 32, 16, 1, i8, i8, i32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_i32_16x16x32_i8", 16, 16, 32, 1, i8, i8, i32, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_f32_32x32x4_2b_bf16", 32, 32, 4, 2, bf16, bf16, f32, false, {0, 0, 16, 16}},
    MatrixOp{"v_mfma_f32_16x16x4_4b_bf16", 16, 16, 4, 4, bf16, bf16, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_4x4x4_16b_bf16", 4, 4, 4, 16, bf16, bf16, f32, false, {0, 0, 2, 2}},
    MatrixOp{"v_mfma_f32_32x32x8_bf16", 32, 32, 8, 1, bf16, bf16, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_16x16x16_bf16", 16, 16, 16, 1, bf16, bf16, f32, false, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_16x16x32_f16", 16, 16, 32, 1, f16, f16, f32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_32x32x16_f16", 32, 32, 16, 1, f16, f16, f32, true, {0, 0, 8, 8}},
    MatrixOp{"v_smfmac_f32_16x16x32_bf16", 16, 16, 32, 1, bf16, bf16, f32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_32x32x16_bf16", 32, 32, 16, 1, bf16, bf16, f32, true, {0, 0, 8, 8}},
    MatrixOp{"v_smfmac_i32_16x16x64_i8", 16, 16, 64, 1, i8, i8, i32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_i32_32x32x32_i8", 32, 32, 32, 1, i8, i8, i32, true, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f64_16x16x4_f64", 16, 16, 4, 1, f64, f64, f64, false, {0, 0, 8, 16}},
    MatrixOp{"v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, 4, f64, f64, f64, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_f32_16x16x32_bf8_bf8", 16, 16, 32, 1, bf8, bf8, f32, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_f32_16x16x32_bf8_fp8", 16, 16, 32, 1, bf8, fp8, f32, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_f32_16x16x32_fp8_bf8", 16, 16, 32, 1, fp8, bf8, f32, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_f32_16x16x32_fp8_fp8", 16, 16, 32, 1, fp8, fp8, f32, false, {0, 0, 4, 4}},
    MatrixOp{"v_mfma_f32_32x32x16_bf8_bf8", 32, 32, 16, 1, bf8, bf8, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_32x32x16_bf8_fp8", 32, 32, 16, 1, bf8, fp8, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_32x32x16_fp8_bf8", 32, 32, 16, 1, fp8, bf8, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_32x32x16_fp8_fp8", 32, 32, 16, 1, fp8, fp8, f32, false, {0, 0, 8, 8}},
    MatrixOp{"v_smfmac_f32_16x16x64_bf8_bf8", 16, 16, 64, 1, bf8, bf8, f32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_16x16x64_bf8_fp8", 16, 16, 64, 1, bf8, fp8, f32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_16x16x64_fp8_bf8", 16, 16, 64, 1, fp8, bf8, f32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_16x16x64_fp8_fp8", 16, 16, 64, 1, fp8, fp8, f32, true, {0, 0, 4, 4}},
    MatrixOp{"v_smfmac_f32_32x32x32_bf8_bf8", 32, 32, 32, 1, bf8, bf8, f32, true, {0, 0, 8, 8}},
    MatrixOp{"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, 32, 1, bf8, fp8, f32, true, {0, 0, 8, 8}},
    MatrixOp{"v_smfmac_f32_32x32x32_fp8_bf8", 32, 32, 32, 1, fp8, bf8, f32, true, {0, 0, 8, 8}},
    MatrixOp{"v_smfmac_f32_32x32x32_fp8_fp8", 32, 32, 32, 1, fp8, fp8, f32, true, {0, 0, 8, 8}},
    MatrixOp{"v_mfma_f32_16x16x128_f8f6f4", 16, 16, 128, 1, f8f6f4, f8f6f4, f32, false, {0, 0, 0, 8}},
    MatrixOp{"v_mfma_f32_16x16x32_bf16", 16, 16, 32, 1, bf16, bf16, f32, false, {0, 0, 0, 4}},
    MatrixOp{"v_mfma_f32_16x16x32_f16", 16, 16, 32, 1, f16, f16, f32, false, {0, 0, 0, 4}},
    MatrixOp{"v_mfma_f32_32x32x16_bf16", 32, 32, 16, 1, bf16, bf16, f32, false, {0, 0, 0, 8}},
    MatrixOp{"v_mfma_f32_32x32x16_f16", 32, 32, 16, 1, f16, f16, f32, false, {0, 0, 0, 8}},
    MatrixOp{"v_mfma_f32_32x32x64_f8f6f4", 32, 32, 64, 1, f8f6f4, f8f6f4, f32, false, {0, 0, 0, 16}},
    MatrixOp{"v_mfma_i32_16x16x64_i8", 16, 16, 64, 1, i8, i8, i32, false, {0, 0, 0, 4}},
    MatrixOp{"v_mfma_i32_32x32x32_i8", 32, 32, 32, 1, i8, i8, i32, false, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_f32_16x16x128_bf8_bf8", 16, 16, 128, 1, bf8, bf8, f32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_f32_16x16x128_bf8_fp8", 16, 16, 128, 1, bf8, fp8, f32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_f32_16x16x128_fp8_bf8", 16, 16, 128, 1, fp8, bf8, f32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_f32_16x16x128_fp8_fp8", 16, 16, 128, 1, fp8, fp8, f32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_f32_16x16x64_bf16", 16, 16, 64, 1, bf16, bf16, f32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_f32_16x16x64_f16", 16, 16, 64, 1, f16, f16, f32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_f32_32x32x32_bf16", 32, 32, 32, 1, bf16, bf16, f32, true, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_f32_32x32x32_f16", 32, 32, 32, 1, f16, f16, f32, true, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_f32_32x32x64_bf8_bf8", 32, 32, 64, 1, bf8, bf8, f32, true, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_f32_32x32x64_bf8_fp8", 32, 32, 64, 1, bf8, fp8, f32, true, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_f32_32x32x64_fp8_bf8", 32, 32, 64, 1, fp8, bf8, f32, true, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_f32_32x32x64_fp8_fp8", 32, 32, 64, 1, fp8, fp8, f32, true, {0, 0, 0, 8}},
    MatrixOp{"v_smfmac_i32_16x16x128_i8", 16, 16, 128, 1, i8, i8, i32, true, {0, 0, 0, 4}},
    MatrixOp{"v_smfmac_i32_32x32x64_i8", 32, 32, 64, 1, i8, i8, i32, true, {0, 0, 0, 8}},
};

constexpr unsigned lanes = 64;

unsigned registers(unsigned elements, MatrixType type) { return elements * bits_of(type) / (lanes * 32); }

constexpr std::string_view scaled_prefix = "v_mfma_scale_", plain_prefix = "v_mfma_";

bool has_eight_bits(MatrixType type) { return type == fp8 || type == bf8; }

MatrixType chosen_type(unsigned code) {
  constexpr MatrixType types[] = {fp8, bf8, fp6, bf6, fp4};
  return types[std::min(code, 4u)];
}

} // namespace

unsigned bits_of(MatrixType type) {
  switch (type) {
  case f64:
    return 64;
  case f16:
  case bf16:
    return 16;
  case i8:
  case fp8:
  case bf8:
  case f8f6f4:
    return 8;
  case fp6:
  case bf6:
    return 6;
  case fp4:
    return 4;
  default:
    return 32;
  }
}

unsigned MatrixOp::passes(Processor processor) const {
  switch (processor) {
  case Processor::gfx908:
    return passes_by_processor.gfx908;
  case Processor::gfx90a:
    return passes_by_processor.gfx90a;
  case Processor::gfx942:
    return passes_by_processor.gfx942;
  case Processor::gfx950:
    return passes_by_processor.gfx950;
  default:
    return 0;
  }
}

unsigned MatrixOp::a_registers() const { return registers(m * k * blocks, a) / (sparse ? 2 : 1); }
unsigned MatrixOp::b_registers() const { return registers(k * n * blocks, b); }
unsigned MatrixOp::c_registers() const { return registers(m * n * blocks, c); }

std::span<const MatrixOp> matrix_ops() { return table; }

const MatrixOp* matrix_op(std::string_view mnemonic) {
  std::string plain;
  if (mnemonic.starts_with(scaled_prefix)) {
    plain = std::string(plain_prefix) + std::string(mnemonic.substr(scaled_prefix.size()));
    mnemonic = plain;
  }
  const auto found = std::ranges::find(table, mnemonic, &MatrixOp::name);
  return found == table.end() ? nullptr : &*found;
}

MatrixTypes matrix_types(const Instruction& i, const MatrixOp& op) {
  if (op.a != f8f6f4) return {op.a, op.b};
  const fields::Mai mai = i.encoding == Encoding::vop3px2 ? fields::vop3px2(i.words).mai : fields::mai(i.words);
  return {chosen_type(mai.cbsz), chosen_type(mai.blgp)};
}

unsigned matrix_passes(const Instruction& i, Processor processor) {
  if (!i.traits.mfma) return 0;
  const MatrixOp* op = matrix_op(name_of(i));
  if (!op) return 0;
  const unsigned passes = op->passes(processor);
  if (op->a != f8f6f4) return passes;
  const MatrixTypes types = matrix_types(i, *op);
  return has_eight_bits(types.a) || has_eight_bits(types.b) ? passes : passes / 2;
}

unsigned coexecution_cycles(const MatrixOp& op, unsigned passes, Processor processor) {
  const unsigned cycles = 4 * passes;
  unsigned exclusive = op.sparse ? 8 : 4;
  if (processor == Processor::gfx908) exclusive = 8;
  const bool blocks_valu = op.a == f64 || (op.a == f32 && processor >= Processor::gfx942);
  return blocks_valu || cycles < exclusive ? 0 : cycles - exclusive;
}

} // namespace asmevo::isa
