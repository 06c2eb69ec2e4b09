// A replacement as text, with registers.
#include "search/drivers/superopt/lines.h"
#include "search/drivers/superopt/window.h"

#include <algorithm>

namespace asmevo::search::superopt {
namespace {

using analysis::RegisterSet;
using isa::File;
using isa::RegisterRange;
using rewrite::Facts;

std::string constant_text(uint32_t value) {
  return is_inline(value) ? fmt::format("{}", int32_t(value)) : fmt::format("{:#x}", value);
}

/// Registers for values that are made on the way.
class Allocation {
public:
  Allocation(const Facts& facts, const Window& window) : busy_(facts.live_after(window.root())) {
    for (size_t k = 0; k < window.inputs.size(); ++k)
      if (!window.sequence.leaves[k].constant) busy_ |= facts.liveness.registers.set_of({{window.inputs[k]}});
    vgprs_ = facts.vgpr_budget;
    // Scalar registers are taken from those that the window itself wrote: there always are enough of them.
    for (size_t item : window.items)
      for (const RegisterRange& range : facts.instruction(item).defs)
        for (uint16_t n = 0; range.file == File::sgpr && n < range.count; ++n)
          if (range.first + n < isa::flat_scratch_lo) sgprs_.push_back(uint16_t(range.first + n));
  }

  std::optional<RegisterRange> take(File file, uint16_t count) {
    if (file == File::vgpr) {
      for (uint16_t first = 0; first + count <= vgprs_; first += count)
        if (const RegisterRange range{file, first, count}; is_free(range)) return taken(range);
      return std::nullopt;
    }
    for (uint16_t first : sgprs_)
      if (const RegisterRange range{file, first, count}; count == 1 && is_free(range)) return taken(range);
    return std::nullopt;
  }

  /// The result's own registers may hold what comes before it, unless something still reads what is in them.
  bool is_free(const RegisterRange& range) const {
    for (uint16_t n = 0; n < range.count; ++n)
      if (busy_.test(analysis::bit_of(range.file, uint16_t(range.first + n)))) return false;
    return true;
  }
  RegisterRange taken(const RegisterRange& range) {
    for (uint16_t n = 0; n < range.count; ++n) busy_.set(analysis::bit_of(range.file, uint16_t(range.first + n)));
    return range;
  }

private:
  RegisterSet busy_;
  uint32_t vgprs_ = 0;
  std::vector<uint16_t> sgprs_;
};

/// The registers of a part of a pair, or of two words as one. Nothing where they do not lie so.
std::optional<RegisterRange> named(std::string_view naming, const RegisterRange& first, const RegisterRange& second) {
  if (naming == "low") return RegisterRange{first.file, first.first, 1};
  if (naming == "high") return RegisterRange{first.file, uint16_t(first.first + 1), 1};
  if (first.file != second.file || first.first + 1 != second.first || first.first % 2 != 0) return std::nullopt;
  return RegisterRange{first.file, first.first, 2};
}

/// Sources in the order in which the short form can have them.
void arrange(const Opcode& opcode, std::vector<std::string>& sources) {
  const auto is_vgpr = [](const std::string& text) { return text.starts_with('v') && !text.starts_with("vcc"); };
  if (opcode.unit == Unit::vector && opcode.commutes && opcode.short_form && is_vgpr(sources[0]) &&
      !is_vgpr(sources[1]))
    std::swap(sources[0], sources[1]);
}

} // namespace

std::optional<std::string> text_of(const Facts& facts, const Window& window, const Sequence& replacement,
                                   std::vector<RegisterRange>& overwritten) {
  Allocation registers(facts, window);
  std::vector<std::optional<RegisterRange>> places(replacement.leaves.size() + 2 * replacement.steps.size());
  for (size_t k = 0; k < window.inputs.size(); ++k)
    if (!window.sequence.leaves[k].constant) places[k] = window.inputs[k];
  std::string text;
  for (size_t k = 0; k < replacement.steps.size(); ++k) {
    const Step& step = replacement.steps[k];
    const uint16_t value = replacement.value_of(k);
    if (step.opcode->unit == Unit::naming) {
      const auto first = places[step.sources[0]];
      const auto second = step.opcode->count == 2 ? places[step.sources[1]] : first;
      if (!first || !second || !(places[value] = named(step.opcode->name, *first, *second))) return std::nullopt;
      continue;
    }
    std::vector<std::string> sources;
    for (uint8_t s = 0; s < step.opcode->count; ++s) {
      const uint16_t source = step.sources[s];
      if (replacement.is_leaf(source) && replacement.leaves[source].constant) {
        // One that was left open in the replacement is the window's own.
        const bool shared = source < window.sequence.leaves.size();
        const uint32_t number = (shared ? window.sequence : replacement).leaves[source].value;
        if (step.opcode->sources[s] == Type::wide && !is_inline(number)) return std::nullopt;
        sources.push_back(constant_text(number));
      } else if (places[source]) {
        sources.push_back(rewrite::register_text(*places[source]));
      } else {
        return std::nullopt;
      }
    }
    arrange(*step.opcode, sources);
    const bool last = value == replacement.result;
    const auto to = last ? std::optional(window.output)
                         : registers.take(window.output.file, step.opcode->result == Type::wide ? 2 : 1);
    if (!to) return std::nullopt;
    if (!last) overwritten.push_back(*to);
    places[value] = to;
    text += fmt::format("{} {}", step.opcode->name, rewrite::register_text(*to));
    for (const std::string& source : sources) text += ", " + source;
    text += '\n';
  }
  const bool assembles = !text.empty() && facts.codec.assemble(text).has_value();
  return assembles ? std::optional(text) : std::nullopt;
}

} // namespace asmevo::search::superopt
