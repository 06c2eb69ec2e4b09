#include "agent/outside_driver.h"

#include "agent/paging.h"
#include "search/lineage.h"

#include <chrono>

namespace asmevo::agent {
namespace {

using nlohmann::json;

constexpr size_t most_refusals = 3; // answers to one prompt that are no proposals
constexpr size_t patience = 2;      // proposals about one window and direction that bring nothing
constexpr size_t most_nothings = 3; // prompts in a row to which nothing was proposed
constexpr size_t longest_answer_kept = size_t{64} << 10;

/// How many proposals for this version came to nothing.
size_t failures_on(const search::State& state) {
  return size_t(std::ranges::count_if(*state.attempts, [&](const search::Attempt& attempt) {
    return attempt.parent == state.version && attempt.verdict.outcome != gate::Outcome::accepted;
  }));
}

/// What is proposed is stored as it is.
bool holds_secret(const Reply& reply, const Secrets& secrets) {
  const auto* proposal = std::get_if<search::Proposal>(&reply);
  return proposal && std::ranges::any_of(proposal->edits, [&](const recover::Edit& edit) {
           return secrets.removed_from(edit.text) != edit.text;
         });
}

bool stopped(const search::State& state) { return state.stop && *state.stop; }

} // namespace

std::optional<search::Proposal> OutsideDriver::propose(const search::State& state, std::mt19937_64&) {
  trouble_.reset();
  if (!state.image) {
    trouble_ = fmt::format("driver {}: {} does not say where time goes", name(), state.device);
    return std::nullopt;
  }
  const CodeView view = view_code(*state.program, *state.function, *state.estimate, state.image->instructions(),
                                  std::string(state.device));
  const size_t first = failures_on(state) / patience;
  for (size_t turn = 0; turn < most_nothings; ++turn) {
    const std::vector<Focus> foci = foci_left(state, view);
    if (foci.empty()) break;
    const Focus focus = foci[first % foci.size()];
    Outcome outcome = ask(state, view, compose(state, view, focus, prompt_tokens_));
    if (std::holds_alternative<Stop>(outcome)) return std::nullopt;
    if (auto* proposal = std::get_if<search::Proposal>(&outcome)) return std::move(*proposal);
    exhausted_.push_back(focus);
    if (auto* refused = std::get_if<Refused>(&outcome))
      trouble_ = fmt::format("driver {}: {}", name(), refused->why);
    else
      trouble_.reset();
  }
  return std::nullopt;
}

std::vector<Focus> OutsideDriver::foci_left(const search::State& state, const CodeView& view) {
  if (std::exchange(version_, state.version) != state.version) exhausted_.clear();
  std::vector<Focus> foci = foci_of(view);
  std::erase_if(foci, [&](const Focus& focus) {
    return !within(focus, view, state.focus) || std::ranges::find(exhausted_, focus) != exhausted_.end();
  });
  return foci;
}

OutsideDriver::Outcome OutsideDriver::ask(const search::State& state, const CodeView& view, const Prompt& prompt) {
  std::vector<Rejoinder> refused;
  std::string why;
  bool answered = false;
  const auto stop = [&](std::string_view reason) {
    trouble_ = fmt::format("driver {}: {}", name(), bounded(reason, gate::evidence_limit));
    return Stop{};
  };
  for (size_t tries = 0; tries < most_refusals && !stopped(state); ++tries) {
    const Question question{++questions_, state, view, prompt, refused};
    const auto began = std::chrono::steady_clock::now();
    std::expected<Answer, Silence> answer = correspondent_->ask(question);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!answer) {
      why = transcript_->secrets().removed_from(answer.error().why);
      unbilled_ += answer.error().usage;
      if (auto kept = note(question, "", "no answer: " + why, answer.error().usage, seconds); !kept)
        return stop(kept.error().message);
      if (answer.error().final && !stopped(state)) return stop(why);
      continue;
    }
    answered = true;
    Reply reply = read_reply(answer->text, prompt.shown);
    if (holds_secret(reply, transcript_->secrets())) reply = Refused{"there is a key in the text of an edit"};
    auto* fault = std::get_if<Refused>(&reply);
    if (fault && !answer->remark.empty()) fault->why += "; " + answer->remark;
    auto* proposal = std::get_if<search::Proposal>(&reply);
    Usage usage = answer->usage;
    // A program may say itself what its answer took.
    if (proposal && usage.input_tokens == 0 && usage.output_tokens == 0)
      usage = {proposal->origin.input_tokens, proposal->origin.output_tokens, proposal->origin.cost};
    unbilled_ += usage;
    const std::string result = fault ? "refused: " + fault->why : proposal ? "proposal" : "nothing to propose";
    if (auto kept = note(question, answer->text, result, usage, seconds); !kept) return stop(kept.error().message);
    if (fault) {
      why = fault->why;
      refused.push_back({bounded(transcript_->secrets().removed_from(answer->text), longest_text), why});
      continue;
    }
    if (!proposal) return std::get<Nothing>(std::move(reply));
    const std::string model = answer->model.empty() ? proposal->origin.model : answer->model;
    const Secrets& secrets = transcript_->secrets();
    proposal->parent = state.version;
    proposal->rationale = secrets.removed_from(proposal->rationale);
    proposal->origin = {bounded(secrets.removed_from(model), longest_name), prompt.hash, unbilled_.input_tokens,
                        unbilled_.output_tokens, unbilled_.cost};
    unbilled_ = {};
    waiting_ = true;
    return std::move(*proposal);
  }
  if (stopped(state)) return Stop{};
  if (!answered) return stop(why);
  return Refused{fmt::format("{} answers to one prompt were no proposals; the last: {}", most_refusals, why)};
}

void OutsideDriver::learn(const search::Proposal& proposal, const gate::Verdict& verdict) {
  if (std::exchange(waiting_, false)) correspondent_->tell(proposal, verdict);
}

Result<void> OutsideDriver::note(const Question& question, std::string_view answer, std::string_view result,
                                 const Usage& usage, double seconds) {
  json record = {{"evaluation", question.state.number},
                 {"version", question.state.version},
                 {"direction", direction_name(question.prompt.focus.direction)},
                 {"prompt_hash", question.prompt.hash},
                 {"prompt", question.prompt.user},
                 {"answer", bounded(answer, longest_answer_kept)},
                 {"result", result},
                 {"seconds", seconds}};
  if (question.number == 1) record["system"] = question.prompt.system;
  return transcript_->add(std::move(record), usage);
}

} // namespace asmevo::agent
