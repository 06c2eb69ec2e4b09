// Two listings side by side.
#pragma once

#include "recover/program.h"

#include <optional>

namespace asmevo::search {

/// What a function does, line by line: items without waits and nops, which follow from the rest.
struct Line {
  size_t item = 0;
  std::string key; // its text without names of labels
};
std::vector<Line> lines_of(const recover::Program& program, const recover::Function& function);

/// Lines [first[0], last[0]) of one function became lines [first[1], last[1]) of another.
struct Change {
  size_t first[2], last[2];
};

struct Alignment {
  std::vector<std::optional<size_t>> to; // for each line of the first: the line of the second that it is
  std::vector<Change> changes;           // what lies between, in order
};

/// By a longest common subsequence. Nothing where the parts that differ are too long for it.
std::optional<Alignment> align(const std::vector<Line>& a, const std::vector<Line>& b);

} // namespace asmevo::search
