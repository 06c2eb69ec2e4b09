#include "agent/exec_agent.h"

#include "agent/advice.h"
#include "agent/paging.h"
#include "agent/reply.h"
#include "search/lineage.h"
#include "support/json.h"

#include <cstdlib>
#include <unistd.h>

namespace asmevo::agent {
namespace {

using nlohmann::json;
using Event = ChildProcess::Event;

constexpr int protocol = 1;
constexpr size_t longest_output = longest_reply; // bytes in answer to one question
constexpr size_t most_lines = 10'000;            // that are no answer, before one that is

json question_json(const Question& question) {
  const search::State& state = question.state;
  const Prompt& prompt = question.prompt;
  json items = json::array(), refused = json::array();
  for (size_t i = prompt.shown.first; i < prompt.shown.last; ++i) {
    const Line line = line_of(question.view, i);
    json item = {{"item", i}, {"text", line.text}};
    if (line.timed) item["share"] = line.share;
    if (!line.stall.empty()) item["stall"] = line.stall;
    items.push_back(std::move(item));
  }
  for (const Rejoinder& one : question.refused) refused.push_back({{"answer", one.answer}, {"why", one.why}});
  const Range hot = question.view.windows[prompt.focus.window].range;
  json out = {{"protocol", protocol},
              {"type", "question"},
              {"id", question.number},
              {"evaluation", state.number},
              {"evaluations_left", nullptr},
              {"version", state.version},
              {"speedup", (*state.versions)[size_t(state.version)].speedup},
              {"direction", direction_name(prompt.focus.direction)},
              {"window", {{"first", prompt.shown.first}, {"last", prompt.shown.last}}},
              {"hot", {{"first", hot.first}, {"last", hot.last}}},
              {"items", std::move(items)},
              {"system", prompt.system},
              {"prompt", prompt.user},
              {"prompt_hash", prompt.hash},
              {"refused", std::move(refused)}};
  if (state.evaluations_left) out["evaluations_left"] = *state.evaluations_left;
  return out;
}

std::string question_text(const Question& question) {
  std::string out = question.prompt.system + "\n" + question.prompt.user;
  if (!question.refused.empty())
    out += fmt::format("# Your answer was refused\n\n{}\n\nAnswer again, with one JSON object.\n",
                       question.refused.back().why);
  return out;
}

class ExecAgent : public Correspondent {
public:
  explicit ExecAgent(ExecSettings settings) : settings_(std::move(settings)) {}
  std::string_view name() const override { return "exec"; }

  std::expected<Answer, Silence> ask(const Question& question) override {
    const auto until = std::chrono::steady_clock::now() + std::chrono::ceil<std::chrono::milliseconds>(
                                                              std::chrono::duration<double>(settings_.timeout_seconds));
    const ChildProcess::Leash leash{until, longest_output, question.state.stop};
    return settings_.mode == ExecMode::session ? ask_session(question, leash) : ask_once(question, leash);
  }

  void tell(const search::Proposal&, const gate::Verdict& verdict) override {
    if (!session_) return;
    json out = {{"protocol", protocol},
                {"type", "verdict"},
                {"id", asked_},
                {"outcome", gate::outcome_name(verdict.outcome)},
                {"evidence", bounded(verdict.evidence, gate::evidence_limit)},
                {"advice", advice(verdict.outcome)},
                {"speedup", nullptr}};
    if (verdict.timing) out["speedup"] = verdict.timing->speedup;
    session_->say(write_json(out) + "\n");
  }

private:
  std::expected<Answer, Silence> ask_once(const Question& question, const ChildProcess::Leash& leash) {
    auto child = ChildProcess::start(settings_.command);
    if (!child) return std::unexpected(Silence{child.error().message, true});
    child->say(settings_.mode == ExecMode::prompt ? question_text(question)
                                                  : write_json(question_json(question)) + "\n");
    child->close_input();
    Answer answer;
    const Event event = child->all_output(leash, answer.text);
    if (event != Event::ended) return std::unexpected(silence(event, *child));
    if (!child->succeeded()) return std::unexpected(Silence{with_complaints(child->ending(), *child)});
    return answer;
  }

  std::expected<Answer, Silence> ask_session(const Question& question, const ChildProcess::Leash& leash) {
    if (!session_) {
      auto child = ChildProcess::start(settings_.command);
      if (!child) return std::unexpected(Silence{child.error().message, true});
      session_.emplace(*std::move(child));
    }
    asked_ = question.number;
    session_->say(write_json(question_json(question)) + "\n");
    Answer answer;
    for (size_t lines = 0;; ++lines) {
      const Event event = lines < most_lines ? session_->next_line(leash, answer.text) : Event::too_much;
      if (event != Event::line) {
        Silence why = silence(event, *session_);
        session_.reset(); // the next question begins another
        return std::unexpected(std::move(why));
      }
      // What belongs to an earlier question came too late.
      const json object = json::parse(answer.text, nullptr, false);
      const auto id = object.is_object() ? object.find("id") : object.end();
      if (answer.text.find_first_not_of(" \t\r") == std::string::npos) continue;
      if (object.is_object() && id != object.end() && *id != json(question.number)) continue;
      return answer;
    }
  }

  /// Ends the child.
  Silence silence(Event event, ChildProcess& child) {
    if (event == Event::ended) return {with_complaints(child.ending() + " and did not answer", child)};
    child.kill_now();
    switch (event) {
    case Event::late:
      return {with_complaints(fmt::format("no answer in {} s", settings_.timeout_seconds), child)};
    case Event::too_much:
      return {with_complaints(fmt::format("more than {} bytes of output", longest_output), child)};
    case Event::stopped:
      return {"stopped", true};
    case Event::line:
    case Event::ended:
      break;
    }
    return {};
  }

  std::string with_complaints(std::string what, ChildProcess& child) const {
    std::string out = fmt::format("{}: {}", settings_.command[0], what);
    std::string_view said = child.complaints();
    while (said.ends_with('\n')) said.remove_suffix(1);
    if (!said.empty()) out += fmt::format("; it said: {}", bounded(said, 1000));
    return out;
  }

  ExecSettings settings_;
  std::optional<ChildProcess> session_;
  int64_t asked_ = 0;
};

/// Where posix_spawnp would find it.
bool exists(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  const char* variable = std::getenv("PATH");
  std::string_view path = variable ? variable : "/usr/bin:/bin";
  while (true) {
    const size_t colon = path.find(':');
    const std::string folder(path.substr(0, colon));
    if (access(((folder.empty() ? "." : folder) + "/" + program).c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) return false;
    path.remove_prefix(colon + 1);
  }
}

} // namespace

Result<std::unique_ptr<Correspondent>> make_exec_agent(ExecSettings settings) {
  if (settings.command.empty() || settings.command[0].empty())
    return fail("--driver exec: needs a command: --driver exec -- COMMAND ARGUMENT...");
  if (!exists(settings.command[0])) return fail("{}: cannot run: no such program", settings.command[0]);
  const Secrets secrets = Secrets::of_environment();
  for (size_t i = 0; i < settings.command.size(); ++i)
    if (secrets.removed_from(settings.command[i]) != settings.command[i])
      return fail("{}: argument {} looks like a key, and the command is stored with the run; give keys through the "
                  "environment",
                  settings.command[0], i);
  return std::make_unique<ExecAgent>(std::move(settings));
}

} // namespace asmevo::agent
