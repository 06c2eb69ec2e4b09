// Vector instructions that can read another lane's operand while they compute.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace asmevo::search::rewrite {

/// Whether a VOP2 instruction gives the same with its sources swapped, so that either may come from another lane.
inline bool is_commutative(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 12> names = {"v_add_f32", "v_max_f32", "v_min_f32", "v_add_u32",
                                                      "v_max_i32", "v_min_i32", "v_max_u32", "v_min_u32",
                                                      "v_or_b32",  "v_and_b32", "v_xor_b32", "v_mul_f32"};
  return std::ranges::find(names, mnemonic) != names.end();
}

/// Every row and bank of lanes; lanes without a source read 0.
inline constexpr std::string_view all_lanes = "row_mask:0xf bank_mask:0xf bound_ctrl:1";

} // namespace asmevo::search::rewrite
