#include "prove/term.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/format.h>

namespace asmevo::prove {
namespace {

uint64_t mixed(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

} // namespace

Terms::Terms() {
  false_ = constant(1, 0);
  true_ = constant(1, 1);
}

std::span<const uint64_t> Terms::coefficients(Id id) const {
  return {coefficients_.data() + terms_[id].arguments, terms_[id].count};
}

uint64_t Terms::name(std::string_view text) {
  if (auto found = name_ids_.find(text); found != name_ids_.end()) return found->second;
  const std::string& kept = names_.emplace_back(text);
  return name_ids_[kept] = names_.size() - 1;
}

Id Terms::intern(Term term, std::span<const Id> arguments, std::span<const uint64_t> coefficients) {
  steps_ += 1 + arguments.size();
  uint64_t hash = mixed(uint64_t(term.kind) << 8 | term.width, term.payload);
  for (Id a : arguments) hash = mixed(hash, a);
  for (uint64_t c : coefficients) hash = mixed(hash, c);
  const auto [first, last] = known_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Term& other = terms_[it->second];
    if (other.kind == term.kind && other.width == term.width && other.payload == term.payload &&
        std::ranges::equal(arguments, this->arguments(it->second)) &&
        (coefficients.empty() || std::ranges::equal(coefficients, this->coefficients(it->second))))
      return it->second;
  }
  term.arguments = static_cast<uint32_t>(pool_.size());
  term.count = static_cast<uint32_t>(arguments.size());
  for (Id a : arguments) term.uniform &= terms_[a].uniform;
  // What speaks of the whole wave is the same for all of its lanes.
  if (term.kind == Kind::mask_of || term.kind == Kind::store || term.kind == Kind::wave) term.uniform = true;
  term.zeros = known_zeros(term, arguments, coefficients) & mask(term.width);
  // The arguments may lie in the pool, which grows.
  const std::vector<Id> copy(arguments.begin(), arguments.end());
  pool_.insert(pool_.end(), copy.begin(), copy.end());
  coefficients_.insert(coefficients_.end(), coefficients.begin(), coefficients.end());
  coefficients_.resize(pool_.size());
  const Id id = static_cast<Id>(terms_.size());
  terms_.push_back(term);
  known_.emplace(hash, id);
  return id;
}

uint64_t Terms::known_zeros(const Term& term, std::span<const Id> arguments,
                            std::span<const uint64_t> coefficients) const {
  const auto zeros = [&](size_t k) { return terms_[arguments[k]].zeros; };
  switch (term.kind) {
  case Kind::constant:
    return ~term.payload;
  case Kind::zero_extend:
    return zeros(0) | ~uint64_t{0} << 32;
  case Kind::conjunction: {
    uint64_t all = 0;
    for (size_t k = 0; k < arguments.size(); ++k) all |= zeros(k);
    return all;
  }
  case Kind::disjunction:
  case Kind::exclusive: {
    uint64_t all = ~uint64_t{0};
    for (size_t k = 0; k < arguments.size(); ++k) all &= zeros(k);
    return all;
  }
  case Kind::choose:
    return zeros(1) & zeros(2);
  case Kind::shift_right: {
    if (!is_constant(arguments[1])) return 0;
    const uint64_t amount = value(arguments[1]), all = mask(term.width);
    return ~((~zeros(0) & all) >> amount);
  }
  case Kind::count_ones:
  case Kind::leading_zeros:
  case Kind::trailing_zeros:
    return ~uint64_t{63};
  case Kind::low:
    return zeros(0);
  case Kind::high:
    return zeros(0) >> 32;
  case Kind::linear: {
    // Where the parts have no bit in common nothing is carried; else the low bits that all parts lack stay 0.
    uint64_t possible = term.payload;
    bool apart = true;
    int trailing = term.payload == 0 ? 64 : std::countr_zero(term.payload);
    for (size_t k = 0; k < arguments.size(); ++k) {
      const int shift = std::countr_zero(coefficients[k]);
      const uint64_t bits = ~zeros(k) & mask(terms_[arguments[k]].width), moved = shift < 64 ? bits << shift : 0;
      trailing = std::min(trailing, bits == 0 ? 64 : std::countr_zero(bits) + shift);
      apart &= std::has_single_bit(coefficients[k]) && (possible & moved) == 0;
      possible |= moved;
    }
    if (apart) return ~possible;
    return trailing >= 64 ? ~uint64_t{0} : (uint64_t{1} << trailing) - 1;
  }
  default:
    return 0;
  }
}

Id Terms::constant(uint8_t width, uint64_t value) {
  return intern({.kind = Kind::constant, .width = width, .payload = value & mask(width)}, {});
}

Id Terms::symbol(uint8_t width, std::string_view text, bool uniform) {
  return intern({.kind = Kind::symbol, .width = width, .uniform = uniform, .payload = name(text)}, {});
}

Id Terms::apply(std::string_view key, std::span<const Id> arguments, uint8_t width) {
  return intern({.kind = Kind::apply, .width = width, .payload = name(key)}, arguments);
}

Id Terms::wave(std::string_view key, std::span<const Id> arguments) {
  return intern({.kind = Kind::wave, .width = 0, .payload = name(key)}, arguments);
}

Id Terms::pick(Id tuple, uint32_t which, uint8_t width, bool uniform) {
  const Id argument[] = {tuple};
  // What a whole-wave operation gives differs from lane to lane unless it is said to be a scalar.
  const Id id = intern({.kind = Kind::pick, .width = width, .payload = which}, argument);
  terms_[id].uniform = uniform;
  return id;
}

Id Terms::load(std::string_view key, std::span<const Id> arguments, uint8_t width) {
  return intern({.kind = Kind::load, .width = width, .payload = name(key)}, arguments);
}

Id Terms::store(std::string_view key, std::span<const Id> arguments) {
  return intern({.kind = Kind::store, .width = 0, .payload = name(key)}, arguments);
}

void Terms::spell(Id id, unsigned depth, std::string& text) const {
  constexpr std::array<std::string_view, 30> words = {
      "",        "",     "sum", "product", "and",      "or",   "xor",  "not", "shl",  "shr",
      "sar",     "if",   "=",   "<",       "signed <", "zext", "sext", "low", "high", "lane's bit of",
      "mask of", "ones", "clz", "ctz",     "bfrev",    "",     "",     "",    "load", "store"}; // by Kind
  const Term& term = terms_[id];
  if (term.kind == Kind::constant) {
    text += fmt::format("{:#x}", term.payload);
    return;
  }
  if (term.kind == Kind::symbol) {
    text += names_[term.payload];
    return;
  }
  const bool keyed =
      term.kind == Kind::apply || term.kind == Kind::wave || term.kind == Kind::load || term.kind == Kind::store;
  if (term.kind == Kind::load || term.kind == Kind::store) text += std::string(words[size_t(term.kind)]) + " ";
  if (term.kind == Kind::pick)
    text += fmt::format("result {} of", term.payload);
  else
    text += keyed ? std::string_view(names_[term.payload]) : words[size_t(term.kind)];
  if (depth == 0) {
    text += "(...)";
    return;
  }
  text += '(';
  const auto parts = arguments(id);
  for (size_t k = 0; k < parts.size(); ++k) {
    if (k > 0) text += ", ";
    if (term.kind == Kind::linear && coefficients(id)[k] != 1) text += fmt::format("{:#x}*", coefficients(id)[k]);
    spell(parts[k], depth - 1, text);
  }
  if (term.kind == Kind::linear && term.payload != 0) text += fmt::format(", {:#x}", term.payload);
  text += ')';
}

std::string Terms::spelled(Id id, size_t most) const {
  std::string text;
  for (unsigned depth = 1; depth < 8; ++depth) {
    std::string deeper;
    spell(id, depth, deeper);
    if (deeper.size() > most && !text.empty()) break;
    const bool complete = deeper == text;
    text = std::move(deeper);
    if (complete) break;
  }
  if (text.size() > 2 * most) text = text.substr(0, 2 * most) + "...";
  return text;
}

Id Terms::given(Id condition, Id a) {
  while (terms_[a].kind == Kind::choose) {
    const Id decides = arguments(a)[0];
    if (implies(condition, decides))
      a = arguments(a)[1];
    else if (implies(condition, complement(decides)))
      a = arguments(a)[2];
    else
      break;
  }
  return a;
}

bool Terms::implies(Id condition, Id fact) const {
  if (condition == fact || fact == true_ || condition == false_) return true;
  const auto holds = [&](Id part) {
    if (condition == part) return true;
    return terms_[condition].kind == Kind::conjunction && std::ranges::binary_search(arguments(condition), part);
  };
  if (holds(fact)) return true;
  if (terms_[fact].kind == Kind::conjunction) return std::ranges::all_of(arguments(fact), holds);
  if (terms_[fact].kind != Kind::complement) return false;
  // ~(a & b) where one of them is known to be false.
  const Id inner = arguments(fact)[0];
  if (terms_[inner].kind != Kind::conjunction) return false;
  const auto denied = [&](Id known) {
    return terms_[known].kind == Kind::complement && std::ranges::binary_search(arguments(inner), arguments(known)[0]);
  };
  if (denied(condition)) return true;
  return terms_[condition].kind == Kind::conjunction && std::ranges::any_of(arguments(condition), denied);
}

} // namespace asmevo::prove
