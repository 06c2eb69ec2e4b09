// A language model behind a network as the one who proposes.
//
// Networks and services fail in ordinary ways: too many requests, servers that are overloaded, streams that break off,
// answers that are no JSON. Those are tried again, after the time that the server asks for or after one that doubles;
// what cannot change (a wrong key, a model that there is not, no money) is not. Every request is paid for, so a budget
// of tokens or of cost is kept by never asking for more than is left of it.
#pragma once

#include "agent/correspondent.h"
#include "agent/provider_config.h"

#include <chrono>
#include <memory>

namespace asmevo::agent {

struct ModelSettings {
  std::string provider, model;
  int64_t answer_tokens = 16000; // of one answer at most
  int64_t token_budget = 0;      // input and output, of the whole run; 0: unbounded
  double cost_budget = 0;        // 0: unbounded
  double timeout_seconds = 600;  // of one request
};

class ModelAgent : public Correspondent {
public:
  /// `spent` says what the run has spent so far, and must outlive the agent; `pause` is the first wait before a request
  /// is made again.
  ModelAgent(Provider provider, ModelSettings settings, const Usage& spent,
             std::chrono::milliseconds pause = std::chrono::seconds(1));

  std::string_view name() const override { return "llm"; }
  std::expected<Answer, Silence> ask(const Question& question) override;
  void tell(const search::Proposal&, const gate::Verdict&) override {} // the next prompt does

private:
  struct Failure {
    std::string why;
    bool final = false;
    std::optional<double> wait; // seconds, where the server said so
    Usage usage;
  };

  std::expected<Answer, Failure> request(const Conversation& conversation, const volatile bool* stop);
  std::expected<Completion, Failure> send(const Conversation& conversation, const volatile bool* stop);
  /// How long the answer may be. Errors: nothing is left.
  Result<int64_t> affordable(size_t input_tokens, const Usage& unbooked) const;
  Usage priced(int64_t input_tokens, int64_t output_tokens) const;

  Provider provider_;
  ModelSettings settings_;
  const Usage& spent_;
  std::chrono::milliseconds pause_;
  std::chrono::steady_clock::time_point next_request_;
};

/// Errors: those of find_provider(); a budget of cost for a model whose price is not known.
Result<Provider> provider_for(const ModelSettings& settings);

} // namespace asmevo::agent
