// What someone outside answered to a prompt, read with suspicion.
//
// A language model was told to answer with one JSON object; it may put a paragraph before it, a fence around it, three
// drafts in a row, or no object at all. The last complete object that is an answer counts. It is either edits inside
// the window that was shown, or word that there is nothing to propose; everything else is refused with a reason that
// goes back to whoever wrote it, and costs no evaluation. What the text of an edit does is not judged here.
#pragma once

#include "agent/prompt.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

namespace asmevo::agent {

struct Nothing { // to propose
  std::string reason;
};
struct Refused {
  std::string why;
};
using Reply = std::variant<search::Proposal, Nothing, Refused>;

inline constexpr size_t longest_reply = size_t{4} << 20;

/// `text` in answer to a prompt that showed `shown`.
Reply read_reply(std::string_view text, Range shown);

/// The answer as a JSON schema, as docs/agents.md has it.
nlohmann::json reply_schema();

} // namespace asmevo::agent
