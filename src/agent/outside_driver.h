// The driver that asks someone outside.
//
// For each proposal it composes a prompt about one window and one direction, asks, and reads the answer. An answer that
// is no proposal goes back with the reason, a few times; then another window or direction is asked about. When there is
// still no proposal, or nobody answers, the session ends and says why, and the run can be resumed. What is asked next
// follows from the lineage; a session only remembers what it was told that there is nothing to propose for.
#pragma once

#include "agent/correspondent.h"
#include "agent/reply.h"

#include <memory>

namespace asmevo::agent {

class OutsideDriver : public search::Driver {
public:
  OutsideDriver(std::unique_ptr<Correspondent> correspondent, std::unique_ptr<Transcript> transcript,
                size_t prompt_tokens)
      : transcript_(std::move(transcript)), correspondent_(std::move(correspondent)), prompt_tokens_(prompt_tokens) {}

  std::string_view name() const override { return correspondent_->name(); }
  bool repeatable() const override { return false; }
  std::optional<std::string> trouble() const override { return trouble_; }
  std::optional<search::Proposal> propose(const search::State& state, std::mt19937_64& random) override;
  void learn(const search::Proposal& proposal, const gate::Verdict& verdict) override;

private:
  struct Stop {}; // of the session; trouble_ says why
  using Outcome = std::variant<search::Proposal, Nothing, Refused, Stop>;

  std::vector<Focus> foci_left(const search::State& state, const CodeView& view);
  Outcome ask(const search::State& state, const CodeView& view, const Prompt& prompt);
  /// Errors: the account cannot be kept; then nothing more may be spent.
  Result<void> note(const Question& question, std::string_view answer, std::string_view result, const Usage& usage,
                    double seconds);

  std::unique_ptr<Transcript> transcript_; // which the correspondent may look at
  std::unique_ptr<Correspondent> correspondent_;
  size_t prompt_tokens_;
  std::optional<std::string> trouble_;
  int64_t questions_ = 0;
  int64_t version_ = -1;         // that exhausted_ is about
  std::vector<Focus> exhausted_; // nothing to propose, or no answer that is a proposal
  Usage unbilled_;               // of what brought no proposal
  bool waiting_ = false;         // for the verdict on a proposal of this session
};

} // namespace asmevo::agent
