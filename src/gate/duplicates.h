// Duplicates: candidates that were judged before.
//
// A driver forgets, and two different edits often make the same kernel, so a search meets the same candidate again and
// again. Text is compared before anything is assembled: the edited listing without comments and spacing, with labels
// renamed in order of appearance. What still differs as text may be equal as bytes, so the built artifact's hash is
// looked up too, before anything is executed.
#pragma once

#include "recover/program.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace asmevo::gate {

/// The listing of `program` after `edits` (sorted, not overlapping), normalised: one instruction a line, single spaces,
/// no comments, labels L0, L1, ... in order of definition.
std::string normalised_text(const recover::Program& program, std::span<const recover::Edit> edits);
/// The same for a whole listing.
std::string normalised_text(std::string_view listing);

/// Every candidate that has been judged, by what it looked like. Several threads may ask while one adds.
class Known {
public:
  /// `text` and `artifact` are sha256 of the normalised text and of the built object; either may be empty. What was
  /// judged first keeps its number; 0 is K0.
  void add(const std::string& text, const std::string& artifact, int64_t number);
  /// The number of the evaluation that judged it.
  std::optional<int64_t> text(const std::string& hash) const;
  std::optional<int64_t> artifact(const std::string& hash) const;

private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, int64_t> texts_, artifacts_;
};

} // namespace asmevo::gate
