// What the next proposal is about: one hot window, and one of the five directions of the search.
//
// A model that is asked for "something faster" proposes the same thing again and again. So each question is about one
// window and one direction, and the next pair is taken when a pair has brought nothing. Pairs are ranked by how much
// time stands in the window for reasons that the direction helps against.
#pragma once

#include "agent/code_view.h"
#include "search/driver.h"

#include <array>
#include <string_view>
#include <vector>

namespace asmevo::agent {

/// Those of the search, in its order, and any other.
enum class Direction : uint8_t {
  latency_hiding,
  dependency_reduction,
  register_pressure,
  memory_access,
  instruction_simplification,
  other,
};
static_assert(size_t(Direction::other) == search::direction_count);
inline constexpr std::array<std::string_view, 6> directions = {
    "latency-hiding", "dependency-reduction",       "register-pressure",
    "memory-access",  "instruction-simplification", "other"};
inline std::string_view direction_name(Direction direction) { return directions[size_t(direction)]; }

/// Nothing for "other", and for what is none.
std::optional<search::Direction> direction_of_search(std::string_view name);

struct Focus {
  size_t window = 0; // rank
  Direction direction = Direction::latency_hiding;

  bool operator==(const Focus&) const = default;
};

/// What the controller wants the next proposal to be about.
bool within(const Focus& focus, const CodeView& view, const search::Focus& wanted);

/// All pairs that have time to gain, the most of it first. Empty where nothing of the code was executed.
std::vector<Focus> foci_of(const CodeView& view);

} // namespace asmevo::agent
