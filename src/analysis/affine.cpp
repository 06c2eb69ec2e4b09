#include "analysis/affine.h"

#include <algorithm>
#include <array>
#include <bit>

namespace asmevo::analysis {
namespace {

constexpr uint64_t word_mask = 0xffffffff;
constexpr __int128 word_end = __int128{1} << 32;
int64_t as_signed(uint64_t value, unsigned bits) { return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits); }

unsigned trailing_zeros(uint64_t value) { return static_cast<unsigned>(std::countr_zero(value)); }

bool is_low_mask(uint64_t mask) { return (mask & (mask + 1)) == 0; }

} // namespace

Forms::Forms() { intern({}); }

FormId Forms::intern(Form form) {
  const auto [at, fresh] = form_ids_.emplace(std::move(form), static_cast<FormId>(forms_.size()));
  if (fresh) forms_.push_back(at->first);
  return at->second;
}

FormId Forms::symbol(const Symbol& symbol, const SymbolFacts& facts) {
  if (facts.most == 0) return constant(0);
  const auto [at, fresh] = symbol_ids_.emplace(symbol, static_cast<SymbolId>(symbols_.size()));
  if (fresh) {
    symbols_.push_back(symbol);
    facts_.push_back(facts);
  }
  return form_of(at->second);
}

std::optional<uint64_t> Forms::constant_of(FormId id) const {
  return forms_[id].terms.empty() ? std::optional(forms_[id].constant) : std::nullopt;
}

std::optional<SymbolId> Forms::symbol_of(FormId id) const {
  const Form& form = forms_[id];
  if (form.constant != 0 || form.terms.size() != 1 || form.terms[0].factor != 1) return std::nullopt;
  return form.terms[0].symbol;
}

Form Forms::reduced(const Form& a, unsigned bits) const {
  if (bits >= 64) return a;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  Form result{a.constant & mask, {}};
  for (const Term& term : a.terms)
    if ((term.factor & mask) != 0) result.terms.push_back({term.symbol, term.factor & mask});
  return result;
}

/// a + factor * b
Form Forms::sum(const Form& a, const Form& b, uint64_t factor) const {
  Form result{a.constant + factor * b.constant, {}};
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    Term term;
    if (y == b.terms.end() || (x != a.terms.end() && x->symbol < y->symbol)) {
      term = *x++;
    } else if (x == a.terms.end() || y->symbol < x->symbol) {
      term = {y->symbol, factor * y->factor};
      ++y;
    } else {
      term = {x->symbol, x->factor + factor * y->factor};
      ++x, ++y;
    }
    if (term.factor != 0) result.terms.push_back(term);
  }
  return result;
}

Form Forms::difference(const Form& a, const Form& b) const { return sum(a, b, ~uint64_t{0}); }

FormId Forms::add(FormId a, FormId b) { return word(sum(forms_[a], forms_[b], 1)); }
FormId Forms::subtract(FormId a, FormId b) { return word(sum(forms_[a], forms_[b], ~uint64_t{0})); }
FormId Forms::scale(FormId a, uint32_t factor) { return word(sum({}, forms_[a], factor)); }
FormId Forms::add64(FormId a, FormId b) { return intern(sum(forms_[a], forms_[b], 1)); }
FormId Forms::subtract64(FormId a, FormId b) { return intern(sum(forms_[a], forms_[b], ~uint64_t{0})); }
FormId Forms::scale64(FormId a, uint64_t factor) { return intern(sum({}, forms_[a], factor)); }

/// The product of two sums as the sum of products, unless there are many.
std::optional<FormId> Forms::distribute(const Form& a, const Form& b, unsigned bits) {
  constexpr size_t most_products = 16;
  if (a.terms.size() * b.terms.size() > most_products) return std::nullopt;
  Form result = sum(sum({}, b, a.constant), {0, a.terms}, b.constant);
  for (const Term& x : a.terms)
    for (const Term& y : b.terms) {
      const FormId first = form_of(std::min(x.symbol, y.symbol)), second = form_of(std::max(x.symbol, y.symbol));
      const unsigned low = std::min(63, facts_[x.symbol].zeros + facts_[y.symbol].zeros);
      const FormId product =
          derived(SymbolKind::product, std::array{first, second}, most_of(first) * most_of(second), low);
      result = sum(result, forms_[product], x.factor * y.factor);
    }
  return intern(reduced(result, bits));
}

FormId Forms::multiply(FormId a, FormId b) {
  if (const auto factor = constant_of(a)) return scale(b, static_cast<uint32_t>(*factor));
  if (const auto factor = constant_of(b)) return scale(a, static_cast<uint32_t>(*factor));
  if (const auto product = distribute(forms_[a], forms_[b], 32)) return *product;
  return multiply64(a, b, false);
}

FormId Forms::multiply64(FormId a, FormId b, bool is_signed) {
  const auto extend = [&](FormId x) { return is_signed ? sign_extend(x) : zero_extend(x); };
  const auto number = [&](uint64_t x) { return is_signed ? static_cast<uint64_t>(as_signed(x, 32)) : x; };
  if (const auto factor = constant_of(a)) return scale64(extend(b), number(*factor));
  if (const auto factor = constant_of(b)) return scale64(extend(a), number(*factor));
  // Where neither wraps, what holds for numbers holds for the pair.
  if (const auto x = unwrapped(a, is_signed), y = unwrapped(b, is_signed); x && y)
    if (const auto product = distribute(*x, *y, 64)) return *product;
  const std::array factors = {std::min(a, b), std::max(a, b)};
  const unsigned low = std::min(63u, zeros(forms_[a]) + zeros(forms_[b]));
  const bool alike = !is_signed || (most_of(a) <= word_mask / 2 && most_of(b) <= word_mask / 2);
  if (!alike) return derived(SymbolKind::product, factors, ~uint64_t{0}, low, 1);
  return derived(SymbolKind::product, factors, most_of(a) * most_of(b), low);
}

FormId Forms::derived(SymbolKind kind, std::span<const FormId> of, uint64_t most, unsigned zeros, uint64_t a) {
  const bool uniform = std::ranges::all_of(of, [&](FormId id) { return is_uniform(id); });
  return symbol({kind, a, 0, {of.begin(), of.end()}}, {most, uniform, static_cast<uint8_t>(zeros)});
}

FormId Forms::function(uint64_t which, std::span<const FormId> of, uint64_t most, unsigned zeros) {
  return derived(SymbolKind::function, of, most, zeros, which);
}

std::optional<Interval> Forms::interval(const Form& form, unsigned bits) const {
  constexpr __int128 far = __int128{1} << 100;
  Interval found{as_signed(form.constant, bits), as_signed(form.constant, bits)};
  for (const Term& term : form.terms) {
    if (facts_[term.symbol].most >= uint64_t{1} << 48) return std::nullopt;
    const __int128 reach = __int128{as_signed(term.factor, bits)} * facts_[term.symbol].most;
    (reach > 0 ? found.high : found.low) += reach;
    if (found.high > far || found.low < -far) return std::nullopt;
  }
  return found;
}

std::optional<Form> Forms::unwrapped(FormId id, bool is_signed) const {
  const auto range = interval(forms_[id], 32);
  if (!range) return std::nullopt;
  const __int128 least = is_signed ? -word_end / 2 : 0;
  Form result;
  for (const Term& term : forms_[id].terms)
    result.terms.push_back({term.symbol, static_cast<uint64_t>(as_signed(term.factor, 32))});
  const auto constant = static_cast<uint64_t>(as_signed(forms_[id].constant, 32));
  for (const __int128 shift : {__int128{0}, word_end, -word_end}) {
    if (range->low + shift < least || range->high + shift >= least + word_end) continue;
    result.constant = constant + static_cast<uint64_t>(shift);
    return result;
  }
  return std::nullopt;
}

uint64_t Forms::most_of(FormId id) const {
  const auto plain = unwrapped(id, false);
  if (!plain) return word_mask;
  return static_cast<uint64_t>(interval(*plain, 64)->high);
}

/// The word modulo 2^bits as a sum that stays in [0, 2^bits), where there is one.
std::optional<Form> Forms::below(const Form& form, unsigned bits) const {
  const Form low = reduced(form, bits);
  const auto range = interval(low, 64);
  if (!range || range->low < 0 || range->high >= __int128{1} << bits) return std::nullopt;
  return low;
}

FormId Forms::zero_extend(FormId word) {
  if (auto plain = unwrapped(word, false)) return intern(std::move(*plain));
  return derived(SymbolKind::zero_extended, std::span(&word, 1), word_mask, std::min(32u, zeros(forms_[word])));
}

FormId Forms::sign_extend(FormId word) {
  if (auto plain = unwrapped(word, true)) return intern(std::move(*plain));
  return derived(SymbolKind::sign_extended, std::span(&word, 1), ~uint64_t{0}, std::min(32u, zeros(forms_[word])));
}

FormId Forms::sign(FormId word) {
  if (const auto plain = unwrapped(word, true)) {
    const auto range = interval(*plain, 64);
    if (range->low >= 0) return constant(0);
    if (range->high < 0) return constant(word_mask);
  }
  return derived(SymbolKind::sign, std::span(&word, 1), word_mask);
}

FormId Forms::lower(FormId pair) {
  Form result{forms_[pair].constant, {}};
  for (const Term& term : forms_[pair].terms) {
    const Symbol& symbol = symbols_[term.symbol];
    const bool extended = symbol.kind == SymbolKind::zero_extended || symbol.kind == SymbolKind::sign_extended;
    FormId part = form_of(term.symbol);
    if (extended) part = symbol.of[0];
    // As if the factors had been multiplied as words.
    if (symbol.kind == SymbolKind::product) part = multiply(symbol.of[0], symbol.of[1]);
    result = sum(result, forms_[part], term.factor);
  }
  return word(std::move(result));
}

FormId Forms::upper(FormId pair) {
  const Form& form = forms_[pair];
  if (form.terms.empty()) return constant(form.constant >> 32);
  const auto range = interval(form, 64);
  if (range && range->low >= 0 && range->high < word_end) return constant(0);
  if (const auto only = symbol_of(pair); only && symbols_[*only].kind == SymbolKind::sign_extended)
    return sign(symbols_[*only].of[0]);
  return derived(SymbolKind::upper, std::span(&pair, 1), word_mask);
}

FormId Forms::pair(FormId low, FormId high) {
  if (high == constant(0)) return zero_extend(low);
  if (high == sign(low)) return sign_extend(low);
  // A half of a pair beside its other half, perhaps with something added to the upper one.
  for (const Term& term : forms_[high].terms) {
    const Symbol& symbol = symbols_[term.symbol];
    if (symbol.kind != SymbolKind::upper || term.factor != 1) continue;
    const FormId whole = symbol.of[0];
    if (lower(whole) != low) continue;
    return add64(whole, scale64(subtract(high, form_of(term.symbol)), uint64_t{1} << 32));
  }
  return add64(zero_extend(low), scale64(high, uint64_t{1} << 32));
}

bool Forms::is_split(FormId pair) const {
  return std::ranges::any_of(forms_[pair].terms, [](const Term& term) { return trailing_zeros(term.factor) >= 32; });
}

FormId Forms::carry(FormId a, FormId b, bool borrow) {
  return derived(borrow ? SymbolKind::borrow : SymbolKind::carry, std::array{a, b}, word_mask);
}

FormId Forms::shift_right(FormId a, unsigned by) {
  if (by == 0) return a;
  if (const auto plain = unwrapped(a, false)) {
    Form high{plain->constant >> by, {}}, low{plain->constant & ((uint64_t{1} << by) - 1), {}};
    high.constant = static_cast<uint64_t>(static_cast<int64_t>(plain->constant) >> by);
    for (const Term& term : plain->terms) {
      const bool whole = trailing_zeros(term.factor) >= by;
      const auto part = whole ? static_cast<uint64_t>(static_cast<int64_t>(term.factor) >> by) : term.factor;
      (whole ? high : low).terms.push_back({term.symbol, part});
    }
    const auto rest = interval(low, 64);
    if (rest && rest->low >= 0 && rest->high < __int128{1} << by) return word(std::move(high));
  }
  return function(word_function::shift_right, std::array{a, constant(by)}, most_of(a) >> by);
}

FormId Forms::conjunction(FormId a, uint32_t mask) {
  if (mask == word_mask) return a;
  if (mask == 0) return constant(0);
  if (const auto number = constant_of(a)) return constant(*number & mask);
  if (is_low_mask(mask)) {
    const auto bits = static_cast<unsigned>(std::popcount(mask));
    if (auto low = below(forms_[a], bits)) return intern(std::move(*low));
    const FormId low = intern(reduced(forms_[a], bits));
    return function(word_function::conjunction, std::array{low, constant(mask)}, mask,
                    std::min(31u, zeros(forms_[low])));
  }
  // The low bits cleared: what is below them is subtracted.
  const unsigned cleared = trailing_zeros(mask);
  if (is_low_mask(~mask & word_mask))
    if (const auto low = below(forms_[a], cleared)) return word(sum(forms_[a], *low, ~uint64_t{0}));
  // Bits above the mask do not matter.
  const FormId low = intern(reduced(forms_[a], static_cast<unsigned>(std::bit_width(mask))));
  return function(word_function::conjunction, std::array{low, constant(mask)}, mask, cleared);
}

namespace {

/// Whether no bit can be one in both: one has zeros where the other ends.
bool apart(unsigned zeros, uint64_t most) { return zeros >= 64 || most < uint64_t{1} << zeros; }

} // namespace

FormId Forms::disjunction(FormId a, FormId b) {
  if (apart(zeros(forms_[a]), most_of(b)) || apart(zeros(forms_[b]), most_of(a))) return add(a, b);
  if (constant_of(a) && constant_of(b)) return constant(*constant_of(a) | *constant_of(b));
  const unsigned low = std::min({31u, zeros(forms_[a]), zeros(forms_[b])});
  return function(word_function::disjunction, std::array{std::min(a, b), std::max(a, b)}, word_mask, low);
}

FormId Forms::exclusive(FormId a, FormId b) {
  if (apart(zeros(forms_[a]), most_of(b)) || apart(zeros(forms_[b]), most_of(a))) return add(a, b);
  if (constant_of(a) && constant_of(b)) return constant(*constant_of(a) ^ *constant_of(b));
  const unsigned low = std::min({31u, zeros(forms_[a]), zeros(forms_[b])});
  const uint64_t most = std::bit_ceil(std::max(most_of(a), most_of(b)) + 1) - 1;
  return function(word_function::exclusive, std::array{std::min(a, b), std::max(a, b)}, most, low);
}

unsigned Forms::zeros(const Form& form) const {
  unsigned low = trailing_zeros(form.constant);
  for (const Term& term : form.terms) low = std::min(low, trailing_zeros(term.factor) + facts_[term.symbol].zeros);
  return low;
}

bool Forms::is_uniform(FormId id) const {
  return std::ranges::all_of(forms_[id].terms, [&](const Term& term) { return facts_[term.symbol].uniform; });
}

} // namespace asmevo::analysis
