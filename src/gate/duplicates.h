// Duplicates: candidates that were judged before.
//
// A driver forgets, and two different edits often make the same kernel, so a search meets the same candidate again and
// again. Text is compared before anything is assembled: the edited listing without comments and spacing, with labels
// renamed in order of appearance. What still differs as text may be equal as bytes, so the built artifact's hash is
// looked up too, before anything is executed.
#pragma once

#include "recover/program.h"

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

namespace asmevo::gate {

/// The listing of `program` after `edits` (sorted, not overlapping), normalised: one instruction a line, single spaces,
/// no comments, labels L0, L1, ... in order of definition.
std::string normalised_text(const recover::Program& program, std::span<const recover::Edit> edits);
/// The same for a whole listing.
std::string normalised_text(std::string_view listing);

/// Every candidate that has been judged, by what it looked like. The number is the evaluation that judged it.
struct Known {
  std::unordered_map<std::string, int64_t> texts;     // sha256 of the normalised text
  std::unordered_map<std::string, int64_t> artifacts; // sha256 of the built object
};

} // namespace asmevo::gate
