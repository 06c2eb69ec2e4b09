#include "cli/outside.h"

#include "report/text.h"
#include "search/lineage.h"

#include <algorithm>

namespace asmevo::cli {

void outside_options(CLI::App& app, agent::OutsideSettings& settings) {
  app.add_option("COMMAND", settings.exec.command, "for --driver exec, behind --: the program with its arguments")
      ->type_name("");
  app.add_option_function<std::string>(
         "--exec-mode",
         [&settings](const std::string& name) {
           settings.exec.mode =
               agent::ExecMode(std::ranges::find(agent::exec_mode_names, name) - agent::exec_mode_names.begin());
         },
         "for --driver exec: request (a process for each question, JSON in and out), session (one process, JSON "
         "lines), "
         "prompt (a process for each question, the prompt as text); request without it")
      ->type_name("MODE")
      ->check(CLI::IsMember(std::vector<std::string>(agent::exec_mode_names.begin(), agent::exec_mode_names.end())));
  app.add_option(
         "--provider", settings.model.provider,
         "for --driver llm: openai (chat completions), openai-responses, anthropic, or one of the configuration "
         "file (docs/agents.md)")
      ->type_name("NAME");
  app.add_option("--model", settings.model.model, "for --driver llm: as the provider calls it")->type_name("NAME");
  app.add_option("--answer-tokens", settings.model.answer_tokens, "for --driver llm: of one answer at most (16000)")
      ->type_name("N")
      ->check(CLI::Range(256, 1'000'000));
  app.add_option("--token-budget", settings.model.token_budget,
                 "for --driver llm: tokens in and out that the run may spend; unbounded without it")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000'000}));
  app.add_option("--cost-budget", settings.model.cost_budget,
                 "for --driver llm: what the run may cost, at the prices of the configuration file")
      ->type_name("AMOUNT")
      ->check(CLI::PositiveNumber);
  app.add_option_function<double>(
         "--answer-timeout",
         [&settings](double seconds) { settings.exec.timeout_seconds = settings.model.timeout_seconds = seconds; },
         "for an answer from outside, in seconds (600)")
      ->type_name("S")
      ->check(CLI::Range(1, 86'400));
  app.add_option("--prompt-tokens", settings.prompt_tokens, "of one prompt at most, estimated (16000)")
      ->type_name("N")
      ->check(CLI::Range(agent::least_prompt_tokens, size_t{1'000'000}));
}

Result<void> check_outside(const agent::OutsideSettings& settings, std::string_view driver) {
  const auto& [prompt_tokens, exec, model] = settings;
  if (driver != "exec" && !exec.command.empty())
    return fail("{}: unexpected argument; a command is for --driver exec", exec.command[0]);
  if (driver != "llm" && !(model.provider.empty() && model.model.empty()))
    return fail("--provider, --model: are for --driver llm");
  if (driver != "llm" && !driver.empty() && (model.token_budget > 0 || model.cost_budget > 0))
    return fail("--token-budget, --cost-budget: are for --driver llm");
  return {};
}

Result<std::string> renewed_input(const std::string& input, const agent::OutsideSettings& settings) {
  AE_TRY(agent::OutsideSettings renewed, agent::settings_from_input(input));
  if (settings.model.token_budget > 0) renewed.model.token_budget = settings.model.token_budget;
  if (settings.model.cost_budget > 0) renewed.model.cost_budget = settings.model.cost_budget;
  return agent::to_input(renewed);
}

Result<std::optional<Spent>> spent_by(const std::string& run_directory) {
  AE_TRY(const agent::Transcript transcript, agent::Transcript::open(search::transcript_path(run_directory), {}));
  const agent::Usage& spent = transcript.spent();
  if (spent.input_tokens == 0 && spent.output_tokens == 0) return std::nullopt;
  Spent out;
  out.line = fmt::format("{} tokens in, {} out", report::grouped(uint64_t(spent.input_tokens)),
                         report::grouped(uint64_t(spent.output_tokens)));
  if (spent.cost > 0) out.line += fmt::format(", cost {:.4f}", spent.cost);
  out.document = {{"input_tokens", spent.input_tokens}, {"output_tokens", spent.output_tokens}, {"cost", spent.cost}};
  return out;
}

} // namespace asmevo::cli
