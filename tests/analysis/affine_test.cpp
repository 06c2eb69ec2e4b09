#include "analysis/affine.h"

#include <gtest/gtest.h>
#include <random>

namespace asmevo::analysis {
namespace {

/// Forms over a few symbols with known ranges, and their values for one choice of the symbols.
class Values {
public:
  explicit Values(uint32_t seed) : random_(seed) {
    constexpr uint64_t mosts[] = {3, 255, 1023, 0xffff, 0xffffffff};
    for (uint64_t most : mosts) {
      const FormId id = forms.symbol({SymbolKind::entry, values_.size(), 0, {}}, {most, true, 0});
      symbols.push_back(id);
      values_.push_back(random_() % 4 == 0 ? most : random_() & most);
    }
  }

  uint64_t value(const Form& form) {
    uint64_t sum = form.constant;
    for (const Term& term : form.terms) sum += term.factor * value(term.symbol);
    return sum;
  }
  uint32_t word(FormId id) { return uint32_t(value(forms[id])); }
  uint64_t pair(FormId id) { return value(forms[id]); }
  uint32_t any() { return uint32_t(random_()); }

  Forms forms;
  std::vector<FormId> symbols;

private:
  uint64_t value(SymbolId id) {
    const Symbol& s = forms.name(id);
    const auto of = [&](size_t k) { return value(forms[s.of[k]]); };
    switch (s.kind) {
    case SymbolKind::entry:
      return values_[s.a];
    case SymbolKind::zero_extended:
      return uint32_t(of(0));
    case SymbolKind::sign_extended:
      return uint64_t(int64_t{int32_t(of(0))});
    case SymbolKind::upper:
      return of(0) >> 32;
    case SymbolKind::sign:
      return int32_t(of(0)) < 0 ? 0xffffffff : 0;
    case SymbolKind::product:
      return s.a ? uint64_t(int64_t{int32_t(of(0))} * int32_t(of(1))) : uint64_t{uint32_t(of(0))} * uint32_t(of(1));
    case SymbolKind::function:
      break;
    default:
      ADD_FAILURE() << int(s.kind);
    }
    const auto a = uint32_t(of(0)), b = uint32_t(of(1));
    if (s.a == word_function::conjunction) return a & b;
    if (s.a == word_function::disjunction) return a | b;
    if (s.a == word_function::exclusive) return a ^ b;
    if (s.a == word_function::shift_right) return a >> b;
    ADD_FAILURE() << s.a;
    return 0;
  }

  std::mt19937 random_;
  std::vector<uint64_t> values_;
};

TEST(Affine, every_operation_on_forms_is_the_operation_on_their_values) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Values v(seed);
    Forms& f = v.forms;
    std::vector<FormId> words = v.symbols, pairs = {f.constant(0)};
    for (uint32_t n : {0u, 1u, 0x3ffu, 0xfffffff0u, 0x80000000u}) words.push_back(f.constant(n));
    const auto one_of = [&](std::vector<FormId>& ids) { return ids[v.any() % ids.size()]; };
    for (unsigned step = 0; step < 60; ++step) {
      const FormId a = one_of(words), b = one_of(words), p = one_of(pairs), q = one_of(pairs);
      const uint32_t x = v.word(a), y = v.word(b), n = v.any() % 32;
      const uint32_t masks[] = {0xff, 0x3ff, 0xfffffff0, 0xf0, v.any()};
      const uint32_t mask = masks[v.any() % 5];
      FormId word = 0, pair = 0;
      uint32_t expected = 0;
      uint64_t expected_pair = 0;
      switch (v.any() % 17) {
      case 0:
        word = f.add(a, b), expected = x + y;
        break;
      case 1:
        word = f.subtract(a, b), expected = x - y;
        break;
      case 2:
        word = f.scale(a, 1u << n), expected = x << n;
        break;
      case 3:
        word = f.multiply(a, b), expected = x * y;
        break;
      case 4:
        word = f.shift_right(a, n), expected = x >> n;
        break;
      case 5:
        word = f.conjunction(a, mask), expected = x & mask;
        break;
      case 6:
        word = f.disjunction(a, b), expected = x | y;
        break;
      case 7:
        word = f.exclusive(a, b), expected = x ^ y;
        break;
      case 8:
        word = f.sign(a), expected = int32_t(x) < 0 ? ~0u : 0;
        break;
      case 9:
        word = f.lower(p), expected = uint32_t(v.pair(p));
        break;
      case 10:
        word = f.upper(p), expected = uint32_t(v.pair(p) >> 32);
        break;
      case 11:
        pair = f.zero_extend(a), expected_pair = x;
        break;
      case 12:
        pair = f.sign_extend(a), expected_pair = uint64_t(int64_t{int32_t(x)});
        break;
      case 13:
        pair = f.pair(a, b), expected_pair = x | uint64_t{y} << 32;
        break;
      case 14:
        pair = f.add64(p, q), expected_pair = v.pair(p) + v.pair(q);
        break;
      case 15:
        pair = f.multiply64(a, b, false), expected_pair = uint64_t{x} * y;
        break;
      case 16:
        pair = f.multiply64(a, b, true), expected_pair = uint64_t(int64_t{int32_t(x)} * int32_t(y));
        break;
      }
      ASSERT_EQ(v.word(word), expected) << seed << " " << step;
      ASSERT_EQ(v.pair(pair), expected_pair) << seed << " " << step;
      if (const auto range = f.interval(f[pair], 64)) {
        // Some number of the interval is the pair, modulo 2^64.
        const __int128 size = range->high - range->low;
        ASSERT_TRUE(uint64_t(expected_pair - uint64_t(range->low)) <= size) << seed << " " << step;
      }
      ASSERT_TRUE(f.zeros(f[word]) >= 32 || expected % (uint64_t{1} << f.zeros(f[word])) == 0) << seed << " " << step;
      if (f[word].terms.size() < 6) words.push_back(word);
      if (f[pair].terms.size() < 6) pairs.push_back(pair);
    }
  }
}

TEST(Affine, halves_that_were_split_make_the_pair_again) {
  Values v(1);
  Forms& f = v.forms;
  const FormId pair = f.add64(f.scale64(f.zero_extend(v.symbols[4]), 4), f.constant(16));
  EXPECT_EQ(f.pair(f.lower(pair), f.upper(pair)), pair);
}

TEST(Affine, equal_sums_are_one_form_however_they_came_about) {
  Values v(2);
  Forms& f = v.forms;
  const FormId x = v.symbols[1], y = v.symbols[2];
  EXPECT_EQ(f.scale(f.add(x, y), 4), f.add(f.scale(y, 4), f.scale(x, 4)));
  EXPECT_EQ(f.subtract(f.add(x, y), y), x);
  EXPECT_EQ(f.disjunction(f.scale(x, 1024), y), f.add(f.scale(x, 1024), y)); // y has ten bits
  EXPECT_EQ(f.conjunction(f.add(f.scale(x, 1024), y), 1023), y);
  EXPECT_EQ(f.shift_right(f.add(f.scale(x, 1024), y), 10), x);
}

} // namespace
} // namespace asmevo::analysis
