// Integer instructions as a superoptimiser sees them: types of operands, what they cost, what they compute.
//
// What they compute is not said again here: the machine's meanings (machine/semantics/meaning.h) are asked for a batch
// of sample values, and the prover's (prove/integer.h, prove/scalar.h) for terms. A scalar instruction that may stand
// in a replacement names the vector instruction that computes the same; a test and every proof hold it to that.
#pragma once

#include "isa/codec.h"
#include "prove/integer.h"
#include "prove/scalar.h"
#include "timing/op_class.h"

#include <map>
#include <memory>

namespace asmevo::search::superopt {

enum class Type : uint8_t { none, word, wide, bit }; // 32 and 64 bits; a lane's or SCC's truth

/// Modelled clocks, in the order in which they count.
struct Cost {
  double issue = 0;   // that a pipe is held
  double latency = 0; // of the longest chain
  size_t count = 0;   // instructions

  auto operator<=>(const Cost&) const = default;
};

/// Values under so many inputs at once; a bit is 0 or 1.
inline constexpr size_t sample_count = 8;
struct Samples {
  std::array<uint64_t, sample_count> of{};
  bool operator==(const Samples&) const = default;
};
using Evaluate = void (*)(const Samples* const* sources, Samples& result);

/// How the sources of an instruction are those of the vector instruction that it is computed by.
enum class Arrangement : uint8_t { same, exchanged, last_complemented, shift_between };

enum class Unit : uint8_t {
  vector,
  scalar,
  naming
}; // naming: a part of a pair, or two registers as one; costs nothing

struct Opcode {
  std::string name; // without suffix; "low", "high", "pair"
  Unit unit = Unit::vector;
  Type result = Type::word;
  Type second = Type::none; // a carry or SCC
  std::array<Type, 4> sources{};
  uint8_t count = 0;
  bool reads_scc = false;  // the last source
  bool commutes = false;   // sources 0 and 1
  bool short_form = false; // vector: has an encoding in which source 0 may be a literal
  double issue = 0, latency = 0;
  Evaluate evaluate = nullptr; // null: not in replacements
  Arrangement arrangement = Arrangement::same;
  uint8_t shift = 0; // shift_between: how far
  const prove::IntegerMeaning* vector = nullptr;
  const prove::ScalarMeaning* scalar = nullptr;

  void compute(const Samples* const* from, Samples& to) const;
};

/// The instructions of one target.
class Opcodes {
public:
  /// Those that replacements are made of, as far as `codec` assembles them.
  explicit Opcodes(const isa::Codec& codec);
  Opcodes(const Opcodes&) = delete;
  Opcodes& operator=(const Opcodes&) = delete;

  /// Null where it is no integer instruction that is understood.
  const Opcode* of(const isa::Instruction& instruction);
  /// Of a replacement, or a naming; null where there is none of that name.
  const Opcode* named(std::string_view name) const;
  const std::vector<const Opcode*>& replacements(Unit unit) const { return unit == Unit::vector ? vector_ : scalar_; }
  const Opcode *low, *high, *pair;

private:
  void price(Opcode& opcode, const isa::Instruction& instruction) const;
  const Opcode* add_naming(std::string_view name, Type result, std::initializer_list<Type> sources);
  std::map<std::string, std::unique_ptr<Opcode>, std::less<>> known_;
  std::vector<const Opcode*> vector_, scalar_;
  std::vector<double> issue_, latency_; // by class
};

/// Whether a constant needs no literal.
inline bool is_inline(uint32_t value) { return int32_t(value) >= -16 && int32_t(value) <= 64; }

/// How a vector instruction of that name computes a batch; null where none is known.
Evaluate evaluation_of(std::string_view vector_name);

} // namespace asmevo::search::superopt
