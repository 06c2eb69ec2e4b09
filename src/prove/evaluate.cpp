#include "prove/evaluate.h"

#include <algorithm>
#include <bit>

namespace asmevo::prove {
namespace {

constexpr unsigned lanes = 64;
constexpr unsigned lanes_a_step = 8; // what one lane of a term costs, measured in steps of making terms

uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Plain random numbers hardly ever meet an edge: one in four is small or has few bits.
uint64_t interesting(uint64_t random) {
  switch (random & 15) {
  case 0:
    return 0;
  case 1:
    return ~uint64_t{0};
  case 2:
    return mixed(random) & 63;
  case 3:
    return uint64_t{0x8000000080000000} >> (random >> 32 & 1);
  default:
    return mixed(random);
  }
}

} // namespace

void World::set(Id symbol, std::vector<uint64_t> values) {
  if (known_.size() < terms_.size()) known_.resize(terms_.size());
  known_[symbol] = std::move(values);
}

uint64_t World::leaf(Id id, unsigned lane) const {
  if (id == lane_) return lane;
  const Term& term = terms_[id];
  return interesting(mixed(seed_ ^ mixed(term.payload + 0x51ed) ^ (term.uniform ? 0 : mixed(lane + 1))));
}

uint64_t World::digest(Id id, unsigned lane) {
  const Term& term = terms_[id];
  uint64_t hash = mixed(seed_ + uint64_t(term.kind) * 131 + term.payload);
  for (Id argument : terms_.arguments(id)) {
    if (term.kind == Kind::wave || term.kind == Kind::store) {
      for (uint64_t value : values(argument)) hash = mixed(hash ^ value) + 0x9e3779b97f4a7c15;
    } else {
      hash = mixed(hash ^ value(argument, lane)) + 0x9e3779b97f4a7c15;
    }
  }
  if (term.kind == Kind::pick && !term.uniform) {
    // A whole-wave operation gives each lane something else.
    const Kind of = terms_[terms_.arguments(id)[0]].kind;
    if (of == Kind::wave) hash = mixed(hash + lane);
  }
  return mixed(hash);
}

uint64_t World::computed(Id id, unsigned lane) {
  const Term& term = terms_[id];
  const auto arguments = terms_.arguments(id);
  const auto argument = [&](size_t k) { return value(arguments[k], lane); };
  const auto signed_argument = [&](size_t k) {
    return terms_[arguments[k]].width == 32 ? int64_t(int32_t(argument(k))) : int64_t(argument(k));
  };
  switch (term.kind) {
  case Kind::constant:
    return term.payload;
  case Kind::symbol:
    return leaf(id, lane);
  case Kind::multiply:
    return argument(0) * argument(1);
  case Kind::conjunction:
  case Kind::disjunction:
  case Kind::exclusive: {
    uint64_t result = argument(0);
    for (size_t k = 1; k < arguments.size(); ++k) {
      const uint64_t other = argument(k);
      result = term.kind == Kind::conjunction   ? result & other
               : term.kind == Kind::disjunction ? result | other
                                                : result ^ other;
    }
    return result;
  }
  case Kind::complement:
    return ~argument(0);
  case Kind::shift_left:
    return argument(0) << argument(1);
  case Kind::shift_right:
    return argument(0) >> argument(1);
  case Kind::shift_arithmetic:
    return uint64_t(signed_argument(0) >> argument(1));
  case Kind::choose:
    return argument(0) ? argument(1) : argument(2);
  case Kind::equal:
    return argument(0) == argument(1);
  case Kind::below:
    return argument(0) < argument(1);
  case Kind::less:
    return signed_argument(0) < signed_argument(1);
  case Kind::zero_extend:
  case Kind::low:
    return argument(0);
  case Kind::sign_extend:
    return uint64_t(signed_argument(0));
  case Kind::high:
    return argument(0) >> 32;
  case Kind::lane_bit:
    return argument(0) >> lane & 1;
  case Kind::mask_of: {
    uint64_t mask = 0;
    for (unsigned l = 0; l < lanes; ++l) mask |= value(arguments[0], l) << l;
    return mask;
  }
  case Kind::count_ones:
    return uint64_t(std::popcount(argument(0)));
  case Kind::leading_zeros:
    return uint64_t(std::countl_zero(uint32_t(argument(0))));
  case Kind::trailing_zeros:
    return uint64_t(std::countr_zero(uint32_t(argument(0))));
  case Kind::reverse_bits: {
    uint64_t reversed = 0;
    for (unsigned k = 0; k < 32; ++k) reversed |= (argument(0) >> k & 1) << (31 - k);
    return reversed;
  }
  default:
    return digest(id, lane);
  }
}

/// Sums have many parts: all lanes of one at a time.
void World::add_up(Id id, std::vector<uint64_t>& sums) const {
  const auto arguments = terms_.arguments(id);
  const auto factors = terms_.coefficients(id);
  std::ranges::fill(sums, terms_[id].payload);
  for (size_t k = 0; k < arguments.size(); ++k) {
    const std::vector<uint64_t>& part = known_[arguments[k]];
    const uint64_t factor = factors[k];
    if (part.size() == 1)
      for (uint64_t& sum : sums) sum += factor * part[0];
    else
      for (size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += factor * part[lane];
  }
}

const std::vector<uint64_t>& World::values(Id id) {
  if (known_.size() < terms_.size()) known_.resize(terms_.size());
  if (!known_[id].empty()) return known_[id];
  // Arguments first, in order: chains of stores are deep.
  std::vector<Id> waiting = {id};
  while (!waiting.empty()) {
    const Id next = waiting.back();
    bool ready = true;
    for (Id argument : terms_.arguments(next)) {
      if (!known_[argument].empty()) continue;
      waiting.push_back(argument);
      ready = false;
    }
    if (!ready) continue;
    waiting.pop_back();
    if (!known_[next].empty()) continue;
    const Term& term = terms_[next];
    const uint64_t mask = term.width == 0 || term.width == 64 ? ~uint64_t{0} : (uint64_t{1} << term.width) - 1;
    std::vector<uint64_t> result(term.uniform ? 1 : lanes);
    terms_.spend(result.size() * (1 + term.count) / lanes_a_step);
    if (term.kind == Kind::linear) {
      add_up(next, result);
    } else {
      for (unsigned lane = 0; lane < result.size(); ++lane) result[lane] = computed(next, lane);
    }
    for (uint64_t& one : result) one &= mask;
    known_[next] = std::move(result);
  }
  return known_[id];
}

int World::difference(Id a, Id b, Id condition) {
  values(a);
  values(b);
  values(condition);
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (value(condition, lane) != 0 && value(a, lane) != value(b, lane)) return int(lane);
  return -1;
}

} // namespace asmevo::prove
