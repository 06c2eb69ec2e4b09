// Sums, products by constants and halves of 64-bit sums: linear forms modulo 2^w.
#include "prove/term.h"

#include <algorithm>
#include <bit>

namespace asmevo::prove {
namespace {

constexpr size_t longest_form = 64; // a longer one keeps its two parts as atoms

constexpr uint64_t top_of(uint8_t width) { return uint64_t{1} << (width - 1); }

uint64_t& coefficient_of(Linear& form, Id atom) {
  const auto place = std::ranges::lower_bound(form.terms, atom, {}, &std::pair<Id, uint64_t>::first);
  if (place != form.terms.end() && place->first == atom) return place->second;
  return form.terms.insert(place, {atom, 0})->second;
}

uint64_t coefficient_in(const Linear& form, Id atom) {
  const auto place = std::ranges::lower_bound(form.terms, atom, {}, &std::pair<Id, uint64_t>::first);
  return place != form.terms.end() && place->first == atom ? place->second : 0;
}

void accumulate(Linear& form, const Linear& other, uint64_t factor) {
  for (const auto& [atom, coefficient] : other.terms) coefficient_of(form, atom) += coefficient * factor;
  form.constant += other.constant * factor;
}

} // namespace

Linear Terms::linear_of(Id a) const {
  const Term& term = terms_[a];
  steps_ += 1 + term.count;
  Linear form;
  if (term.kind == Kind::constant) {
    form.constant = term.payload;
  } else if (term.kind == Kind::linear) {
    const auto atoms = arguments(a);
    const auto factors = coefficients(a);
    for (size_t k = 0; k < atoms.size(); ++k) form.terms.emplace_back(atoms[k], factors[k]);
    form.constant = term.payload;
  } else if (term.kind == Kind::complement) {
    accumulate(form, linear_of(arguments(a)[0]), ~uint64_t{0});
    form.constant -= 1;
  } else {
    form.terms.emplace_back(a, 1);
  }
  return form;
}

Id Terms::from_linear(Linear form, uint8_t width) {
  const uint64_t all = mask(width);
  if (width == 64) fold_carries(form);
  for (auto& [atom, coefficient] : form.terms) coefficient &= all;
  std::erase_if(form.terms, [](const auto& term) { return term.second == 0; });
  form.constant &= all;
  if (form.terms.empty()) return constant(width, form.constant);
  if (form.terms.size() == 1 && form.terms[0].second == 1 && form.constant == 0) return form.terms[0].first;
  // -x - 1 is ~x, and has one spelling.
  if (form.constant == all && (form.terms[0].second & top_of(width)) != 0) {
    Linear negated;
    accumulate(negated, form, ~uint64_t{0});
    negated.constant = 0;
    const Id inner = from_linear(std::move(negated), width);
    return intern({.kind = Kind::complement, .width = width}, std::span(&inner, 1));
  }
  std::vector<Id> atoms;
  std::vector<uint64_t> factors;
  for (const auto& [atom, coefficient] : form.terms) {
    atoms.push_back(atom);
    factors.push_back(coefficient);
  }
  return intern({.kind = Kind::linear, .width = width, .payload = form.constant}, atoms, factors);
}

/// 64-bit sums that were made of words: the low sum zext(x + y) and 2^32 times its carry are zext(x) + zext(y); a low
/// difference less 2^32 times its borrow likewise; and low and high half of one value are that value.
bool Terms::fold_one_carry(Linear& form) {
  for (const auto& [atom, factor] : form.terms) {
    if (terms_[atom].kind != Kind::zero_extend || (factor & 0xffffffff) != 0 || factor == 0) continue;
    const Id word = arguments(atom)[0];
    if (terms_[word].kind == Kind::high) {
      const Id whole = arguments(word)[0], low_part = zero_extend(low(whole));
      const uint64_t times = coefficient_in(form, low_part);
      if (times == 0 || times << 32 != factor) continue;
      coefficient_of(form, atom) = 0;
      coefficient_of(form, low_part) = 0;
      accumulate(form, linear_of(whole), times);
      return true;
    }
    if (terms_[word].kind != Kind::choose || !is_constant(arguments(word)[1]) || !is_constant(arguments(word)[2]))
      continue;
    const Id carry = arguments(word)[0];
    const bool one = value(arguments(word)[1]) == 1 && value(arguments(word)[2]) == 0;
    if (!one || terms_[carry].kind != Kind::below || terms_[arguments(carry)[0]].width != 32) continue;
    const Id sum = arguments(carry)[0], part = arguments(carry)[1];
    const Id extended = zero_extend(sum);
    if (const uint64_t times = coefficient_in(form, extended); times != 0 && times << 32 == factor) {
      const Id rest = zero_extend(subtract(sum, part)), first = zero_extend(part);
      coefficient_of(form, atom) = 0;
      coefficient_of(form, extended) = 0;
      accumulate(form, linear_of(first), times);
      accumulate(form, linear_of(rest), times);
      return true;
    }
    const Id difference = zero_extend(subtract(sum, part));
    if (const uint64_t times = coefficient_in(form, difference);
        times != 0 && (~uint64_t{0} * (times << 32)) == factor) {
      const Id from = zero_extend(sum), taken = zero_extend(part);
      coefficient_of(form, atom) = 0;
      coefficient_of(form, difference) = 0;
      accumulate(form, linear_of(from), times);
      accumulate(form, linear_of(taken), ~uint64_t{0} * times);
      return true;
    }
  }
  return false;
}

void Terms::fold_carries(Linear& form) {
  while (fold_one_carry(form)) std::erase_if(form.terms, [](const auto& term) { return term.second == 0; });
}

Id Terms::add(Id a, Id b) {
  const uint8_t width = terms_[a].width;
  Linear form = linear_of(a), other = linear_of(b);
  if (form.terms.size() + other.terms.size() > longest_form) {
    form = {};
    other = {};
    coefficient_of(form, a) += 1;
    coefficient_of(form, b) += 1;
  }
  accumulate(form, other, 1);
  return from_linear(std::move(form), width);
}

Id Terms::subtract(Id a, Id b) { return add(a, negate(b)); }

Id Terms::negate(Id a) { return scale(a, ~uint64_t{0}); }

Id Terms::scale(Id a, uint64_t factor) {
  Linear form;
  accumulate(form, linear_of(a), factor);
  return from_linear(std::move(form), terms_[a].width);
}

Id Terms::multiply(Id a, Id b) {
  if (is_constant(a)) return scale(b, value(a));
  if (is_constant(b)) return scale(a, value(b));
  const Id factors[] = {std::min(a, b), std::max(a, b)};
  return intern({.kind = Kind::multiply, .width = terms_[a].width}, factors);
}

Id Terms::zero_extend(Id a) {
  const Term& term = terms_[a];
  if (term.kind == Kind::constant) return constant(64, term.payload);
  if (term.kind == Kind::low) {
    const Id whole = arguments(a)[0];
    if (terms_[whole].zeros >> 32 == 0xffffffff) return whole;
  }
  return intern({.kind = Kind::zero_extend, .width = 64}, std::span(&a, 1));
}

Id Terms::sign_extend(Id a) {
  const Term& term = terms_[a];
  if (term.kind == Kind::constant) return constant(64, uint64_t(int64_t(int32_t(term.payload))));
  if ((term.zeros & 0x80000000) != 0) return zero_extend(a);
  return intern({.kind = Kind::sign_extend, .width = 64}, std::span(&a, 1));
}

Id Terms::low(Id a) {
  return once(low_, a, [this](Id id) { return low_part(id); });
}

Id Terms::high(Id a) {
  return once(high_, a, [this](Id id) { return high_part(id); });
}

Id Terms::low_part(Id a) {
  const Term term = terms_[a];
  switch (term.kind) {
  case Kind::constant:
    return constant(32, term.payload);
  case Kind::zero_extend:
  case Kind::sign_extend:
    return arguments(a)[0];
  case Kind::choose: {
    const Id condition = arguments(a)[0], then = arguments(a)[1], otherwise = arguments(a)[2];
    const Id first = low(then), second = low(otherwise);
    return choose(condition, first, second);
  }
  case Kind::multiply: {
    const Id first = arguments(a)[0], second = arguments(a)[1];
    const Id one = low(first), two = low(second);
    return multiply(one, two);
  }
  case Kind::linear: {
    const Linear whole = linear_of(a);
    Linear form{.constant = whole.constant};
    for (const auto& [atom, factor] : whole.terms)
      if ((factor & 0xffffffff) != 0) accumulate(form, linear_of(low(atom)), factor);
    if (form.terms.size() > longest_form) return intern({.kind = Kind::low, .width = 32}, std::span(&a, 1));
    return from_linear(std::move(form), 32);
  }
  default:
    return intern({.kind = Kind::low, .width = 32}, std::span(&a, 1));
  }
}

Id Terms::high_part(Id a) {
  const Term term = terms_[a];
  switch (term.kind) {
  case Kind::constant:
    return constant(32, term.payload >> 32);
  case Kind::zero_extend:
    return constant(32, 0);
  case Kind::sign_extend:
    return shift_arithmetic(arguments(a)[0], constant(32, 31));
  case Kind::choose: {
    const Id condition = arguments(a)[0], then = arguments(a)[1], otherwise = arguments(a)[2];
    const Id first = high(then), second = high(otherwise);
    return choose(condition, first, second);
  }
  case Kind::linear:
    break;
  default:
    return intern({.kind = Kind::high, .width = 32}, std::span(&a, 1));
  }
  // Multiples of 2^32 do not touch the low half, so they add to the high half as they are.
  const Linear whole = linear_of(a);
  Linear upper{.constant = whole.constant >> 32}, rest{.constant = whole.constant & 0xffffffff};
  for (const auto& [atom, factor] : whole.terms) {
    if ((factor & 0xffffffff) == 0)
      accumulate(upper, linear_of(low(atom)), factor >> 32);
    else
      coefficient_of(rest, atom) += factor;
  }
  const auto extended = [&](size_t k) { return terms_[rest.terms[k].first].kind == Kind::zero_extend; };
  const auto word = [&](size_t k) { return arguments(rest.terms[k].first)[0]; };
  Id carry = constant(32, 0);
  const size_t parts = rest.terms.size() + (rest.constant != 0);
  if (parts == 1 && rest.terms.size() == 1 && rest.terms[0].second == 1 && extended(0)) {
    // Nothing is carried.
  } else if (parts == 2 && rest.terms.size() == 2 && extended(0) && extended(1) && rest.terms[0].second == 1 &&
             rest.terms[1].second == 1) {
    const Id first = word(0), second = word(1);
    carry = word_of(below(add(first, second), first));
  } else if (parts == 2 && rest.terms.size() == 1 && extended(0) && rest.terms[0].second == 1) {
    const Id first = word(0);
    carry = word_of(below(add(first, constant(32, rest.constant)), first));
  } else if (!rest.terms.empty()) {
    const bool difference = rest.terms.size() == 2 && rest.constant == 0 && extended(0) && extended(1) &&
                            rest.terms[0].second * rest.terms[1].second == ~uint64_t{0} &&
                            (rest.terms[0].second == 1 || rest.terms[1].second == 1);
    if (difference) {
      const size_t plus = rest.terms[0].second == 1 ? 0 : 1;
      const Id from = word(plus), taken = word(1 - plus);
      carry = negate(word_of(below(from, taken)));
    } else {
      const Id remaining = from_linear(std::move(rest), 64);
      if (terms_[remaining].zeros >> 32 != 0xffffffff)
        carry = remaining == a ? intern({.kind = Kind::high, .width = 32}, std::span(&a, 1)) : high(remaining);
    }
  }
  accumulate(upper, linear_of(carry), 1);
  if (upper.terms.size() > longest_form) return intern({.kind = Kind::high, .width = 32}, std::span(&a, 1));
  return from_linear(std::move(upper), 32);
}

Id Terms::pair(Id low_half, Id high_half) {
  const Term &first = terms_[low_half], &second = terms_[high_half];
  if (first.kind == Kind::choose && second.kind == Kind::choose && arguments(low_half)[0] == arguments(high_half)[0]) {
    const Id condition = arguments(low_half)[0];
    const Id low_then = arguments(low_half)[1], low_else = arguments(low_half)[2];
    const Id high_then = arguments(high_half)[1], high_else = arguments(high_half)[2];
    const Id then = pair(low_then, high_then), otherwise = pair(low_else, high_else);
    return choose(condition, then, otherwise);
  }
  Linear form = linear_of(zero_extend(low_half));
  const Linear upper = linear_of(high_half);
  for (const auto& [atom, factor] : upper.terms) accumulate(form, linear_of(zero_extend(atom)), factor << 32);
  form.constant += upper.constant << 32;
  return from_linear(std::move(form), 64);
}

Id Terms::masked_linear(Id a, uint64_t kept) {
  const uint8_t width = terms_[a].width;
  const uint64_t all = mask(width);
  const Linear form = linear_of(a);
  const uint64_t low_bits = ~kept & all; // what is cleared
  if (std::has_single_bit(low_bits + 1) && low_bits != all) {
    // The low bits are cleared: what has none of them passes by.
    Linear past, rest;
    const uint64_t touched = low_bits;
    const auto clear = [&](uint64_t zeros) { return (~zeros & touched) == 0; };
    for (const auto& [atom, factor] : form.terms) {
      const Id scaled = scale(atom, factor);
      const bool passes = clear(terms_[scaled].zeros);
      coefficient_of(passes ? past : rest, atom) += factor;
    }
    if ((form.constant & touched) == 0)
      past.constant = form.constant;
    else
      rest.constant = form.constant;
    if (past.terms.empty() && past.constant == 0) return a;
    const Id remaining = conjunction(from_linear(std::move(rest), width), constant(width, kept));
    accumulate(past, linear_of(remaining), 1);
    return from_linear(std::move(past), width);
  }
  if (std::has_single_bit(kept + 1)) {
    // Only low bits are kept: the form counts modulo a smaller power of two.
    Linear reduced{.constant = form.constant & kept};
    for (const auto& [atom, factor] : form.terms) coefficient_of(reduced, atom) = factor & kept;
    return from_linear(std::move(reduced), width);
  }
  return a;
}

std::pair<Id, uint64_t> Terms::split_constant(Id a) {
  if (terms_[a].kind == Kind::constant) return {constant(terms_[a].width, 0), terms_[a].payload};
  if (terms_[a].kind != Kind::linear) return {a, 0};
  Linear form = linear_of(a);
  const uint64_t offset = form.constant;
  form.constant = 0;
  return {from_linear(std::move(form), terms_[a].width), offset};
}

} // namespace asmevo::prove
