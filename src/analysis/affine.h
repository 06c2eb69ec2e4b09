// Affine forms: what a register holds, as a sum of symbols.
//
// An address is computed from a few things that are known by name (a work-item id, a kernel argument) and from many
// that are not. Written as constant + sum of factor * symbol, two addresses can be subtracted, and where the symbols
// cancel, their distance is known although neither address is.
//
// Registers wrap. A word is a form modulo 2^32, a pair of words one modulo 2^64, and what holds modulo 2^32 says
// nothing about a pair whose upper half is zero: 4 * i + 16 may have wrapped where 4 * i did not. So a word becomes a
// pair without loss only where the ranges of its symbols show that the sum never leaves 32 bits. Elsewhere the
// extension is a symbol of its own that remembers the form it was made of: equal extensions still cancel, and what is
// asked modulo 2^32 looks through it.
//
// Every symbol is a number in [0, most]; forms and symbols are interned, so equal ones have equal ids.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace asmevo::analysis {

using FormId = uint32_t;
using SymbolId = uint32_t;

struct Term {
  SymbolId symbol = 0;
  uint64_t factor = 0;
  auto operator<=>(const Term&) const = default;
};

struct Form {
  uint64_t constant = 0;
  std::vector<Term> terms; // by symbol, no factor zero
  auto operator<=>(const Form&) const = default;
};

enum class SymbolKind : uint8_t {
  work_item,       // a: 0, 1, 2 for x, y, z
  workgroup,       // likewise
  lane,            // number in the wave
  kernarg_word,    // 4 bytes of the kernarg segment at byte a
  kernarg_pair,    // 8 bytes
  kernarg_segment, // its address
  scratch,         // the resource of scratch, as the wave begins with it
  image,           // what the loader adds to the object's addresses
  program_counter, // behind item a
  entry,           // register unit a when the function begins
  iteration,       // times that block a, a loop's header, was reached from within the loop since it was entered
  written,         // register unit b, right after the latest execution of item a
  merged,          // register unit b, when block a was last reached
  zero_extended,   // of a word: forms
  sign_extended,   // likewise
  upper,           // half of a pair
  sign,            // of a word: all bits are its highest bit
  product,         // of two words, 64 bits, unsigned
  carry,           // out of the sum of two words
  borrow,          // out of their difference
  function,        // a: a mnemonic or one of word_function; of words
  mask,            // half b of lane mask a (lane_masks.h)
};

/// Functions beside those that a mnemonic names.
namespace word_function {
inline constexpr uint64_t conjunction = uint64_t{1} << 32, disjunction = conjunction + 1, exclusive = conjunction + 2,
                          shift_right = conjunction + 3, resource = conjunction + 4;
}

struct Symbol {
  SymbolKind kind = SymbolKind::entry;
  uint64_t a = 0, b = 0;
  std::vector<FormId> of;
  auto operator<=>(const Symbol&) const = default;
};

/// What is known of a symbol's value.
struct SymbolFacts {
  uint64_t most = ~uint64_t{0};
  bool uniform = false; // the same in all lanes of a wave
  uint8_t zeros = 0;    // low bits that are zero
};

/// All numbers of an interval, wide enough for sums of products.
struct Interval {
  __int128 low = 0, high = 0;
};

class Forms {
public:
  Forms();

  FormId constant(uint64_t value) { return intern({value, {}}); }
  /// The symbol itself; with facts the first time it is named.
  FormId symbol(const Symbol& symbol, const SymbolFacts& facts);
  const Form& operator[](FormId id) const { return forms_[id]; }
  const Symbol& name(SymbolId id) const { return symbols_[id]; }
  const SymbolFacts& facts(SymbolId id) const { return facts_[id]; }
  FormId form_of(SymbolId id) { return intern({0, {{id, 1}}}); }
  std::optional<uint64_t> constant_of(FormId id) const;
  /// The symbol where the form is nothing else.
  std::optional<SymbolId> symbol_of(FormId id) const;

  // ---- words, modulo 2^32 ----
  FormId add(FormId a, FormId b);
  FormId subtract(FormId a, FormId b);
  FormId scale(FormId a, uint32_t factor);
  FormId multiply(FormId a, FormId b);
  FormId shift_right(FormId a, unsigned by); // unsigned
  FormId conjunction(FormId a, uint32_t mask);
  FormId disjunction(FormId a, FormId b);
  FormId exclusive(FormId a, FormId b);
  FormId function(uint64_t which, std::span<const FormId> of, uint64_t most = 0xffffffff, unsigned zeros = 0);
  FormId sign(FormId a);

  // ---- pairs, modulo 2^64 ----
  FormId add64(FormId a, FormId b);
  FormId subtract64(FormId a, FormId b);
  FormId scale64(FormId a, uint64_t factor);
  FormId multiply64(FormId a, FormId b, bool is_signed); // of two words
  FormId zero_extend(FormId word);
  FormId sign_extend(FormId word);
  FormId lower(FormId pair);
  FormId upper(FormId pair);
  /// The pair whose halves these words are.
  FormId pair(FormId low, FormId high);

  /// Whether halves that do not belong together are parts of it.
  bool is_split(FormId pair) const;

  FormId carry(FormId a, FormId b, bool borrow);

  /// The numbers that the sum can be before it is reduced, factors and constant taken as signed numbers of `bits`.
  std::optional<Interval> interval(const Form& form, unsigned bits) const;
  /// Low bits that are zero, 64 for zero itself.
  unsigned zeros(const Form& form) const;
  bool is_uniform(FormId id) const;
  /// `a` with every factor and the constant reduced modulo 2^bits.
  Form reduced(const Form& a, unsigned bits) const;
  Form difference(const Form& a, const Form& b) const;

private:
  FormId intern(Form form);
  FormId word(Form form) { return intern(reduced(form, 32)); }
  std::optional<FormId> distribute(const Form& a, const Form& b, unsigned bits);
  FormId derived(SymbolKind kind, std::span<const FormId> of, uint64_t most, unsigned zeros = 0, uint64_t a = 0);
  Form sum(const Form& a, const Form& b, uint64_t factor) const;
  /// The sum as the number in [0, 2^32) that the word is, where it never wraps.
  std::optional<Form> unwrapped(FormId word, bool is_signed) const;
  std::optional<Form> below(const Form& form, unsigned bits) const;
  uint64_t most_of(FormId word) const;

  std::deque<Form> forms_; // references to what is in them stay good
  std::map<Form, FormId> form_ids_;
  std::deque<Symbol> symbols_;
  std::deque<SymbolFacts> facts_;
  std::map<Symbol, SymbolId> symbol_ids_;
};

} // namespace asmevo::analysis
