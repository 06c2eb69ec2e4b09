// Recognising what a compiler made of one function call: a formula of instructions in one block.
//
// Registers are reused within such a sequence, so an operand means something only together with the instruction that
// reads it. Constants may have been loaded anywhere.
#pragma once

#include "search/drivers/rewrite/local.h"

namespace asmevo::search::rewrite {

/// The bits of a constant as it is printed; nothing for what is none.
std::optional<uint32_t> constant_bits(std::string_view text);

/// An operand as an instruction reads it.
struct Value {
  size_t item = 0;
  std::string operand;
};

class Formula {
public:
  Formula(const Facts& facts, const analysis::Block& block) : facts_(facts), block_(block) {}

  /// The vector instruction of that mnemonic (without suffix) that made a value, if it has no modifiers.
  std::optional<Line> made_by(const Value& value, std::string_view mnemonic);
  bool is(const Value& value, uint32_t constant) const;
  bool same(const Value& a, const Value& b) const;

  /// v_cndmask: what is taken where the condition does not hold, where it does, and the condition.
  struct Choice {
    size_t item;
    std::string result;
    Value otherwise, then, condition;
  };
  std::optional<Choice> choice(const Value& value);
  std::optional<Choice> choice_at(size_t item) const;
  /// Whether a mask is what `mnemonic` makes of a constant and a value; `other` is then the value as it is read there.
  std::optional<Value> compared(const Value& mask, std::string_view mnemonic, uint32_t constant);
  /// y where the value is y times the constant.
  std::optional<Value> times(const Value& value, uint32_t constant);
  /// Whether the value is what y times (high + low) has beyond `product`, which is y times high, rounded.
  bool is_rest(const Value& value, const Value& y, uint32_t high, uint32_t low, const Value& product);

  /// Whether all that was looked at ran with the lanes of `last`.
  bool ran_with_the_lanes_of(size_t last) const { return !written_between(facts_, exec, earliest_, last); }

private:
  struct Fma {
    Value a, b, c;
  };
  std::optional<Fma> fma(const Value& value);
  bool is_product(const Fma& f, const Value& y, uint32_t constant) const;

  const Facts& facts_;
  const analysis::Block& block_;
  size_t earliest_ = ~size_t{0};
};

} // namespace asmevo::search::rewrite
