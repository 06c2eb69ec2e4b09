#include "search/drivers/superopt/sequence.h"

#include <algorithm>
#include <charconv>

namespace asmevo::search::superopt {
namespace {

using prove::Id;
using prove::Terms;

std::string_view type_name(Type type) { return type == Type::word ? "w" : type == Type::wide ? "l" : "b"; }

std::string spelled(const Step& step) {
  std::string text = (step.kept ? "!" : "") + step.opcode->name;
  for (uint8_t k = 0; k < step.opcode->count; ++k) text += fmt::format(" {}", step.sources[k]);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class T> std::optional<T> number(std::string_view text, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A constant as a source of this type.
Id as_source(Terms& terms, Id id, Type type) {
  return type == Type::wide && terms[id].width == 32 ? terms.sign_extend(id) : id;
}

/// A copy of a register, which those that read it can mostly read through.
bool is_copy(const Sequence& sequence, const Step& step) {
  if (step.opcode->name != "v_mov_b32" || !sequence.is_leaf(step.sources[0])) return false;
  const Leaf& from = sequence.leaves[step.sources[0]];
  return !from.constant && !from.scalar;
}

Id vector_result(const Opcode& opcode, Terms& terms, std::vector<Id>& sources, Id& second) {
  if (!opcode.vector) return sources[0]; // a move
  for (uint8_t k = 0; k < opcode.count; ++k)
    if (opcode.vector->sources[k] == machine::Format::b16)
      sources[k] = terms.conjunction(sources[k], terms.constant(32, 0xffff));
  const prove::IntegerResult result = opcode.vector->plain(terms, sources);
  second = result.carry;
  return result.value;
}

} // namespace

Type Sequence::type_of(uint16_t value) const {
  if (is_leaf(value)) return leaves[value].type;
  const Opcode& opcode = *steps[step_of(value)].opcode;
  return (value - leaves.size()) % 2 == 0 ? opcode.result : opcode.second;
}

Cost cost_of(const Sequence& sequence) {
  Cost cost;
  std::vector<double> ready(sequence.leaves.size() + 2 * sequence.steps.size(), 0);
  for (size_t k = 0; k < sequence.steps.size(); ++k) {
    const Step& step = sequence.steps[k];
    double begin = 0;
    for (uint8_t s = 0; s < step.opcode->count; ++s) begin = std::max(begin, ready[step.sources[s]]);
    ready[sequence.value_of(k)] = ready[sequence.value_of(k) + 1] = begin + step.opcode->latency;
    if (step.kept || step.opcode->unit == Unit::naming) continue;
    cost.issue += is_copy(sequence, step) ? step.opcode->issue / 2 : step.opcode->issue;
    ++cost.count;
  }
  cost.latency = ready[sequence.result];
  return cost;
}

std::string spelled(const Sequence& sequence) {
  std::string text;
  for (const Leaf& leaf : sequence.leaves) {
    if (!leaf.constant)
      text += fmt::format("{}{} ", leaf.scalar ? "s" : "v", type_name(leaf.type));
    else
      text += leaf.abstract ? "c " : fmt::format("={:x} ", leaf.value);
  }
  for (const Step& step : sequence.steps) text += "|" + spelled(step);
  return text + fmt::format("|{}", sequence.result);
}

std::string spelled_steps(const Sequence& replacement, size_t shared_leaves) {
  std::string text;
  for (size_t k = shared_leaves; k < replacement.leaves.size(); ++k)
    text += fmt::format("={:x}|", replacement.leaves[k].value);
  for (const Step& step : replacement.steps) text += spelled(step) + "|";
  return text + fmt::format("{}", replacement.result);
}

std::optional<Sequence> read_steps(std::string_view text, const Sequence& window, const Opcodes& opcodes) {
  constexpr size_t most_parts = 64;
  Sequence sequence{.leaves = window.leaves};
  const auto parts = split(text, '|');
  if (parts.size() > most_parts) return std::nullopt;
  size_t at = 0;
  for (; at < parts.size() && parts[at].starts_with('='); ++at) {
    const auto value = number<uint32_t>(parts[at].substr(1), 16);
    if (!value) return std::nullopt;
    sequence.leaves.push_back({.constant = true, .value = *value});
  }
  for (; at + 1 < parts.size(); ++at) {
    const auto words = split(parts[at], ' ');
    const Opcode* opcode = opcodes.named(words[0]);
    if (!opcode || (!opcode->evaluate && opcode->unit != Unit::naming) || words.size() != opcode->count + size_t{1})
      return std::nullopt;
    Step step{.opcode = opcode};
    for (uint8_t k = 0; k < opcode->count; ++k) {
      const auto source = number<uint16_t>(words[k + 1]);
      if (!source || *source >= sequence.value_of(sequence.steps.size())) return std::nullopt;
      const Type type = sequence.type_of(*source);
      const bool widened = sequence.is_leaf(*source) && sequence.leaves[*source].constant &&
                           opcode->sources[k] == Type::wide && type == Type::word;
      if (type != opcode->sources[k] && !widened) return std::nullopt;
      step.sources[k] = *source;
    }
    sequence.steps.push_back(step);
  }
  const auto result = number<uint16_t>(parts.back());
  if (!result || *result >= sequence.value_of(sequence.steps.size())) return std::nullopt;
  sequence.result = *result;
  if (sequence.type_of(*result) != window.type_of(window.result)) return std::nullopt;
  return sequence;
}

Sequence without_unused_leaves(const Sequence& sequence, size_t shared) {
  std::vector<bool> used(sequence.leaves.size(), false);
  const auto note = [&](uint16_t value) {
    if (sequence.is_leaf(value)) used[value] = true;
  };
  note(sequence.result);
  for (const Step& step : sequence.steps)
    for (uint8_t k = 0; k < step.opcode->count; ++k) note(step.sources[k]);
  Sequence result;
  std::vector<uint16_t> moved(sequence.leaves.size(), 0);
  for (size_t k = 0; k < sequence.leaves.size(); ++k) {
    moved[k] = uint16_t(result.leaves.size());
    if (k < shared || used[k]) result.leaves.push_back(sequence.leaves[k]);
  }
  const auto dropped = uint16_t(sequence.leaves.size() - result.leaves.size());
  const auto renumbered = [&](uint16_t value) {
    return sequence.is_leaf(value) ? moved[value] : uint16_t(value - dropped);
  };
  for (Step step : sequence.steps) {
    for (uint8_t k = 0; k < step.opcode->count; ++k) step.sources[k] = renumbered(step.sources[k]);
    result.steps.push_back(step);
  }
  result.result = renumbered(sequence.result);
  return result;
}

Id term_of(const Sequence& sequence, Terms& terms, const std::vector<Id>& leaves) {
  std::vector<Id> values = leaves;
  for (const Step& step : sequence.steps) {
    const Opcode& opcode = *step.opcode;
    std::vector<Id> sources;
    for (uint8_t k = 0; k < opcode.count; ++k)
      sources.push_back(as_source(terms, values[step.sources[k]], opcode.sources[k]));
    Id value = 0, second = 0;
    if (opcode.unit == Unit::naming) {
      value = opcode.name == "pair"  ? terms.pair(sources[0], sources[1])
              : opcode.name == "low" ? terms.low(sources[0])
                                     : terms.high(sources[0]);
    } else if (opcode.unit == Unit::vector) {
      value = vector_result(opcode, terms, sources, second);
    } else {
      Id scc = opcode.reads_scc ? sources[opcode.count - 1] : terms.bit(false);
      value = opcode.scalar->run(terms, sources, scc);
      second = scc;
    }
    values.push_back(value);
    values.push_back(second);
  }
  return values[sequence.result];
}

std::vector<Id> leaf_terms(const Sequence& sequence, Terms& terms) {
  std::vector<Id> ids;
  for (size_t k = 0; k < sequence.leaves.size(); ++k) {
    const Leaf& leaf = sequence.leaves[k];
    const uint8_t width = leaf.type == Type::wide ? 64 : leaf.type == Type::bit ? 1 : 32;
    if (leaf.constant && !leaf.abstract)
      ids.push_back(terms.constant(32, leaf.value));
    else
      ids.push_back(terms.symbol(width, fmt::format("leaf {}", k), leaf.scalar || leaf.constant));
  }
  return ids;
}

} // namespace asmevo::search::superopt
