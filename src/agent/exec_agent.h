// An external program as the one who proposes.
//
// Three ways to talk with it, since agent programs differ. `session`: one process for the whole run; each question is a
// line of JSON on its input, each answer a line on its output, and it hears the verdicts. `request`: a process for each
// question, which reads one such line and may print what it likes around its answer. `prompt`: likewise, but it reads
// the prompt as plain text, as the command lines of language models do. docs/agents.md has the schema and examples.
#pragma once

#include "agent/child_process.h"
#include "agent/correspondent.h"

#include <memory>
#include <optional>

namespace asmevo::agent {

enum class ExecMode : uint8_t { request, session, prompt };
inline constexpr std::array<std::string_view, 3> exec_mode_names = {"request", "session", "prompt"};

struct ExecSettings {
  std::vector<std::string> command;
  ExecMode mode = ExecMode::request;
  double timeout_seconds = 600; // of one answer
};

/// Errors: there is no such program; an argument looks like a key, which would be stored with the run.
Result<std::unique_ptr<Correspondent>> make_exec_agent(ExecSettings settings);

} // namespace asmevo::agent
