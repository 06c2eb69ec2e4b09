#include "prove/equality.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <z3++.h>

namespace asmevo::prove {
namespace {

constexpr unsigned world_count = 4;
constexpr unsigned most_failures = 4;
constexpr unsigned steps_per_millisecond = 2000; // of the solver, measured on an idle core
constexpr unsigned patience = 20;                // the clock ends a question only where the steps say nothing

bool speaks_of_the_wave(Kind kind) { return kind == Kind::wave || kind == Kind::store; }

} // namespace

/// Terms in the solver's language.
struct Equality::Solver {
  Equality& of;
  Terms& terms;
  Id lane_symbol;
  z3::context context;
  std::map<Id, z3::expr> made;
  std::vector<z3::expr> facts; // about names: bits of masks, the range of the lane's number

  Solver(Equality& equality, Id lane) : of(equality), terms(equality.terms_), lane_symbol(lane) {
    const z3::expr number = context.bv_const("lane", 32);
    made.emplace(lane, number);
    facts.push_back(z3::ult(number, context.bv_val(64, 32)));
  }

  z3::sort sort_of(uint8_t width) { return width == 1 ? context.bool_sort() : context.bv_sort(width); }

  z3::expr named(const std::string& name, uint8_t width) { return context.constant(name.c_str(), sort_of(width)); }

  /// An uninterpreted function of the arguments that have a value.
  z3::expr applied(const std::string& name, std::span<const Id> arguments, uint8_t width) {
    z3::sort_vector domain(context);
    z3::expr_vector values(context);
    std::string full = name;
    for (Id argument : arguments) {
      if (terms[argument].width == 0) continue;
      full += fmt::format(":{}", terms[argument].width);
      domain.push_back(sort_of(terms[argument].width));
      values.push_back(expression(argument));
    }
    if (values.empty()) return named(full, width);
    return context.function(full.c_str(), domain, sort_of(width))(values);
  }

  z3::expr function_value(Id id, std::string name, uint8_t width) {
    const Term term = terms[id];
    const std::vector<Id> arguments(terms.arguments(id).begin(), terms.arguments(id).end());
    if (speaks_of_the_wave(term.kind)) return named(fmt::format("{} wave{}", name, of.representative(id)), width);
    for (Id argument : arguments) // loads: a function for each memory
      if (terms[argument].width == 0) name += fmt::format(" in{}", of.representative(argument));
    return applied(name + " " + terms.key_of(id), arguments, width);
  }

  z3::expr widened(const z3::expr& amount, unsigned width) { return width == 64 ? z3::zext(amount, 32) : amount; }

  z3::expr bit_of(const z3::expr& mask) {
    const z3::expr number = z3::zext(made.at(lane_symbol), 32);
    return z3::lshr(mask, number).extract(0, 0) == context.bv_val(1, 1);
  }

  /// Throws like the solver itself where a question becomes too large.
  z3::expr expression(Id id) {
    // Arguments first: terms are deep.
    std::vector<Id> waiting = {id};
    while (!waiting.empty()) {
      const Id next = waiting.back();
      if (made.contains(next)) {
        waiting.pop_back();
        continue;
      }
      bool ready = true;
      const Term& term = terms[next];
      const bool opaque = speaks_of_the_wave(term.kind) ||
                          (term.kind == Kind::pick && speaks_of_the_wave(terms[terms.arguments(next)[0]].kind));
      for (Id argument : terms.arguments(next)) {
        if (opaque || terms[argument].width == 0 || made.contains(argument)) continue;
        waiting.push_back(argument);
        ready = false;
      }
      if (term.kind == Kind::pick && !opaque)
        for (Id argument : terms.arguments(terms.arguments(next)[0]))
          if (terms[argument].width != 0 && !made.contains(argument)) {
            waiting.push_back(argument);
            ready = false;
          }
      if (!ready) continue;
      waiting.pop_back();
      if (made.size() >= of.most_terms_) throw z3::exception("too many terms");
      made.emplace(next, translated(next));
    }
    return made.at(id);
  }

  z3::expr translated(Id id) {
    const Term term = terms[id];
    const std::vector<Id> arguments(terms.arguments(id).begin(), terms.arguments(id).end());
    const auto argument = [&](size_t k) { return made.at(arguments[k]); };
    switch (term.kind) {
    case Kind::constant:
      return term.width == 1 ? context.bool_val(term.payload != 0) : context.bv_val(term.payload, term.width);
    case Kind::symbol:
      return named(fmt::format("symbol{}", id), term.width);
    case Kind::linear: {
      z3::expr sum = context.bv_val(term.payload, term.width);
      for (size_t k = 0; k < arguments.size(); ++k) {
        const uint64_t factor = terms.coefficients(id)[k];
        sum = sum + (factor == 1 ? argument(k) : context.bv_val(factor, term.width) * argument(k));
      }
      return sum;
    }
    case Kind::multiply:
      return argument(0) * argument(1);
    case Kind::conjunction:
    case Kind::disjunction:
    case Kind::exclusive: {
      z3::expr result = argument(0);
      for (size_t k = 1; k < arguments.size(); ++k) {
        const z3::expr other = argument(k);
        if (term.kind == Kind::exclusive)
          result = result ^ other;
        else if (term.kind == Kind::conjunction)
          result = term.width == 1 ? result && other : result & other;
        else
          result = term.width == 1 ? result || other : result | other;
      }
      return result;
    }
    case Kind::complement:
      return term.width == 1 ? !argument(0) : ~argument(0);
    case Kind::shift_left:
      return z3::shl(argument(0), widened(argument(1), term.width));
    case Kind::shift_right:
      return z3::lshr(argument(0), widened(argument(1), term.width));
    case Kind::shift_arithmetic:
      return z3::ashr(argument(0), widened(argument(1), term.width));
    case Kind::choose:
      return z3::ite(argument(0), argument(1), argument(2));
    case Kind::equal:
      return argument(0) == argument(1);
    case Kind::below:
      return z3::ult(argument(0), argument(1));
    case Kind::less:
      return z3::slt(argument(0), argument(1));
    case Kind::zero_extend:
      return z3::zext(argument(0), 32);
    case Kind::sign_extend:
      return z3::sext(argument(0), 32);
    case Kind::low:
      return argument(0).extract(31, 0);
    case Kind::high:
      return argument(0).extract(63, 32);
    case Kind::lane_bit:
      return bit_of(argument(0));
    case Kind::mask_of: {
      const z3::expr mask = named(fmt::format("mask{}", of.representative(id)), 64);
      facts.push_back(bit_of(mask) == argument(0));
      return mask;
    }
    case Kind::count_ones:
    case Kind::leading_zeros:
    case Kind::trailing_zeros:
    case Kind::reverse_bits:
      return applied(fmt::format("unary{}", unsigned(term.kind)), arguments, term.width);
    case Kind::pick:
      return function_value(arguments[0], fmt::format("pick{} {}", term.payload, term.width), term.width);
    default:
      return function_value(id, "value", term.width);
    }
  }

  /// Whether nothing makes `condition` true and the two different.
  bool valid(Id a, Id b, Id condition, std::chrono::milliseconds limit) {
    const z3::expr first = expression(a), second = expression(b), holds = expression(condition);
    z3::solver solver(context);
    z3::params parameters(context);
    parameters.set("rlimit", static_cast<unsigned>(limit.count()) * steps_per_millisecond);
    parameters.set("timeout", static_cast<unsigned>(limit.count()) * patience);
    solver.set(parameters);
    for (const z3::expr& fact : facts) solver.add(fact);
    solver.add(holds);
    solver.add(first != second);
    return solver.check() == z3::unsat;
  }
};

Equality::Equality(Terms& terms, Id lane, std::chrono::milliseconds limit, const Effort& effort)
    : terms_(terms), lane_(lane), limit_(limit), most_failures_(std::min(most_failures, effort.unanswered)),
      most_terms_(effort.question_terms) {
  for (unsigned k = 0; k < world_count; ++k) worlds_.emplace_back(terms, lane, 0x1234567 + k * 7919);
}

Equality::~Equality() = default;

/// The first node met that is the same function of equal arguments.
Id Equality::representative(Id node) {
  if (const auto found = representatives_.find(node); found != representatives_.end()) return found->second;
  representatives_[node] = node; // whoever asks again meanwhile gets a name of its own
  const Term term = terms_[node];
  if (term.kind == Kind::pick) {
    // A memory that an operation left: the same as what its equal left.
    const Id whole = representative(terms_.arguments(node)[0]);
    const Id same = terms_.pick(whole, static_cast<uint32_t>(term.payload), term.width, term.uniform);
    representatives_[same] = same;
    return representatives_[node] = same;
  }
  if (!speaks_of_the_wave(term.kind) && term.kind != Kind::mask_of) return node;
  std::vector<Id>& others = by_function_[term.payload << 8 | uint64_t(term.kind)];
  const std::vector<Id> candidates = others;
  for (Id other : candidates)
    if (terms_[other].count == term.count && parts_equal(other, node) == Answer::equal)
      return representatives_[node] = other;
  by_function_[term.payload << 8 | uint64_t(term.kind)].push_back(node);
  return node;
}

Answer Equality::parts_equal(Id a, Id b) {
  for (size_t k = 0; k < terms_[a].count; ++k)
    if (const Answer answer = compare(terms_.arguments(a)[k], terms_.arguments(b)[k]); answer != Answer::equal)
      return answer;
  return Answer::equal;
}

Answer Equality::compare(Id a, Id b, Id condition) {
  if (a == b || condition == terms_.bit(false)) return Answer::equal;
  if (terms_[a].width != terms_[b].width) return Answer::different;
  if (terms_.too_large()) return Answer::unknown;
  const std::array<Id, 3> question = {std::min(a, b), std::max(a, b), condition};
  if (const auto found = known_.find(question); found != known_.end()) return found->second;
  known_[question] = Answer::unknown; // whoever comes back here in a circle does not get a proof from it
  const auto answer = [&]() -> Answer {
    for (World& world : worlds_) {
      if (terms_.too_large()) return Answer::unknown;
      if (world.difference(a, b, condition) >= 0) return Answer::different;
    }
    const Kind kind = terms_[a].kind;
    if (terms_[a].width == 0) {
      if (kind != terms_[b].kind || terms_[a].payload != terms_[b].payload || terms_[a].count != terms_[b].count)
        return Answer::unknown;
      if (kind == Kind::symbol) return Answer::unknown;
      return parts_equal(a, b);
    }
    if (failures_ >= most_failures_ || limit_.count() == 0) return Answer::unknown;
    ++questions_;
    bool valid = false;
    try {
      if (!solver_) solver_ = std::make_unique<Solver>(*this, lane_);
      valid = solver_->valid(a, b, condition, limit_);
    } catch (const z3::exception&) {
      valid = false; // out of memory, or interrupted
    }
    failures_ += !valid;
    return valid ? Answer::equal : Answer::unknown;
  }();
  return known_[question] = answer;
}

} // namespace asmevo::prove
