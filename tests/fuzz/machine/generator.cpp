// The generator writes a program as its grammar unfolds: phases of statements, statements of expressions, expressions
// by type. What makes a program good at finding faults is that values stay alive (every statement mixes variables that
// differ between work-items), that lanes diverge, and that the shapes an AMDGPU compiler knows an instruction for come
// up often: they are in the table of templates, where A, B, C stand for arguments of the types given.
#include "generator.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace asmevo::fuzz {

namespace {

using std::string;
using std::string_view;

enum Type : uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64, type_count };
constexpr std::array<string_view, type_count> names = {"i8",  "u8",  "i16", "u16", "i32", "u32",
                                                       "i64", "u64", "f16", "f32", "f64"};
constexpr std::array<unsigned, type_count> widths = {8, 8, 16, 16, 32, 32, 64, 64, 16, 32, 64};
constexpr bool is_float(Type t) { return t >= f16; }

/// An expression with holes: `$A`, `$B`, `$C` are filled with expressions of the types.
struct Template {
  Type result;
  string_view text;
  std::array<Type, 3> arguments{type_count, type_count, type_count};
};

constexpr Template templates[] = {
    // single instructions for integers
    {u32, "clz32($A)", {u32}},
    {u32, "ctz32($A)", {u32}},
    {u32, "clz64($A)", {u64}},
    {u32, "ctz64($A)", {u64}},
    {u32, "(u32)__builtin_popcount($A)", {u32}},
    {u32, "(u32)__builtin_popcountl($A)", {u64}},
    {u32, "__builtin_bitreverse32($A)", {u32}},
    {u64, "__builtin_bitreverse64($A)", {u64}},
    {u32, "__builtin_bswap32($A)", {u32}},
    {u64, "__builtin_bswap64($A)", {u64}},
    {u32, "high_u32($A, $B)", {u32, u32}},
    {i32, "high_i32($A, $B)", {i32, i32}},
    {u32, "mul24($A, $B)", {u32, u32}},
    {i32, "mul24_signed($A, $B)", {i32, i32}},
    {u32, "(mul24($A, $B) + $C)", {u32, u32, u32}},
    {i32, "(mul24_signed($A, $B) + $C)", {i32, i32, i32}},
    {u64, "((u64)$A * $B + $C)", {u32, u32, u64}},
    {i64, "((i64)$A * $B + $C)", {i32, i32, i64}},
    {u32, "field($A, $B, $C)", {u32, u32, u32}},
    {u32, "(($A >> 5) & 0x3f)", {u32}},
    {i32, "(($A << 9) >> 20)", {i32}},
    {i64, "(($A << 13) >> 40)", {i64}},
    {u32, "insert($A, $B, $C)", {u32, u32, u32}},
    {u32, "insert(0x00ffff00, $A, $B)", {u32, u32}},
    {u32, "funnel($A, $B, $C)", {u32, u32, u32}},
    {u32, "__builtin_rotateleft32($A, $B & 31)", {u32, u32}},
    {u64, "__builtin_rotateright64($A, $B & 63)", {u64, u32}},
    {u16, "__builtin_rotateleft16($A, $B & 15)", {u16, u16}},
    {u32, "distance($A, $B, $C)", {u32, u32, u32}},
    {i32, "med3_i32($A, $B, $C)", {i32, i32, i32}},
    {u32, "((($A + $B) << 3) + $C)", {u32, u32, u32}},
    {u32, "(($A << ($B & 31)) | $C)", {u32, u32, u32}},
    {u32, "(($A ^ $B) + $C)", {u32, u32, u32}},
    {u32, "(($A & $B) | $C)", {u32, u32, u32}},
    {u32, "($A ^ $B ^ $C)", {u32, u32, u32}},
    {u32, "($A + $B + $C)", {u32, u32, u32}},
    {u32, "($A | $B | $C)", {u32, u32, u32}},
    {i32, "__builtin_elementwise_abs($A)", {i32}},
    {i32, "__builtin_elementwise_max(__builtin_elementwise_max($A, $B), $C)", {i32, i32, i32}},
    {u32, "__builtin_elementwise_min(__builtin_elementwise_min($A, $B), $C)", {u32, u32, u32}},
    {u32, "__builtin_elementwise_add_sat($A, $B)", {u32, u32}},
    {u32, "__builtin_elementwise_sub_sat($A, $B)", {u32, u32}},
    {i32, "__builtin_elementwise_add_sat($A, $B)", {i32, i32}},
    {i32, "__builtin_elementwise_sub_sat($A, $B)", {i32, i32}},
    {i16, "__builtin_elementwise_add_sat($A, $B)", {i16, i16}},
    {u16, "__builtin_elementwise_sub_sat($A, $B)", {u16, u16}},
    {i64, "__builtin_elementwise_add_sat($A, $B)", {i64, i64}},
    {i64, "__builtin_elementwise_max($A, $B)", {i64, i64}},
    {u64, "__builtin_elementwise_min($A, $B)", {u64, u64}},
    {i16, "__builtin_elementwise_max($A, $B)", {i16, i16}},
    {u8, "__builtin_elementwise_min($A, $B)", {u8, u8}},
    {u32, "perm($A, $B, $C)", {u32, u32, u32}},
    {u32, "perm($A, $B, 0x0c060104)", {u32, u32}},
    {u32, "align_bytes($A, $B, $C)", {u32, u32, u32}},
    {u32, "sad_bytes($A, $B, $C)", {u32, u32, u32}},
    {u32, "masked_sad($A, $B, $C)", {u32, u32, u32}},
    {u32, "sad_halves($A, $B, $C)", {u32, u32, u32}},
    {u32, "average_bytes($A, $B, $C)", {u32, u32, u32}},
    {i32, "dot_bytes($A, $B, $C)", {u32, u32, u32}},
    {u32, "dot_bytes_saturated($A, $B, $C)", {u32, u32, u32}},
    {i32, "dot_nibbles($A, $B, $C)", {u32, u32, u32}},
    // conversions between floats and integers
    {i32, "f32_to_i32($A)", {f32}},
    {u32, "f32_to_u32($A)", {f32}},
    {i64, "f32_to_i64($A)", {f32}},
    {u64, "f32_to_u64($A)", {f32}},
    {i32, "f64_to_i32($A)", {f64}},
    {u32, "f64_to_u32($A)", {f64}},
    {i64, "f64_to_i64($A)", {f64}},
    {u64, "f64_to_u64($A)", {f64}},
    {i16, "f16_to_i16($A)", {f16}},
    {u16, "f16_to_u16($A)", {f16}},
    {i32, "f16_to_i32($A)", {f16}},
    {f32, "(f32)((u32)$A >> 8 & 255)", {u32}},
    {f32, "(f32)((u32)$A & 255)", {u32}},
    {f32, "(f32)((u32)$A >> 24)", {u32}},
    // floats
    {f32, "sqrt_f32(abs_f32($A))", {f32}},
    {f64, "sqrt_f64(abs_f64($A))", {f64}},
    {f16, "sqrt_f16(abs_f16($A))", {f16}},
    {f32, "(1.0f / $A)", {f32}},
    {f64, "(1.0 / $A)", {f64}},
    {f32, "fma_f32($A, $B, $C)", {f32, f32, f32}},
    {f64, "fma_f64($A, $B, $C)", {f64, f64, f64}},
    {f32, "ldexp_f32($A, $B & 63)", {f32, i32}},
    {f64, "ldexp_f64($A, ($B & 255) - 128)", {f64, i32}},
    {i32, "exponent_f32($A)", {f32}},
    {f32, "mantissa_f32($A)", {f32}},
    {i32, "exponent_f64($A)", {f64}},
    {f64, "mantissa_f64($A)", {f64}},
    {u32, "class_f32($A, $B)", {f32, u32}},
    {u32, "class_f64($A, $B)", {f64, u32}},
    {f32, "(f32)f32_to_f16($A)", {f32}},
    {f32, "(-$A * $B + 2.0f * abs_f32($C))", {f32, f32, f32}},
    {f32, "((f32)$A * (f32)$B + $C)", {f16, f16, f32}},
    {f32, "(($A - abs_f32($B)) * 0.5f)", {f32, f32}},
    {f16, "(($A + $B) * 4.0f16)", {f16, f16}},
    {f64, "(abs_f64($A) - $B)", {f64, f64}},
    // vectors
    {u32, "AS_IS(AS_IS($A, u32, u16x2) + AS_IS($B, u32, u16x2), u16x2, u32)", {u32, u32}},
    {u32, "AS_IS(AS_IS($A, u32, u16x2) * AS_IS($B, u32, u16x2) - AS_IS($C, u32, u16x2), u16x2, u32)", {u32, u32, u32}},
    {u32, "AS_IS(AS_IS($A, u32, u16x2) << (AS_IS($B, u32, u16x2) & (u16)15), u16x2, u32)", {u32, u32}},
    {u32, "AS_IS(AS_IS($A, u32, i16x2) >> (AS_IS($B, u32, i16x2) & (i16)15), i16x2, u32)", {u32, u32}},
    {u32, "AS_IS(__builtin_elementwise_max(AS_IS($A, u32, i16x2), AS_IS($B, u32, i16x2)), i16x2, u32)", {u32, u32}},
    {u32, "AS_IS(__builtin_elementwise_min(AS_IS($A, u32, u16x2), AS_IS($B, u32, u16x2).yx), u16x2, u32)", {u32, u32}},
    {u32, "AS_IS(__builtin_elementwise_add_sat(AS_IS($A, u32, i16x2), AS_IS($B, u32, i16x2)), i16x2, u32)", {u32, u32}},
    {u32, "AS_IS(__builtin_elementwise_sub_sat(AS_IS($A, u32, u16x2), AS_IS($B, u32, u16x2)), u16x2, u32)", {u32, u32}},
    {u32, "AS_IS(AS_IS($A, u32, u8x4) + AS_IS($B, u32, u8x4).wzyx, u8x4, u32)", {u32, u32}},
    {u32, "AS_IS(AS_IS($A, u32, u8x4) * AS_IS($B, u32, u8x4), u8x4, u32)", {u32, u32}},
    {u64, "AS_IS(AS_IS($A, u64, i32x2) * AS_IS($B, u64, i32x2).yx, i32x2, u64)", {u64, u64}},
    {f32, "({f16x2 a = {$A, $B}; f16x2 b = {$B, (f16)2}; a = a * b + a.yx; (f32)(a.x - a.y); })", {f16, f16}},
    {f16, "({f16x2 a = {$A, $B}; a = __builtin_elementwise_abs(a) - a.yy; a.x * a.y; })", {f16, f16}},
    {f32, "({f32x2 a = {$A, $B}, b = {$B, $C}; a = a * b + b.yx; a.x - a.y; })", {f32, f32, f32}},
    {f32, "({f32x4 a = {$A, $B, 1, $C}; a = a.wzyx * 0.25f + a; a.x + a.y - a.z * a.w; })", {f32, f32, f32}},
    {f64, "({f64x2 a = {$A, $B}; a = a.yx - a * 0.125; a.x * a.y; })", {f64, f64}},
    {u64, "({u16x4 a = AS_IS($A, u64, u16x4); AS_IS(a.xzwy + (u16)$B, u16x4, u64); })", {u64, u32}},
    {u32, "({u32x4 a = {$A, $B, $C, 9}; a[$A & 3] ^= $B; a[$C & 3]; })", {u32, u32, u32}},
};

/// Exchanges of a u32 between the work-items of a wave: names behind x_ and h_ in runtime.h.
constexpr string_view exchanges[] = {"first", "lane",   "swap",   "reverse",     "quad",      "left",
                                     "right", "around", "mirror", "half_mirror", "some_rows", "across"};

class Generator {
public:
  Generator(uint64_t seed, unsigned number) : random_(seed * 0x9e3779b97f4a7c15u + 1), number_(number) {}

  string program() {
    string text;
    table();
    for (unsigned k = 0, count = pick(3); k < count; ++k) function();
    const unsigned phases = 2 + pick(2);
    string body;
    for (unsigned k = 0; k < phases; ++k) {
      phase(k);
      body += fmt::format("  PHASE(phase{}_{})\n  MEET\n", number_, k);
      if (k + 1 < phases) body += exchange();
    }
    text += fmt::format("typedef struct {{\n{}}} S{};\n", variables(), number_);
    text += functions_ + start() + code_ + finish();
    text +=
        fmt::format("KERNEL({0}, S{0}) {{\n  BEGIN(S{0})\n  PHASE(start{0})\n  MEET\n{1}  FINISH(finish{0})\n}}\n\n",
                    number_, body);
    return text;
  }

private:
  std::mt19937_64 random_;
  unsigned number_;
  string functions_, code_;
  std::vector<Type> called_; // result types of the functions; function k takes (u32, type of k, f32)
  unsigned loops_ = 0, depth_ = 0;
  bool in_function_ = false;

  static constexpr unsigned kept = results_per_item - 2; // variables of the program
  static constexpr Type kept_types[kept] = {u32, i32, f32, u64, f64, f16, u16, i64, u8, i8, i16, f32, u32, i32};

  unsigned pick(unsigned count) { return unsigned(random_() % count); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  Type any_type() {
    constexpr Type weighted[] = {u32, u32, u32, i32, i32, f32, f32, f32, u64,
                                 i64, f64, f64, f16, f16, u16, i16, u8,  i8};
    return weighted[pick(std::size(weighted))];
  }

  string variables() {
    string text;
    for (unsigned k = 0; k < kept; ++k) text += fmt::format("  {} v{};\n", names[kept_types[k]], k);
    return text + "  u32 work[16];\n";
  }

  void table() {
    functions_ += fmt::format("CONSTANT u32 table{}[16] = {{", number_);
    for (unsigned k = 0; k < 16; ++k)
      functions_ += fmt::format("{}{:#x}u", k ? ", " : "", uint32_t(random_() >> pick(40)));
    functions_ += "};\n";
  }

  string literal(Type t) {
    const uint64_t bits = chance(40) ? random_() : chance(50) ? random_() % 65 : ~(random_() % 17);
    if (t == f32 || t == f64 || t == f16) {
      constexpr string_view edges[] = {"0",    "1",   "0.5", "2",   "4",   "3", "0.15915494309189532",
                                       "1e-4", "0.1", "100", "6e4", "1e-7"};
      const string_view edge = edges[pick(std::size(edges))];
      const bool negative = chance(40);
      if (edge == "0") return fmt::format("ZERO({})", names[t]);
      return fmt::format("({})({}{})", names[t], negative ? "-" : "", edge);
    }
    const uint64_t value = widths[t] == 64 ? bits : bits & ((uint64_t{1} << widths[t]) - 1);
    const bool ones_above = widths[t] == 64 && value >> 32 == 0xffffffff;
    if (ones_above) return fmt::format("ONES_ABOVE({}, {:#x}ul)", names[t], value);
    return fmt::format("({}){:#x}{}", names[t], value, widths[t] == 64 ? "ul" : "u");
  }

  string variable(Type t) {
    if (in_function_) {
      constexpr Type parameters[] = {u32, f32};
      const unsigned k = is_float(t) ? 1 : 0;
      return convert(fmt::format("p{}", k), parameters[k], t);
    }
    std::vector<unsigned> fit;
    for (unsigned k = 0; k < kept; ++k)
      if (kept_types[k] == t) fit.push_back(k);
    if (chance(70)) return fmt::format("s->v{}", fit[pick(unsigned(fit.size()))]);
    const unsigned k = pick(kept);
    return convert(fmt::format("s->v{}", k), kept_types[k], t);
  }

  string memory() {
    if (in_function_) return fmt::format("table{}[{} & 15]", number_, expression(u32, 0));
    switch (pick(6)) {
    case 0:
      return fmt::format("table{}[{}]", number_, pick(16));
    case 1:
      return fmt::format("table{}[{} & 15]", number_, expression(u32, 0));
    case 2:
      return fmt::format("s->work[{} & 15]", expression(u32, 0));
    case 3:
      return fmt::format("in[{} & 255]", expression(u32, 0));
    case 4:
      return fmt::format("(u32)((const GLOBAL {}*)in)[PLACE({} & 255)]", names[pick(4)], expression(u32, 0));
    default:
      return fmt::format("lds[item * slice + ({} & (slice - 1))]", expression(u32, 0));
    }
  }

  /// `text` of type `from` as a `to`, always defined.
  string convert(const string& text, Type from, Type to) {
    if (from == to) return text;
    if (from == f32 && to == f16) return fmt::format("f32_to_f16({})", text);
    if (!is_float(from) && widths[from] >= 32 && to == f16) return fmt::format("INT_TO_F16({})", text);
    if ((from == i8 || from == i16) && to == u16) return fmt::format("SIGNED_TO_U16({})", text);
    if (!is_float(from) || is_float(to)) return fmt::format("(({})({}))", names[to], text);
    if (from == f16) return fmt::format("({})f16_to_i32({})", names[to], text);
    const Type wide = widths[to] == 64 ? to : to % 2 ? u32 : i32;
    const string converted = fmt::format("{}_to_{}({})", names[from], names[wide], text);
    return wide == to ? converted : fmt::format("({}){}", names[to], converted);
  }

  string condition(unsigned depth) {
    const Type t = any_type();
    constexpr string_view compares[] = {"<", "<=", ">", ">=", "==", "!="};
    string text = fmt::format("({} {} {})", expression(t, depth), compares[pick(6)], expression(t, depth));
    if (is_float(t) && chance(15)) return fmt::format("!{}", text);
    if (depth && chance(20)) return fmt::format("({} {} {})", text, chance(50) ? "&&" : "||", condition(0));
    return text;
  }

  string from_template(Type t, unsigned depth) {
    std::vector<const Template*> fit;
    for (const Template& candidate : templates)
      if (candidate.result == t) fit.push_back(&candidate);
    if (fit.empty()) return binary(t, depth);
    const Template& chosen = *fit[pick(unsigned(fit.size()))];
    string arguments[3];
    for (unsigned k = 0; k < 3 && chosen.arguments[k] != type_count; ++k)
      arguments[k] = expression(chosen.arguments[k], depth);
    string text;
    for (size_t at = 0; at < chosen.text.size(); ++at) {
      if (chosen.text[at] != '$')
        text += chosen.text[at];
      else
        text += fmt::format("({})({})", names[chosen.arguments[unsigned(chosen.text[at + 1] - 'A')]],
                            arguments[chosen.text[at + 1] - 'A']),
            ++at;
    }
    return text;
  }

  string binary(Type t, unsigned depth) {
    const string a = expression(t, depth), b = expression(t, depth), name(names[t]);
    if (is_float(t)) {
      switch (pick(10)) {
      case 0:
      case 1:
        return fmt::format("({} + {})", a, b);
      case 2:
      case 3:
        return fmt::format("({} - {})", a, b);
      case 4:
      case 5:
        return fmt::format("({} * {})", a, b);
      case 6:
        return fmt::format("({} / {})", a, b);
      case 7:
        return fmt::format("{}_{}({}, {})", chance(50) ? "min" : "max", name, a, b);
      case 8:
        return fmt::format("{}_{}({})", chance(50) ? "clamp" : "abs", name, a);
      default:
        return chance(30)   ? fmt::format("med3_{}({}, {}, {})", name, a, b, expression(t, depth))
               : chance(50) ? fmt::format("sign_{}({}, {})", name, a, b)
                            : fmt::format("round_{}({}, {})", name, a, pick(4));
      }
    }
    constexpr string_view operators[] = {"+", "-", "*", "&", "|", "^"};
    switch (pick(10)) {
    case 0:
      return fmt::format("({})({} << ({} & {}))", name, a, b, widths[t] - 1);
    case 1:
      return fmt::format("({})({} >> ({} & {}))", name, a, b, widths[t] - 1);
    case 2:
      return fmt::format("{}_{}({}, {})", chance(50) ? "quotient" : "remainder", name, a, b);
    case 3:
      return fmt::format("({}){}{}", name, chance(50) ? "~" : "-", a);
    default:
      return fmt::format("({})({} {} {})", name, a, operators[pick(6)], b);
    }
  }

  /// The compiler would compute an expression of constants alone, and not the machine; and a zero that comes of it is
  /// one that it takes for a sign (docs/testing.md).
  string expression(Type t, unsigned depth) {
    string text = draw_expression(t, depth);
    constexpr string_view unknown[] = {"s->", "in[", "in)[", "lds[", "p0", "p1"};
    const bool known = std::ranges::none_of(unknown, [&](string_view part) { return text.contains(part); });
    const bool literal = std::ranges::count(text, '(') <= 2;
    return known && !literal && is_float(t) ? fmt::format("HIDDEN({}, {})", names[t], text) : text;
  }
  string draw_expression(Type t, unsigned depth) {
    const unsigned kind = depth == 0 ? pick(30) : 30 + pick(70);
    if (kind < 20) return variable(t);
    if (kind < 26) return literal(t);
    if (kind < 30) return depth_ < 2 ? deeper([&] { return convert(memory(), u32, t); }) : variable(t);
    if (kind < 62) return binary(t, depth - 1);
    if (kind < 80) return from_template(t, depth - 1);
    if (kind < 86) {
      const Type from = any_type();
      return convert(expression(from, depth - 1), from, t);
    }
    if (kind < 93)
      return fmt::format("({} ? {} : {})", condition(depth - 1), expression(t, depth - 1), expression(t, depth - 1));
    if (kind < 97 && !in_function_ && !called_.empty()) {
      const unsigned f = pick(unsigned(called_.size()));
      return convert(fmt::format("call{}_{}({}, {})", number_, f, expression(u32, 0), expression(f32, 0)), called_[f],
                     t);
    }
    return variable(t);
  }
  template <class F> string deeper(F f) {
    ++depth_;
    string text = f();
    --depth_;
    return text;
  }

  void function() {
    in_function_ = true;
    const Type t = any_type();
    const string value = expression(t, 2), other = expression(t, 1), when = condition(1);
    in_function_ = false;
    functions_ +=
        fmt::format("CALLED {0} call{1}_{2}(u32 p0, f32 p1) {{\n  if {3} return {4};\n  return {5};\n}}\n", names[t],
                    number_, called_.size(), when[0] == '(' ? when : "(" + when + ")", other, value);
    called_.push_back(t);
  }

  string assignment(const string& indent) {
    if (chance(12)) return fmt::format("{}s->work[{} & 15] = {};\n", indent, expression(u32, 1), expression(u32, 2));
    if (chance(10))
      return fmt::format("{}lds[item * slice + ({} & (slice - 1))] = {};\n", indent, expression(u32, 1),
                         expression(u32, 1));
    const unsigned k = pick(kept);
    return fmt::format("{}s->v{} = {};\n", indent, k, expression(kept_types[k], 1 + pick(3)));
  }

  string statement(const string& indent, unsigned nesting) {
    const unsigned kind = nesting ? pick(100) : pick(60);
    if (kind < 60) return assignment(indent);
    const string inner = indent + "  ";
    if (kind < 76) {
      string text = fmt::format("{}if ({}) {{\n{}{}}}", indent, condition(1), statements(inner, nesting - 1), indent);
      if (chance(50)) text += fmt::format(" else {{\n{}{}}}", statements(inner, nesting - 1), indent);
      return text + "\n";
    }
    if (kind < 90) {
      const unsigned id = loops_++;
      const string bound = chance(40) ? fmt::format("{}u", 1 + pick(6)) : fmt::format("({} & 7)", expression(u32, 0));
      string text = fmt::format("{0}for (u32 n{1} = 0, end{1} = {2}; n{1} < end{1}; ++n{1}) {{\n{3}s->v0 += n{1};\n",
                                indent, id, bound, inner);
      text += statements(inner, nesting - 1);
      if (chance(25))
        text += fmt::format("{}if {} {};\n", inner, "(" + condition(0) + ")", chance(50) ? "break" : "continue");
      return text + indent + "}\n";
    }
    // No case falls into the next: LLVM 22 loses values on the way (docs/testing.md).
    string text = fmt::format("{}switch ({} & 7) {{\n", indent, expression(u32, 1));
    for (unsigned k = 0, count = 2 + pick(5); k < count; ++k)
      text += fmt::format("{0}case {1}:\n{2}{3}break;\n", indent, k, assignment(inner), inner);
    return text + fmt::format("{}default:\n{}{}}}\n", indent, assignment(inner), indent);
  }
  string statements(const string& indent, unsigned nesting) {
    string text;
    for (unsigned k = 0, count = 1 + pick(4); k < count; ++k) text += statement(indent, nesting);
    return text;
  }

  void phase(unsigned k) {
    string body;
    for (unsigned n = 0, count = 2 + pick(4); n < count; ++n) body += statement("  ", 2);
    code_ +=
        fmt::format("INLINE void phase{0}_{1}(S{0}* s, u32 item, const GLOBAL u32* in, LOCAL u32* lds) {{\n{2}}}\n",
                    number_, k, body);
  }

  string exchange() {
    string text;
    if (chance(60))
      text += fmt::format("  EXCHANGE_BY(v0, v{}, v{}, x_pull, h_pull)\n", chance(50) ? 0 : 12, chance(50) ? 0 : 12);
    for (unsigned k = 0, count = pick(3); k < count; ++k) {
      const string_view name = exchanges[pick(std::size(exchanges))];
      const unsigned to = chance(50) ? 0 : 12;
      text += fmt::format("  EXCHANGE(v{}, v{}, x_{}, h_{})\n", to, chance(50) ? 0 : 12, name, name);
    }
    if (chance(40)) { // through LDS, from the other wave
      text += fmt::format("  PHASE(give{0})\n  MEET\n  PHASE(take{0})\n  MEET\n", number_);
      code_ += gives_ ? ""
                      : fmt::format("INLINE void give{0}(S{0}* s, u32 item, const GLOBAL u32* in, LOCAL u32* lds) {{\n"
                                    "  lds[item * slice + {1}] = s->v{2};\n}}\n"
                                    "INLINE void take{0}(S{0}* s, u32 item, const GLOBAL u32* in, LOCAL u32* lds) {{\n"
                                    "  s->v12 += lds[((item * {3} + {4}) & (items - 1)) * slice + {1}];\n}}\n",
                                    number_, pick(8), chance(50) ? 0 : 12, 1 + 2 * pick(32), pick(128));
      gives_ = true;
    }
    return text;
  }
  bool gives_ = false;

  string start() {
    string text = fmt::format("INLINE void start{0}(S{0}* s, u32 item, const GLOBAL u32* in, LOCAL u32* lds) {{\n"
                              "  u32 a = in[item], b = in[item + 128], c = a * 0x9e3779b9u + b;\n",
                              number_);
    for (unsigned k = 0; k < kept; ++k) {
      const Type t = kept_types[k];
      if (!is_float(t))
        text += fmt::format("  s->v{} = ({}){};\n", k, names[t],
                            widths[t] == 64 ? "((u64)a << 32 | c)"
                                            : fmt::format("({} >> {})", chance(50) ? "a" : "c", pick(12)));
      else
        text += fmt::format("  s->v{} = ({})((i32)(a >> {}) - {}) * ({}){};\n", k, names[t], 16 + pick(8), pick(300),
                            names[t], chance(50) ? "0.25" : "1.0625");
    }
    text += "  for (u32 k = 0; k < 16; ++k) s->work[k] = a + k * b;\n"
            "  for (u32 k = 0; k < slice; ++k) lds[item * slice + k] = c ^ k;\n}\n";
    return text;
  }

  string finish() {
    string text = fmt::format("INLINE void finish{0}(S{0}* s, GLOBAL u64* out) {{\n", number_);
    for (unsigned k = 0; k < kept; ++k) {
      const Type t = kept_types[k];
      text += is_float(t) ? fmt::format("  out[{} * items] = bits_{}(s->v{});\n", k, names[t], k)
                          : fmt::format("  out[{} * items] = (u64)s->v{};\n", k, k);
    }
    text += fmt::format("  u64 sum = 0;\n  for (u32 k = 0; k < 16; ++k) sum = mix(sum, s->work[k]);\n  out[{} * items] "
                        "= sum;\n  out[{} * items] = 1;\n}}\n",
                        kept, kept + 1);
    return text;
  }
};

} // namespace

string generate(uint64_t seed, unsigned number) { return Generator(seed, number).program(); }

} // namespace asmevo::fuzz
