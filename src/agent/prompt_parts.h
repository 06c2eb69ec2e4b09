// What a prompt is put together from. Each function says one thing in text that a model reads; prompt.cpp decides what
// of it there is room for.
//
// Text that comes from the object or from earlier answers (names, rationales, evidence) is shortened, freed of control
// characters and kept on its line, so that it cannot pass for a heading or for the end of a block.
#pragma once

#include "agent/focus.h"
#include "search/driver.h"

#include <string>
#include <vector>

namespace asmevo::agent {

/// Kernel, launch, resources, time, where the run stands.
std::string kernel_facts(const search::State& state, const CodeView& view);

/// Registers and waits at the edges of `hot`, registers that are free in all of `shown`, the code of `shown` with what
/// it costs, and who waits for whom in it.
std::string window_text(const search::State& state, const CodeView& view, Range shown, Range hot);

/// The hot windows, one row each.
std::vector<std::string> window_rows(const CodeView& view, const Focus& focus);

/// The versions from the one that is worked on back to the original.
std::vector<std::string> lineage_rows(const search::State& state);

/// The newest verdict in full: what failed, where, and what would have been legal. Empty where there is none.
std::string last_verdict(const search::State& state);

/// Attempts that brought nothing, but for the newest one: those on this version first, then the newest first.
std::vector<std::string> failure_rows(const search::State& state);

/// What is asked for.
std::string task_text(const search::State& state, Range shown, Range hot, Direction direction);

} // namespace asmevo::agent
