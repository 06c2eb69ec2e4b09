#include "agent/model_agent.h"

#include "agent/paging.h"
#include "agent/tokens.h"
#include "support/json.h"

#include <algorithm>
#include <array>
#include <random>
#include <thread>

namespace asmevo::agent {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr size_t most_tries = 6;
constexpr double longest_pause = 60, longest_wish = 600; // seconds
constexpr int64_t least_answer = 256;                    // tokens: no proposal is shorter
constexpr double estimate_margin = 1.15;                 // models cut text differently
constexpr std::array<long, 4> passing_statuses = {408, 409, 425, 429};

bool may_pass(long status) {
  return status >= 500 || std::ranges::find(passing_statuses, status) != passing_statuses.end();
}

Conversation conversation_of(const Question& question, const std::string& model) {
  Conversation conversation{.model = model, .system = question.prompt.system};
  conversation.turns.push_back({false, question.prompt.user});
  for (const Rejoinder& one : question.refused) {
    conversation.turns.push_back({true, one.answer.empty() ? "(nothing)" : one.answer});
    conversation.turns.push_back(
        {false, fmt::format("That is no proposal: {}\nAnswer again, with one JSON object.", one.why)});
  }
  return conversation;
}

size_t tokens_in(const Conversation& conversation) {
  size_t tokens = estimated_tokens(conversation.system);
  for (const Turn& turn : conversation.turns) tokens += estimated_tokens(turn.text) + 4;
  return tokens;
}

/// False where it was stopped.
bool wait_until(Clock::time_point moment, const volatile bool* stop) {
  while (Clock::now() < moment) {
    if (stop && *stop) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(50ms, moment - Clock::now()));
  }
  return !(stop && *stop);
}

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

} // namespace

ModelAgent::ModelAgent(Provider provider, ModelSettings settings, const Usage& spent, std::chrono::milliseconds pause)
    : provider_(std::move(provider)), settings_(std::move(settings)), spent_(spent), pause_(pause) {}

std::expected<Answer, Silence> ModelAgent::ask(const Question& question) {
  Conversation conversation = conversation_of(question, settings_.model);
  const volatile bool* stop = question.state.stop;
  std::mt19937_64 jitter(uint64_t(question.number));
  Usage wasted;
  std::string why;
  for (size_t tries = 0; tries < most_tries; ++tries) {
    auto longest = affordable(tokens_in(conversation), wasted);
    if (!longest) return std::unexpected(Silence{longest.error().message, true, wasted});
    conversation.longest_answer = *longest;
    auto answer = request(conversation, stop);
    if (answer) {
      answer->usage += wasted;
      return *std::move(answer);
    }
    wasted += answer.error().usage;
    why = fmt::format("{}: {}", provider_.name, answer.error().why);
    if (answer.error().final || (stop && *stop)) return std::unexpected(Silence{why, true, wasted});
    const double backoff = std::min(longest_pause, std::chrono::duration<double>(pause_).count() * double(1u << tries));
    const double wished = answer.error().wait.value_or(0);
    if (wished > longest_wish)
      return std::unexpected(Silence{fmt::format("{}; it asks to wait {:.0f} s", why, wished), true, wasted});
    const double spread = std::uniform_real_distribution(0.5, 1.0)(jitter);
    if (tries + 1 < most_tries && !wait_until(Clock::now() + seconds(std::max(wished, backoff * spread)), stop))
      return std::unexpected(Silence{"stopped", true, wasted});
  }
  return std::unexpected(Silence{fmt::format("{} ({} times)", why, most_tries), true, wasted});
}

std::expected<Answer, ModelAgent::Failure> ModelAgent::request(const Conversation& conversation,
                                                               const volatile bool* stop) {
  if (provider_.requests_per_minute > 0) {
    if (!wait_until(next_request_, stop)) return std::unexpected(Failure{"stopped", true});
    next_request_ = Clock::now() + seconds(60 / provider_.requests_per_minute);
  }
  auto completion = send(conversation, stop);
  if (!completion) return std::unexpected(std::move(completion).error());
  // Servers that do not count: about what it was.
  if (completion->input_tokens == 0) completion->input_tokens = int64_t(tokens_in(conversation));
  if (completion->output_tokens == 0) completion->output_tokens = int64_t(estimated_tokens(completion->text));
  Answer answer{.text = std::move(completion->text),
                .model = completion->model.empty() ? settings_.model : std::move(completion->model),
                .usage = priced(completion->input_tokens, completion->output_tokens)};
  if (completion->cut_off)
    answer.remark = fmt::format("the answer was cut off after {} tokens: be brief", completion->output_tokens);
  return answer;
}

std::expected<Completion, ModelAgent::Failure> ModelAgent::send(const Conversation& conversation,
                                                                const volatile bool* stop) {
  const Protocol& protocol = *provider_.protocol;
  const HttpRequest request{provider_.url, protocol.headers(provider_.key),
                            write_json(protocol.body(conversation, provider_.own_service)), settings_.timeout_seconds,
                            stop};
  // What a server worked on is paid for, whether or not the answer arrives.
  const Usage work = priced(int64_t(tokens_in(conversation)), 0);
  auto response = http_post(request);
  if (!response) {
    Failure failure{response.error().why, response.error().stopped};
    if (response.error().sent) failure.usage = work;
    return std::unexpected(std::move(failure));
  }
  if (response->status != 200) {
    const ServerError error = read_error(*response);
    return std::unexpected(Failure{fmt::format("status {}: {}", response->status, error.message),
                                   !may_pass(response->status) || error.code == "insufficient_quota",
                                   response->retry_after,
                                   {}});
  }
  auto completion = protocol.read(response->body);
  if (!completion) return std::unexpected(Failure{completion.error(), false, {}, work});
  return *std::move(completion);
}

Usage ModelAgent::priced(int64_t input_tokens, int64_t output_tokens) const {
  Usage usage{input_tokens, output_tokens};
  if (provider_.price)
    usage.cost =
        (double(input_tokens) * provider_.price->input + double(output_tokens) * provider_.price->output) / 1e6;
  return usage;
}

Result<int64_t> ModelAgent::affordable(size_t input_tokens, const Usage& unbooked) const {
  const auto input = int64_t(double(input_tokens) * estimate_margin);
  int64_t longest = settings_.answer_tokens;
  if (settings_.token_budget > 0) {
    const int64_t used = spent_.input_tokens + spent_.output_tokens + unbooked.input_tokens + unbooked.output_tokens;
    longest = std::min(longest, settings_.token_budget - used - input);
    if (longest < least_answer)
      return fail("the budget of {} tokens is spent: {} were used, and the next question takes {}",
                  settings_.token_budget, used, input);
  }
  if (settings_.cost_budget > 0 && provider_.price) {
    const double left = settings_.cost_budget - spent_.cost - unbooked.cost - priced(input, 0).cost;
    const double most = provider_.price->output > 0 ? left * 1e6 / provider_.price->output : left >= 0 ? 1e18 : -1;
    longest = std::min(longest, int64_t(std::clamp(most, -1.0, 1e18)));
    if (longest < least_answer)
      return fail("the budget of {} is spent: {:.4f} was used, and the next question costs {:.4f}",
                  settings_.cost_budget, spent_.cost + unbooked.cost, priced(input, least_answer).cost);
  }
  return longest;
}

Result<Provider> provider_for(const ModelSettings& settings) {
  if (settings.provider.empty()) return fail("--driver llm: needs --provider NAME");
  if (settings.model.empty()) return fail("--driver llm: needs --model NAME");
  AE_TRY(Provider provider, find_provider(settings.provider, settings.model, config_path()));
  if (settings.cost_budget > 0 && !provider.price)
    return fail("--cost-budget {}: no price of model {} is known; write it to {}", settings.cost_budget, settings.model,
                config_path());
  return provider;
}

} // namespace asmevo::agent
