// Terms: what a register holds, as a function of what it held when the region began.
//
// Two versions of a region are equal where they compute the same function, and most edits leave most of the function as
// it was. So every term is kept once (hash consing): building the same function twice gives the same number, and
// comparing two registers is comparing two integers. The constructors bring terms into a normal form on the way, so
// that what a compiler or an agent may write in several ways (a shift or a multiplication, an or or an addition, a
// 64-bit sum in one instruction or in two with a carry) meets in one term. Only what that leaves open goes to a solver.
//
// A vector register is ONE term: its value in an arbitrary lane. Scalars are shared by all lanes. A 64-bit lane mask
// is a scalar; lane_bit() is this lane's bit of it, mask_of() the scalar whose every bit is what a bit term says in
// that lane. That is how instructions that work lane by lane stay small, and what the whole wave decides (a ballot, a
// cross-lane move, the contents of memory) is a node whose arguments are whole vectors: two such nodes are equal only
// if their arguments are equal in every lane.
//
// Sums are linear forms modulo 2^w: coefficients, atoms and a constant. Address arithmetic is decided by them.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace asmevo::prove {

using Id = uint32_t;

enum class Kind : uint8_t {
  constant,    // payload: value
  symbol,      // payload: which; width 0: a memory
  linear,      // payload: constant; coefficients of the arguments beside it
  multiply,    // two factors, neither constant
  conjunction, // & of any number, the constant last
  disjunction, // |
  exclusive,   // ^
  complement,  // ~
  shift_left,  // by a term
  shift_right, //
  shift_arithmetic,
  choose,      // condition, then, else
  equal,       // bit
  below,       // bit, unsigned
  less,        // bit, signed
  zero_extend, // 32 to 64
  sign_extend, // 32 to 64
  low,         // 64 to 32
  high,        //
  lane_bit,    // this lane's bit of a mask
  mask_of,     // the mask of a bit; speaks of all lanes
  count_ones,
  leading_zeros,
  trailing_zeros,
  reverse_bits,
  apply, // an uninterpreted function of this lane's arguments; payload: key. Width 0: several results
  wave,  // an uninterpreted function of whole vectors, and of memories; payload: key. Width 0
  pick,  // payload: which result of an apply or wave of width 0
  load,  // memory, address; payload: key. Width 0: several results
  store, // memory, address, guard, data...; payload: key
};

/// Width 0 is a memory or a tuple.
struct Term {
  Kind kind = Kind::constant;
  uint8_t width = 0;      // 0, 1, 32, 64
  bool uniform = true;    // the same in all lanes
  uint32_t arguments = 0; // in the pool
  uint32_t count = 0;
  uint64_t payload = 0;
  uint64_t zeros = 0; // bits known to be 0
};

/// A linear form in the making.
struct Linear {
  std::vector<std::pair<Id, uint64_t>> terms; // by atom
  uint64_t constant = 0;
};

class Terms {
public:
  Terms();

  const Term& operator[](Id id) const { return terms_[id]; }
  std::span<const Id> arguments(Id id) const { return {pool_.data() + terms_[id].arguments, terms_[id].count}; }
  std::span<const uint64_t> coefficients(Id id) const;
  size_t size() const { return terms_.size(); }

  /// What has been done so far, in steps: about one an argument that was looked at. Others that walk over terms add
  /// theirs.
  uint64_t steps() const { return steps_; }
  void spend(uint64_t steps) const { steps_ += steps; }
  /// From here on so many terms and steps are enough; terms are made beyond that too, until somebody asks.
  void allow(size_t terms, uint64_t steps) { most_terms_ = terms, most_steps_ = steps_ + steps; }
  bool too_large() const { return terms_.size() > most_terms_ || steps_ > most_steps_; }

  Id constant(uint8_t width, uint64_t value);
  Id bit(bool value) { return value ? true_ : false_; }
  /// A value nothing is known of. `uniform`: the same in all lanes.
  Id symbol(uint8_t width, std::string_view name, bool uniform);
  const std::string& name_of(Id symbol_or_function) const { return names_[terms_[symbol_or_function].payload]; }

  Id add(Id a, Id b);
  Id subtract(Id a, Id b);
  Id negate(Id a);
  Id multiply(Id a, Id b);
  Id scale(Id a, uint64_t factor);
  Id conjunction(Id a, Id b);
  Id disjunction(Id a, Id b);
  Id exclusive(Id a, Id b);
  Id complement(Id a);
  Id shift_left(Id a, Id amount); // amounts are below the width
  Id shift_right(Id a, Id amount);
  Id shift_arithmetic(Id a, Id amount);
  Id choose(Id condition, Id a, Id b);
  Id equal(Id a, Id b);
  Id below(Id a, Id b);
  Id less(Id a, Id b);
  Id zero_extend(Id a);
  Id sign_extend(Id a);
  Id low(Id a);
  Id high(Id a);
  Id pair(Id low, Id high); // two words as 64 bits
  Id word_of(Id bit) { return choose(bit, constant(32, 1), constant(32, 0)); }
  Id lane_bit(Id mask);
  Id mask_of(Id bit);
  Id unary(Kind kind, Id a); // count_ones, leading_zeros, trailing_zeros, reverse_bits
  Id is_zero(Id a) { return equal(a, constant(terms_[a].width, 0)); }

  /// Uninterpreted nodes. `key` says which function.
  Id apply(std::string_view key, std::span<const Id> arguments, uint8_t width);
  Id wave(std::string_view key, std::span<const Id> arguments);
  Id pick(Id tuple, uint32_t which, uint8_t width, bool uniform);
  Id load(std::string_view key, std::span<const Id> arguments, uint8_t width);
  Id store(std::string_view key, std::span<const Id> arguments);
  const std::string& key_of(Id id) const { return names_[terms_[id].payload]; }

  /// What `a` is in lanes (or on paths) where `condition` holds: choices that it decides are taken.
  Id given(Id condition, Id a);
  /// Whether `condition` being true makes `fact` true, as far as their conjuncts show.
  bool implies(Id condition, Id fact) const;

  /// The form without its constant, and the constant: what addresses are compared by.
  std::pair<Id, uint64_t> split_constant(Id a);

  /// For messages: the term down to some depth, about `most` characters of it.
  std::string spelled(Id id, size_t most = 240) const;

  bool is_constant(Id a) const { return terms_[a].kind == Kind::constant; }
  uint64_t value(Id a) const { return terms_[a].payload; }

private:
  void spell(Id id, unsigned depth, std::string& text) const;
  /// What is asked again and again of the parts of long chains is computed once.
  using Known = std::vector<Id>;
  template <class Compute> Id once(Known& known, Id a, Compute compute);
  Id low_part(Id a);
  Id high_part(Id a);
  Id bit_in_lane(Id a);
  Id intern(Term term, std::span<const Id> arguments, std::span<const uint64_t> coefficients = {});
  uint64_t name(std::string_view text);
  Linear linear_of(Id a) const;
  Id from_linear(Linear form, uint8_t width);
  void fold_carries(Linear& form);
  bool fold_one_carry(Linear& form);
  Id nary(Kind kind, Id a, Id b);
  Id absorbed_conjunction(std::vector<Id>& parts, uint8_t width, uint64_t rest);
  Id masked_linear(Id a, uint64_t mask);
  bool complementary(Id a, Id b) const;
  bool absorbed(Id part, Kind kind, const std::vector<Id>& beside) const;
  uint64_t known_zeros(const Term& term, std::span<const Id> arguments, std::span<const uint64_t> coefficients) const;
  static uint64_t mask(uint8_t width) { return width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1; }

  std::vector<Term> terms_;
  std::vector<Id> pool_;
  std::vector<uint64_t> coefficients_; // by place in the pool
  std::unordered_multimap<uint64_t, Id> known_;
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, uint64_t> name_ids_;
  Known low_, high_, lane_bit_;
  mutable uint64_t steps_ = 0;
  uint64_t most_steps_ = ~uint64_t{0};
  size_t most_terms_ = ~size_t{0};
  Id false_ = 0, true_ = 0;
};

template <class Compute> Id Terms::once(Known& known, Id a, Compute compute) {
  constexpr Id not_yet = ~Id{0};
  if (a < known.size() && known[a] != not_yet) return known[a];
  const Id result = compute(a);
  if (a >= known.size()) known.resize(terms_.size(), not_yet);
  return known[a] = result;
}

} // namespace asmevo::prove
