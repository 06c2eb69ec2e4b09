// The prompt: everything that a model is told about one proposal, within a number of tokens.
//
// A model sees what is put here and nothing else. Parts have ranks: facts, window and task are always there; then come
// the newest verdict, the playbook of the direction, failures, the hot windows, the lineage. What has no room is left
// out from the end: of a list the oldest or least useful rows. The window shrinks around what is hottest only where not
// even it fits; with room to spare it grows into the code around, up to the whole kernel.
//
// The prompt depends on nothing but the state: the same run gives the same text, whose hash is kept with the proposal.
#pragma once

#include "agent/focus.h"
#include "search/driver.h"

#include <string>
#include <vector>

namespace asmevo::agent {

struct Prompt {
  std::string system, user;
  Range shown; // what may be edited
  Focus focus;
  std::string hash;                 // sha256 of both texts
  size_t tokens = 0;                // estimated
  std::vector<std::string> dropped; // headings of what was left out, wholly or in part
};

inline constexpr size_t least_prompt_tokens = 3000, usual_prompt_tokens = 16000;

/// `state` must have everything that drivers who ask someone outside are told. `focus` is one of foci_of(view).
Prompt compose(const search::State& state, const CodeView& view, const Focus& focus,
               size_t token_budget = usual_prompt_tokens);

/// The text of a file of src/agent/prompts/; empty where there is none.
std::string_view prompt_file(std::string_view name);

} // namespace asmevo::agent
