// Bitwise operations, shifts, choices and comparisons, and the masks of lanes.
//
// Truths have one form: conjunctions and complements (a or b is not (not a and not b)). Words also have disjunctions,
// unless the operands have no bit in common: then the disjunction is a sum, and joins the linear forms.
#include "prove/term.h"

#include <algorithm>
#include <bit>

namespace asmevo::prove {

bool Terms::complementary(Id a, Id b) const {
  return (terms_[a].kind == Kind::complement && arguments(a)[0] == b) ||
         (terms_[b].kind == Kind::complement && arguments(b)[0] == a);
}

Id Terms::complement(Id a) {
  const Term term = terms_[a];
  const uint64_t all = mask(term.width);
  switch (term.kind) {
  case Kind::constant:
    return constant(term.width, ~term.payload);
  case Kind::complement:
    return arguments(a)[0];
  case Kind::linear:
    // The linear forms spell ~x as a complement where x has no constant and begins with a positive coefficient.
    if (term.payload != 0 || (coefficients(a)[0] & (all ^ all >> 1)) != 0)
      return subtract(constant(term.width, all), a);
    break;
  case Kind::disjunction: {
    const std::vector<Id> parts(arguments(a).begin(), arguments(a).end());
    Id result = constant(term.width, all);
    for (Id part : parts) result = conjunction(result, complement(part));
    return result;
  }
  default:
    break;
  }
  return intern({.kind = Kind::complement, .width = term.width}, std::span(&a, 1));
}

/// Whether `part` is an operation of the other kind on something that stands beside it: a | (a & b) is a.
bool Terms::absorbed(Id part, Kind kind, const std::vector<Id>& beside) const {
  if (terms_[part].kind != kind) return false;
  return std::ranges::any_of(arguments(part), [&](Id inner) { return std::ranges::binary_search(beside, inner); });
}

/// Conjuncts that others make superfluous: in a lane whose bit of a mask is set, the mask is not 0.
Id Terms::absorbed_conjunction(std::vector<Id>& parts, uint8_t width, uint64_t rest) {
  if (width == 1) {
    const std::vector<Id> all = parts;
    const auto present = [&](Id id) { return std::ranges::find(all, id) != all.end(); };
    const auto selects_lane = [&](Id mask) {
      const Id selected = lane_bit(mask);
      if (terms_[selected].kind != Kind::conjunction) return present(selected);
      return std::ranges::all_of(arguments(selected), present);
    };
    const auto superfluous = [&](Id part) {
      if (terms_[part].kind != Kind::complement) return false;
      const Id inner = arguments(part)[0];
      if (terms_[inner].kind == Kind::equal) {
        const Id first = arguments(inner)[0], second = arguments(inner)[1];
        const auto zero = [&](Id id) { return is_constant(id) && value(id) == 0 && terms_[id].width == 64; };
        return (zero(first) && selects_lane(second)) || (zero(second) && selects_lane(first));
      }
      // ~(a & b) beside ~a.
      if (terms_[inner].kind != Kind::conjunction) return false;
      const std::vector<Id> denied(arguments(inner).begin(), arguments(inner).end());
      return std::ranges::any_of(denied, [&](Id d) { return present(complement(d)); });
    };
    std::erase_if(parts, superfluous);
    // a & ~(a & b) is a & ~b.
    for (size_t k = 0; k < parts.size(); ++k) {
      if (terms_[parts[k]].kind != Kind::complement) continue;
      const Id inner = arguments(parts[k])[0];
      if (terms_[inner].kind != Kind::conjunction) continue;
      std::vector<Id> remaining;
      for (Id d : arguments(inner))
        if (std::ranges::find(parts, d) == parts.end()) remaining.push_back(d);
      if (remaining.size() == terms_[inner].count) continue;
      Id product = true_;
      for (Id d : remaining) product = conjunction(product, d);
      std::vector<Id> others = parts;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
      Id result = complement(product);
      for (Id other : others) result = conjunction(result, other);
      return result;
    }
  }
  const std::vector<Id> beside = parts;
  std::erase_if(parts, [&](Id part) { return absorbed(part, Kind::disjunction, beside); });
  if (rest != mask(width)) parts.push_back(constant(width, rest));
  std::ranges::sort(parts);
  if (parts.empty()) return constant(width, mask(width));
  if (parts.size() == 1) return parts[0];
  return intern({.kind = Kind::conjunction, .width = width}, parts);
}

Id Terms::conjunction(Id a, Id b) {
  const uint8_t width = terms_[a].width;
  const uint64_t all = mask(width);
  uint64_t rest = all, zeros = 0;
  std::vector<Id> parts;
  const auto gather = [&](Id id) {
    if (is_constant(id)) {
      rest &= value(id);
    } else if (terms_[id].kind == Kind::conjunction) {
      for (Id part : arguments(id)) {
        if (is_constant(part))
          rest &= value(part);
        else
          parts.push_back(part);
      }
    } else {
      parts.push_back(id);
    }
  };
  gather(a);
  gather(b);
  std::ranges::sort(parts);
  parts.erase(std::ranges::unique(parts).begin(), parts.end());
  for (Id part : parts) zeros |= terms_[part].zeros;
  if (((rest & ~zeros) & all) == 0) return constant(width, 0);
  for (size_t k = 0; k < parts.size(); ++k) {
    if (terms_[parts[k]].kind != Kind::complement) continue;
    if (std::ranges::binary_search(parts, arguments(parts[k])[0])) return constant(width, 0);
  }
  // Bits that are 0 anyway need no mask.
  if (((~rest & ~zeros) & all) == 0) rest = all;
  if (parts.size() == 1 && rest != all && terms_[parts[0]].kind == Kind::linear) {
    const Id reduced = masked_linear(parts[0], rest);
    if (reduced != parts[0]) {
      const bool low_cleared = std::has_single_bit((~rest & all) + 1);
      return low_cleared ? reduced : conjunction(reduced, constant(width, rest));
    }
  }
  // A mask says nothing about the bits that are 0 anyway: they are clear in it, so that it has one spelling.
  if (rest != all && !parts.empty()) rest &= ~zeros;
  return absorbed_conjunction(parts, width, rest);
}

Id Terms::disjunction(Id a, Id b) {
  const uint8_t width = terms_[a].width;
  if (width == 1) {
    const Id neither = conjunction(complement(a), complement(b));
    return complement(neither);
  }
  const uint64_t all = mask(width);
  if (a == b) return a;
  if (complementary(a, b)) return constant(width, all);
  if ((is_constant(a) && value(a) == all) || (is_constant(b) && value(b) == all)) return constant(width, all);
  if (((terms_[a].zeros | terms_[b].zeros) & all) == all) return add(a, b);
  if (terms_[a].kind == Kind::complement && terms_[b].kind == Kind::complement) {
    const Id first = arguments(a)[0], second = arguments(b)[0];
    return complement(conjunction(first, second));
  }
  return nary(Kind::disjunction, a, b);
}

Id Terms::exclusive(Id a, Id b) {
  const uint8_t width = terms_[a].width;
  const uint64_t all = mask(width);
  if (terms_[a].kind == Kind::complement) {
    const Id inner = arguments(a)[0];
    return complement(exclusive(inner, b));
  }
  if (terms_[b].kind == Kind::complement) {
    const Id inner = arguments(b)[0];
    return complement(exclusive(a, inner));
  }
  if (is_constant(a) && value(a) == all) return complement(b);
  if (is_constant(b) && value(b) == all) return complement(a);
  if (width > 1 && ((terms_[a].zeros | terms_[b].zeros) & all) == all) return add(a, b);
  return nary(Kind::exclusive, a, b);
}

/// Flattened, sorted, the constant folded.
Id Terms::nary(Kind kind, Id a, Id b) {
  const uint8_t width = terms_[a].width;
  uint64_t folded = 0;
  std::vector<Id> parts;
  const auto gather = [&](Id id) {
    const auto take = [&](Id part) {
      if (!is_constant(part))
        parts.push_back(part);
      else if (kind == Kind::disjunction)
        folded |= value(part);
      else
        folded ^= value(part);
    };
    if (terms_[id].kind == kind)
      for (Id part : arguments(id)) take(part);
    else
      take(id);
  };
  gather(a);
  gather(b);
  std::ranges::sort(parts);
  if (kind == Kind::disjunction) {
    parts.erase(std::ranges::unique(parts).begin(), parts.end());
    const std::vector<Id> beside = parts;
    std::erase_if(parts, [&](Id part) { return absorbed(part, Kind::conjunction, beside); });
  } else {
    std::vector<Id> odd; // x ^ x is 0
    for (Id part : parts) {
      if (!odd.empty() && odd.back() == part)
        odd.pop_back();
      else
        odd.push_back(part);
    }
    parts = std::move(odd);
  }
  if (folded != 0) parts.push_back(constant(width, folded));
  std::ranges::sort(parts);
  if (parts.empty()) return constant(width, 0);
  if (parts.size() == 1) return parts[0];
  return intern({.kind = kind, .width = width}, parts);
}

Id Terms::shift_left(Id a, Id amount) {
  if (is_constant(amount)) return scale(a, uint64_t{1} << value(amount));
  if (is_constant(a) && value(a) == 0) return a;
  const Id arguments[] = {a, amount};
  return intern({.kind = Kind::shift_left, .width = terms_[a].width}, arguments);
}

Id Terms::shift_right(Id a, Id amount) {
  const Term term = terms_[a];
  const uint8_t width = term.width;
  const uint64_t all = mask(width);
  if (is_constant(a) && (value(a) == 0 || is_constant(amount)))
    return constant(width, value(a) == 0 ? 0 : value(a) >> value(amount));
  if (is_constant(amount)) {
    const uint64_t n = value(amount);
    if (n == 0) return a;
    if (((~term.zeros & all) >> n) == 0) return constant(width, 0);
    if (width == 64 && n >= 32) return zero_extend(shift_right(high(a), constant(32, n - 32)));
    if (term.kind == Kind::shift_right && is_constant(arguments(a)[1])) {
      const Id inner = arguments(a)[0];
      const uint64_t sum = n + value(arguments(a)[1]);
      return sum < width ? shift_right(inner, constant(32, sum)) : constant(width, 0);
    }
    const auto constant_part = [&](Id part) { return is_constant(part); };
    if (term.kind == Kind::conjunction && std::ranges::any_of(arguments(a), constant_part)) {
      const std::vector<Id> parts(arguments(a).begin(), arguments(a).end());
      Id result = constant(width, all);
      for (Id part : parts) result = conjunction(result, shift_right(part, amount));
      return result;
    }
    if (term.kind == Kind::linear && term.count == 1 && term.payload == 0 && std::has_single_bit(coefficients(a)[0])) {
      const auto k = uint64_t(std::countr_zero(coefficients(a)[0]));
      const Id field = conjunction(arguments(a)[0], constant(width, all >> k));
      return k >= n ? scale(field, uint64_t{1} << (k - n)) : shift_right(field, constant(32, n - k));
    }
  }
  const Id arguments[] = {a, amount};
  return intern({.kind = Kind::shift_right, .width = width}, arguments);
}

Id Terms::shift_arithmetic(Id a, Id amount) {
  const Term term = terms_[a];
  const uint8_t width = term.width;
  if ((term.zeros >> (width - 1) & 1) != 0) return shift_right(a, amount);
  if (is_constant(amount)) {
    const uint64_t n = value(amount);
    if (n == 0) return a;
    if (is_constant(a)) {
      const int64_t number = width == 64 ? int64_t(value(a)) : int64_t(int32_t(value(a)));
      return constant(width, uint64_t(number >> n));
    }
    if (width == 64 && n >= 32) return sign_extend(shift_arithmetic(high(a), constant(32, n - 32)));
    if (term.kind == Kind::shift_arithmetic && is_constant(arguments(a)[1])) {
      const Id inner = arguments(a)[0];
      const uint64_t sum = std::min<uint64_t>(n + value(arguments(a)[1]), width - 1u);
      return shift_arithmetic(inner, constant(32, sum));
    }
  }
  const Id arguments[] = {a, amount};
  return intern({.kind = Kind::shift_arithmetic, .width = width}, arguments);
}

Id Terms::choose(Id condition, Id a, Id b) {
  if (is_constant(condition)) return value(condition) != 0 ? a : b;
  if (terms_[condition].kind == Kind::complement) return choose(arguments(condition)[0], b, a);
  a = given(condition, a);
  b = given(complement(condition), b);
  if (a == b) return a;
  const uint8_t width = terms_[a].width;
  if (width == 1) {
    const Id then = conjunction(condition, a), otherwise = conjunction(complement(condition), b);
    if (is_constant(a) || is_constant(b) || a == condition || b == condition) return disjunction(then, otherwise);
    if (complementary(a, b)) return complement(exclusive(condition, a));
  }
  const auto part = [&](Id id, size_t k) { return arguments(id)[k]; };
  if (terms_[a].kind == Kind::choose && part(a, 2) == b)
    return choose(conjunction(condition, part(a, 0)), part(a, 1), b);
  if (terms_[a].kind == Kind::choose && part(a, 1) == b)
    return choose(conjunction(condition, complement(part(a, 0))), part(a, 2), b);
  if (terms_[b].kind == Kind::choose && part(b, 1) == a)
    return choose(disjunction(condition, part(b, 0)), a, part(b, 2));
  const Id arguments[] = {condition, a, b};
  return intern({.kind = Kind::choose, .width = width}, arguments);
}

Id Terms::equal(Id a, Id b) {
  if (a == b) return true_;
  const uint8_t width = terms_[a].width;
  if (width == 1) return complement(exclusive(a, b));
  if (is_constant(a) && is_constant(b)) return bit(value(a) == value(b));
  if (is_constant(a)) std::swap(a, b);
  const Term first = terms_[a];
  if (is_constant(b)) {
    if ((value(b) & first.zeros) != 0) return false_;
    if (first.kind == Kind::choose && is_constant(arguments(a)[1]) && is_constant(arguments(a)[2])) {
      const Id condition = arguments(a)[0];
      const bool then = arguments(a)[1] == b, otherwise = arguments(a)[2] == b;
      if (then && otherwise) return true_;
      if (!then && !otherwise) return false_;
      return then ? condition : complement(condition);
    }
    if (first.kind == Kind::zero_extend) return equal(arguments(a)[0], constant(32, value(b)));
  }
  if (first.kind == Kind::zero_extend && terms_[b].kind == Kind::zero_extend) {
    const Id one = arguments(a)[0], two = arguments(b)[0];
    return equal(one, two);
  }
  if (first.kind == Kind::complement && terms_[b].kind == Kind::complement) {
    const Id one = arguments(a)[0], two = arguments(b)[0];
    return equal(one, two);
  }
  if (first.kind == Kind::linear || terms_[b].kind == Kind::linear) {
    Id difference = subtract(a, b);
    if (is_constant(difference)) return bit(value(difference) == 0);
    const uint64_t all = mask(width);
    const auto negative = [&](Id id) {
      return terms_[id].kind == Kind::complement ||
             (terms_[id].kind == Kind::linear && (coefficients(id)[0] & (all ^ all >> 1)) != 0);
    };
    if (negative(difference)) difference = negate(difference);
    const auto [form, offset] = split_constant(difference);
    const bool of_two = offset == 0 && terms_[form].kind == Kind::linear && terms_[form].count == 2 &&
                        coefficients(form)[0] == 1 && coefficients(form)[1] == all;
    a = of_two ? arguments(form)[0] : form;
    b = of_two ? arguments(form)[1] : constant(width, ~uint64_t{0} * offset);
  }
  const Id sides[] = {std::min(a, b), std::max(a, b)};
  return intern({.kind = Kind::equal, .width = 1}, sides);
}

Id Terms::below(Id a, Id b) {
  if (a == b) return false_;
  const uint64_t all = mask(terms_[a].width);
  if (is_constant(a) && is_constant(b)) return bit(value(a) < value(b));
  // The carry of x + y is (x + y) < x, and as well (x + y) < y.
  if (terms_[a].kind == Kind::linear) {
    const Id other = subtract(a, b);
    const auto rank = [&](Id id) {
      const Kind kind = terms_[id].kind;
      return std::pair(kind == Kind::linear ? 2 + terms_[id].count : kind == Kind::constant ? 1 : 0, id);
    };
    if (rank(other) < rank(b)) b = other;
  }
  if (is_constant(b) && value(b) == 0) return false_;
  if (is_constant(a) && value(a) == all) return false_;
  if (is_constant(b) && value(b) == 1) return is_zero(a);
  if (is_constant(a) && value(a) == 0) return complement(is_zero(b));
  if (is_constant(b) && (~terms_[a].zeros & all) < value(b)) return true_;
  const Id sides[] = {a, b};
  return intern({.kind = Kind::below, .width = 1}, sides);
}

Id Terms::less(Id a, Id b) {
  if (a == b) return false_;
  const uint8_t width = terms_[a].width;
  if (is_constant(a) && is_constant(b)) {
    const unsigned spare = 64u - width;
    return bit(int64_t(value(a) << spare) < int64_t(value(b) << spare));
  }
  const uint64_t sign = uint64_t{1} << (width - 1);
  if ((terms_[a].zeros & terms_[b].zeros & sign) != 0) return below(a, b);
  const Id sides[] = {a, b};
  return intern({.kind = Kind::less, .width = 1}, sides);
}

Id Terms::lane_bit(Id a) {
  return once(lane_bit_, a, [this](Id id) { return bit_in_lane(id); });
}

Id Terms::bit_in_lane(Id a) {
  const Term term = terms_[a];
  const auto distributed = [&](auto combine, Id start) {
    const std::vector<Id> parts(arguments(a).begin(), arguments(a).end());
    Id result = start;
    for (Id part : parts) result = combine(result, lane_bit(part));
    return result;
  };
  switch (term.kind) {
  case Kind::constant:
    if (term.payload == 0) return false_;
    if (term.payload == ~uint64_t{0}) return true_;
    break;
  case Kind::mask_of:
    return arguments(a)[0];
  case Kind::conjunction:
    return distributed([&](Id x, Id y) { return conjunction(x, y); }, true_);
  case Kind::disjunction:
    return distributed([&](Id x, Id y) { return disjunction(x, y); }, false_);
  case Kind::exclusive:
    return distributed([&](Id x, Id y) { return exclusive(x, y); }, false_);
  case Kind::complement: {
    const Id inner = arguments(a)[0];
    return complement(lane_bit(inner));
  }
  case Kind::choose: {
    const Id condition = arguments(a)[0], then = arguments(a)[1], otherwise = arguments(a)[2];
    const Id first = lane_bit(then), second = lane_bit(otherwise);
    return choose(condition, first, second);
  }
  default:
    break;
  }
  const Id id = intern({.kind = Kind::lane_bit, .width = 1}, std::span(&a, 1));
  terms_[id].uniform = false;
  return id;
}

Id Terms::mask_of(Id a) {
  const Term term = terms_[a];
  switch (term.kind) {
  case Kind::constant:
    return constant(64, term.payload != 0 ? ~uint64_t{0} : 0);
  case Kind::lane_bit:
    return arguments(a)[0];
  case Kind::complement: {
    const Id inner = arguments(a)[0];
    return complement(mask_of(inner));
  }
  case Kind::conjunction: {
    const std::vector<Id> parts(arguments(a).begin(), arguments(a).end());
    Id result = constant(64, ~uint64_t{0});
    for (Id part : parts) result = conjunction(result, mask_of(part));
    return result;
  }
  default:
    break;
  }
  if (term.uniform) return choose(a, constant(64, ~uint64_t{0}), constant(64, 0));
  return intern({.kind = Kind::mask_of, .width = 64}, std::span(&a, 1));
}

Id Terms::unary(Kind kind, Id a) {
  const Term term = terms_[a];
  if (term.kind == Kind::constant) {
    const auto word = static_cast<uint32_t>(term.payload);
    switch (kind) {
    case Kind::count_ones:
      return constant(32, unsigned(std::popcount(word)));
    case Kind::leading_zeros:
      return constant(32, unsigned(std::countl_zero(word)));
    case Kind::trailing_zeros:
      return constant(32, unsigned(std::countr_zero(word)));
    default: {
      uint32_t reversed = 0;
      for (unsigned k = 0; k < 32; ++k) reversed |= (word >> k & 1) << (31 - k);
      return constant(32, reversed);
    }
    }
  }
  if (kind == Kind::reverse_bits && term.kind == kind) return arguments(a)[0];
  return intern({.kind = kind, .width = 32}, std::span(&a, 1));
}

} // namespace asmevo::prove
