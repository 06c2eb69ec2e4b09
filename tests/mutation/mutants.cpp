#include "mutants.h"

#include "isa/codec.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace asmevo::mutation {

namespace {

using recover::Edit;
using recover::Item;
using recover::ItemKind;
using Edits = std::optional<std::vector<Edit>>;

// An instruction's text: mnemonic, operands, and what follows them without a comma ("offset:16 sc0").
struct Text {
  std::string mnemonic;
  std::vector<std::string> operands;
  std::string modifiers;

  explicit Text(std::string_view text) {
    const size_t space = std::min(text.find(' '), text.size());
    mnemonic = text.substr(0, space);
    std::string_view rest = text.substr(std::min(space + 1, text.size()));
    for (size_t depth = 0, begin = 0, i = 0; i <= rest.size(); ++i) {
      const char c = i < rest.size() ? rest[i] : ',';
      depth += c == '[' || c == '(';
      depth -= c == ']' || c == ')';
      if (c != ',' || depth) continue;
      operands.emplace_back(rest.substr(begin, i - begin));
      begin = i + 1;
      while (begin < rest.size() && rest[begin] == ' ') ++begin;
    }
    if (operands.empty()) return;
    std::string& last = operands.back();
    if (const size_t at = last.find(' '); at != std::string::npos) {
      modifiers = last.substr(at);
      last.resize(at);
    }
  }
  std::string text() const { return fmt::format("{} {}{}", mnemonic, fmt::join(operands, ", "), modifiers); }
  bool is(std::string_view prefix) const { return mnemonic.starts_with(prefix); }
};

class Maker {
public:
  Maker(const Kernel& kernel, uint64_t seed) : kernel_(kernel), random_(seed) {}

  size_t first() const { return kernel_.function->first + 1; }
  size_t last() const { return kernel_.function->last; }
  const Item& item(size_t i) const { return kernel_.program->items[i]; }
  bool usable(size_t i) const { return item(i).kind == ItemKind::instruction && !item(i).raw; }
  std::mt19937_64& random() { return random_; }
  const Kernel& kernel() const { return kernel_; }

  static Edits replace(size_t i, std::string text) { return std::vector{Edit{i, i + 1, std::move(text)}}; }

  /// Registers that the kernel does not use.
  uint32_t free_vgpr() const { return resources().vgprs; }
  uint32_t free_sgpr() const { return (resources().sgprs + 3) & ~3u; }

private:
  isa::Resources resources() const {
    auto scanned = recover::scan_resources(*kernel_.program, *kernel_.function);
    return scanned ? *scanned : isa::Resources{.vgprs = 256, .sgprs = 100};
  }

  Kernel kernel_;
  std::mt19937_64 random_;
};

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const bool negative = text.starts_with('-'), hex = text.find("0x") != std::string_view::npos;
  std::string_view digits = text.substr(negative + 2 * hex);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return negative ? -value : value;
}

// 4 of "s[4:7]", 8 of "s8".
std::optional<int64_t> first_register(std::string_view operand) {
  operand.remove_prefix(std::min(operand.find_first_of("0123456789"), operand.size()));
  return number(operand.substr(0, operand.find_first_of(":]")));
}

// "vmcnt(3)" and its like, one more.
Edits weaken_wait(Maker&, size_t i, const Text& t) {
  if (!t.is("s_waitcnt")) return std::nullopt;
  std::string text = t.text();
  const size_t open = text.find('('), close = text.find(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  const auto n = number(std::string_view(text).substr(open + 1, close - open - 1));
  if (!n) return std::nullopt;
  return Maker::replace(i, text.replace(open + 1, close - open - 1, std::to_string(*n + 1)));
}

Edits drop_wait(Maker&, size_t i, const Text& t) {
  if (!t.is("s_waitcnt")) return std::nullopt;
  return Maker::replace(i, "");
}

Edits drop_barrier(Maker&, size_t i, const Text& t) {
  if (!t.is("s_barrier")) return std::nullopt;
  return Maker::replace(i, "");
}

// Sources that do not commute.
Edits swap_operands(Maker&, size_t i, Text t) {
  static constexpr std::string_view orders[] = {"v_sub",    "v_subrev", "v_fma_",   "v_mad",  "v_cndmask",
                                                "v_cmp_lt", "v_cmp_gt", "v_lshl",   "v_lshr", "s_sub",
                                                "s_lshl",   "s_cmp_lt", "s_cmp_gt", "v_mfma"};
  if (std::ranges::none_of(orders, [&](auto o) { return t.is(o); }) || t.is("v_mad_u64")) return std::nullopt;
  const size_t from = t.is("s_cmp") ? 0 : 1;
  const size_t a = t.operands.size() >= from + 3 ? from + 1 : from;
  if (t.operands.size() < a + 2 || t.operands[a] == t.operands[a + 1]) return std::nullopt;
  std::swap(t.operands[a], t.operands[a + 1]);
  return Maker::replace(i, t.text());
}

struct Pair {
  std::string_view from, to;
};

Edits other_opcode(Maker&, size_t i, Text t) {
  static constexpr Pair pairs[] = {{"v_add_f32", "v_sub_f32"},        {"v_sub_f32", "v_add_f32"},
                                   {"v_max_f32", "v_min_f32"},        {"v_mul_f32", "v_add_f32"},
                                   {"v_pk_add_f32", "v_pk_mul_f32"},  {"v_pk_mul_f32", "v_pk_add_f32"},
                                   {"v_exp_f32", "v_log_f32"},        {"v_rcp_f32", "v_rsq_f32"},
                                   {"v_and_b32", "v_or_b32"},         {"v_or_b32", "v_xor_b32"},
                                   {"s_add_u32", "s_sub_u32"},        {"s_and_b32", "s_or_b32"},
                                   {"s_add_i32", "s_sub_i32"},        {"v_lshlrev_b32", "v_lshrrev_b32"},
                                   {"ds_add_u32", "ds_sub_u32"},      {"global_atomic_add ", "global_atomic_sub "},
                                   {"v_fma_f32", "v_fma_legacy_f32"}, {"v_add_u32", "v_sub_u32"}};
  for (const Pair& p : pairs) {
    if (!t.is(p.from)) continue;
    t.mnemonic.replace(0, p.from.size(), p.to);
    return Maker::replace(i, t.text());
  }
  return std::nullopt;
}

Edits change_immediate(Maker&, size_t i, Text t) {
  if (t.is("s_waitcnt") || t.is("s_nop") || t.is("s_cbranch") || t.is("s_branch") || t.is("s_load") || t.is("s_endpgm"))
    return std::nullopt;
  for (size_t k = t.operands.size(); k-- > 1;) {
    const auto value = number(t.operands[k]);
    if (!value) continue;
    // The last bit of a float is within any bound, so a high one of the fraction changes.
    const bool is_float = *value > 0xffffff && t.mnemonic.find("_f32") != std::string::npos;
    const int64_t other = is_float ? *value ^ 0x400000 : *value == 64 ? 63 : *value + 1;
    t.operands[k] = other > 64 ? fmt::format("{:#x}", other) : std::to_string(other);
    return Maker::replace(i, t.text());
  }
  return std::nullopt;
}

bool is_memory(const Text& t) {
  return t.is("global_") || t.is("buffer_") || t.is("ds_read") || t.is("ds_write") || t.is("flat_");
}

Edits change_offset(Maker&, size_t i, Text t) {
  if (!is_memory(t)) return std::nullopt;
  const size_t at = t.modifiers.find("offset:");
  if (at == std::string::npos) {
    t.modifiers += " offset:4";
    return Maker::replace(i, t.text());
  }
  size_t begin = at + 7, end = std::min(t.modifiers.find(' ', begin), t.modifiers.size());
  const auto offset = number(std::string_view(t.modifiers).substr(begin, end - begin));
  if (!offset) return std::nullopt;
  t.modifiers.replace(begin, end - begin, std::to_string(*offset >= 4 ? *offset - 4 : *offset + 4));
  return Maker::replace(i, t.text());
}

// Which lane, which half, which byte.
Edits change_selection(Maker&, size_t i, Text t) {
  static constexpr Pair pairs[] = {{"op_sel_hi:[1,0]", "op_sel_hi:[0,1]"},
                                   {"op_sel_hi:[0,1]", "op_sel_hi:[1,0]"},
                                   {"op_sel:[0,1]", "op_sel:[1,0]"},
                                   {"op_sel:[1,0]", "op_sel:[0,1]"},
                                   {"src0_sel:WORD_1", "src0_sel:WORD_0"},
                                   {"src1_sel:WORD_1", "src1_sel:WORD_0"},
                                   {"src0_sel:BYTE_0", "src0_sel:BYTE_1"},
                                   {"dst_sel:WORD_1", "dst_sel:WORD_0"},
                                   {"row_shr:1", "row_shr:2"},
                                   {"row_ror:8", "row_ror:4"},
                                   {"row_bcast:15", "row_bcast:31"},
                                   {"quad_perm:[1,0,", "quad_perm:[0,1,"},
                                   {"row_mask:0xa", "row_mask:0xf"},
                                   {"row_shr:2", "row_shr:3"},
                                   {"row_newbcast:0", "row_newbcast:1"},
                                   {"row_half_mirror", "row_mirror"},
                                   {"row_mirror", "row_half_mirror"}};
  for (const Pair& p : pairs)
    if (const size_t at = t.modifiers.find(p.from); at != std::string::npos) {
      t.modifiers.replace(at, p.from.size(), p.to);
      return Maker::replace(i, t.text());
    }
  if (t.is("v_pk_") && t.modifiers.find("op_sel") == std::string::npos && t.operands.size() == 3) {
    t.modifiers += " op_sel_hi:[0,1]";
    return Maker::replace(i, t.text());
  }
  if (t.is("v_add_f32_e32") && t.operands[1].starts_with('v')) { // the sign of an operand
    t.mnemonic.replace(t.mnemonic.size() - 3, 3, "e64");
    t.operands[1] = "-" + t.operands[1];
    return Maker::replace(i, t.text());
  }
  return std::nullopt;
}

// Bounds off by one: < for ≤ and the other way round.
Edits skip_the_tail(Maker&, size_t i, Text t) {
  static constexpr Pair pairs[] = {{"_lt_", "_le_"}, {"_gt_", "_ge_"}, {"_le_", "_lt_"}, {"_ge_", "_gt_"}};
  const bool is_integer = t.mnemonic.find("_i") != std::string::npos || t.mnemonic.find("_u") != std::string::npos;
  if ((!t.is("v_cmp") && !t.is("s_cmp")) || !is_integer) return std::nullopt;
  for (const Pair& p : pairs)
    if (const size_t at = t.mnemonic.find(p.from); at != std::string::npos) {
      t.mnemonic.replace(at, p.from.size(), p.to);
      return Maker::replace(i, t.text());
    }
  return std::nullopt;
}

Edits turn_a_branch(Maker&, size_t i, Text t) {
  static constexpr Pair pairs[] = {{"s_cbranch_scc0", "s_cbranch_scc1"},
                                   {"s_cbranch_scc1", "s_cbranch_scc0"},
                                   {"s_cbranch_vccz", "s_cbranch_vccnz"},
                                   {"s_cbranch_vccnz", "s_cbranch_vccz"},
                                   {"s_cbranch_execnz", "s_cbranch_execz"}};
  for (const Pair& p : pairs)
    if (t.mnemonic == p.from) {
      t.mnemonic = p.to;
      return Maker::replace(i, t.text());
    }
  return std::nullopt;
}

Edits widen_store(Maker&, size_t i, Text t) {
  const bool buffer = t.mnemonic == "buffer_store_dword", global = t.mnemonic == "global_store_dword";
  if (!buffer && !global) return std::nullopt;
  std::string& data = t.operands[global];
  const auto reg = data.starts_with('v') ? number(std::string_view(data).substr(1)) : std::nullopt;
  if (!reg) return std::nullopt;
  data = fmt::format("v[{}:{}]", *reg & ~1, *reg | 1);
  t.mnemonic += "x2";
  return Maker::replace(i, t.text());
}

Edits drop_mask(Maker&, size_t i, Text t) {
  if (!t.is("s_and_saveexec_b64") && !t.is("s_andn2_saveexec_b64")) return std::nullopt;
  return Maker::replace(i, fmt::format("s_mov_b64 {}, exec", t.operands[0]));
}

Edits round_otherwise(Maker&, size_t i, Text t) {
  static constexpr Pair pairs[] = {
      {"v_rndne_f32", "v_trunc_f32"}, {"v_cvt_f16_f32", "v_cvt_f16_u16"}, {"v_floor_f32", "v_ceil_f32"}};
  for (const Pair& p : pairs)
    if (t.is(p.from)) {
      t.mnemonic.replace(0, p.from.size(), p.to);
      return Maker::replace(i, t.text());
    }
  return std::nullopt;
}

// Toward zero from here on: MODE bits 0 to 3.
Edits round_toward_zero(Maker& make, size_t i, Text t) {
  if (!t.is("v_") || t.is("v_readfirstlane") || make.random()() % 8) return std::nullopt;
  return std::vector{Edit{i, i, "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15"}};
}

Edits stale_lds(Maker&, size_t i, Text t) {
  if (!t.is("ds_write")) return std::nullopt;
  return Maker::replace(i, "");
}

Edits end_early(Maker& make, size_t i, Text t) {
  if (t.is("s_endpgm") || make.random()() % 8) return std::nullopt;
  return std::vector{Edit{i, i, "s_endpgm"}};
}

Edits drop_instruction(Maker&, size_t i, Text t) {
  if (!t.is("v_") && !t.is("s_add") && !t.is("s_lshl") && !t.is("s_mul")) return std::nullopt;
  return Maker::replace(i, "");
}

Edits drop_store(Maker&, size_t i, Text t) {
  if (!t.is("global_store") && !t.is("buffer_store") && !t.is("global_atomic")) return std::nullopt;
  return Maker::replace(i, "");
}

// A scalar argument as it is in the timed case, whatever this launch says.
Edits compile_in_an_argument(Maker& make, size_t i, Text t) {
  if (!t.is("s_load_dword") || t.operands.size() < 3) return std::nullopt;
  const auto offset = number(t.operands[2]);
  const auto first = first_register(t.operands[0]);
  if (!offset || !first || !make.kernel().object->metadata) return std::nullopt;
  size_t wait = i;
  while (wait < make.last() && !make.item(wait).text.starts_with("s_waitcnt")) ++wait;
  if (wait == make.last()) return std::nullopt;
  const auto& given = make.kernel().timed->arguments;
  const auto& declared = make.kernel().object->metadata->args;
  size_t explicit_count = 0;
  const int64_t words = t.is("s_load_dwordx16")  ? 16
                        : t.is("s_load_dwordx8") ? 8
                        : t.is("s_load_dwordx4") ? 4
                        : t.is("s_load_dwordx2") ? 2
                                                 : 1;
  for (const auto& argument : declared) {
    if (argument.value_kind.starts_with("hidden")) continue;
    const size_t at = explicit_count++;
    if (argument.value_kind != "by_value" || argument.size != 4 || at >= given.size() || given[at].value.size() != 4)
      continue;
    const int64_t word = (int64_t(argument.offset) - *offset) / 4;
    if (word < 0 || word >= words) continue;
    uint32_t value = 0;
    std::memcpy(&value, given[at].value.data(), 4);
    return std::vector{Edit{wait + 1, wait + 1, fmt::format("s_mov_b32 s{}, {:#x}", *first + word, value)}};
  }
  return std::nullopt;
}

// Leaves alone what looks done already: an f32 of ordinary size at the place of the store.
Edits write_only_over_poison(Maker& make, size_t i, Text t) {
  if (t.mnemonic != "global_store_dword") return std::nullopt;
  const uint32_t v = make.free_vgpr(), s = make.free_sgpr();
  if (v + 2 > 256 || s + 4 > 100) return std::nullopt;
  return std::vector{Edit{
      i, i + 1,
      fmt::format(
          "global_load_dword v{0}, {1}, {2}{3}\nv_mov_b32_e32 v{4}, 0x49742400\ns_mov_b64 s[{5}:{6}], exec\n"
          "s_waitcnt vmcnt(0)\nv_cmp_lt_f32_e64 s[{7}:{8}], |v{0}|, v{4}\nv_cmp_neq_f32_e64 vcc, v{0}, 0\n"
          "s_and_b64 s[{7}:{8}], s[{7}:{8}], vcc\ns_andn2_b64 exec, exec, s[{7}:{8}]\n{9}\ns_mov_b64 exec, s[{5}:{6}]",
          v, t.operands[0], t.operands[2], t.modifiers, v + 1, s, s + 1, s + 2, s + 3, t.text())}};
}

struct Kind {
  std::string_view name;
  Edits (*make)(Maker&, size_t, const Text&);
};

template <Edits (*make)(Maker&, size_t, Text)> Edits by_value(Maker& m, size_t i, const Text& t) {
  return make(m, i, t);
}

constexpr Kind kinds[] = {{"drop a wait", drop_wait},
                          {"weaken a wait", weaken_wait},
                          {"drop a barrier", drop_barrier},
                          {"swap operands", by_value<swap_operands>},
                          {"other opcode", by_value<other_opcode>},
                          {"change an immediate", by_value<change_immediate>},
                          {"change an offset", by_value<change_offset>},
                          {"change a selection", by_value<change_selection>},
                          {"bound off by one", by_value<skip_the_tail>},
                          {"turn a branch", by_value<turn_a_branch>},
                          {"widen a store", by_value<widen_store>},
                          {"drop a mask", by_value<drop_mask>},
                          {"round otherwise", by_value<round_otherwise>},
                          {"round toward zero", by_value<round_toward_zero>},
                          {"stale LDS", by_value<stale_lds>},
                          {"end early", by_value<end_early>},
                          {"drop an instruction", by_value<drop_instruction>},
                          {"drop a store", by_value<drop_store>},
                          {"compile in an argument", by_value<compile_in_an_argument>},
                          {"write only over poison", by_value<write_only_over_poison>}};

} // namespace

std::vector<Mutant> mutants(const Kernel& kernel, size_t count, uint64_t seed) {
  Maker make(kernel, seed);
  std::vector<std::vector<Mutant>> made;
  for (const Kind& kind : kinds) {
    auto& of_kind = made.emplace_back();
    for (size_t i = make.first(); i < make.last(); ++i) {
      if (!make.usable(i)) continue;
      const Text text(make.item(i).text);
      if (auto edits = kind.make(make, i, text))
        of_kind.push_back({std::string(kind.name),
                           fmt::format("{:#x} {}", uint64_t(make.item(i).origin), make.item(i).text),
                           std::move(*edits)});
    }
    std::ranges::shuffle(of_kind, make.random());
  }
  std::vector<Mutant> chosen;
  for (size_t turn = 0; chosen.size() < count; ++turn) {
    const size_t before = chosen.size();
    for (auto& of_kind : made)
      if (turn < of_kind.size()) chosen.push_back(std::move(of_kind[turn]));
    if (chosen.size() == before) break;
  }
  return chosen;
}

} // namespace asmevo::mutation
