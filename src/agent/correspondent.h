// Someone outside who answers prompts: a program, a model behind a network.
#pragma once

#include "agent/prompt.h"
#include "agent/transcript.h"

#include <expected>
#include <span>

namespace asmevo::agent {

/// An answer to the same prompt that was no proposal, and why not.
struct Rejoinder {
  std::string answer, why;
};

struct Question {
  int64_t number = 0; // counts from 1 in a session
  const search::State& state;
  const CodeView& view;
  const Prompt& prompt;
  std::span<const Rejoinder> refused; // the oldest first
};

struct Answer {
  std::string text, model;
  Usage usage;
  std::string remark; // what else is wrong, where it is no proposal
};

/// No answer. `final`: asking again is no use.
struct Silence {
  std::string why;
  bool final = false;
  Usage usage; // what it cost all the same
};

class Correspondent {
public:
  virtual ~Correspondent() = default;
  virtual std::string_view name() const = 0; // of the driver
  /// Comes back soon where state.stop is set meanwhile.
  virtual std::expected<Answer, Silence> ask(const Question& question) = 0;
  /// What came of the proposal that it answered last.
  virtual void tell(const search::Proposal& proposal, const gate::Verdict& verdict) = 0;
};

} // namespace asmevo::agent
