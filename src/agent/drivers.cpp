#include "agent/drivers.h"

#include "agent/outside_driver.h"
#include "search/lineage.h"
#include "support/json.h"

#include <algorithm>

namespace asmevo::agent {
namespace {

using nlohmann::json;

struct Outside {
  std::string_view name, summary;
  Result<std::unique_ptr<Correspondent>> (*make)(const OutsideSettings&, Transcript&);
};

constexpr Outside outside_drivers[] = {
    {"exec", "an external program, over its standard input and output",
     [](const OutsideSettings& settings, Transcript&) { return make_exec_agent(settings.exec); }},
    {"llm", "a language model, over the network",
     [](const OutsideSettings& settings, Transcript& transcript) -> Result<std::unique_ptr<Correspondent>> {
       AE_TRY(Provider provider, provider_for(settings.model));
       transcript.secrets().add(provider.key);
       return std::make_unique<ModelAgent>(std::move(provider), settings.model, transcript.spent());
     }},
};

} // namespace

std::vector<std::pair<std::string_view, std::string_view>> all_drivers() {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const search::DriverEntry& entry : search::all_drivers()) all.emplace_back(entry.name, entry.summary);
  for (const Outside& entry : outside_drivers) all.emplace_back(entry.name, entry.summary);
  return all;
}

bool asks_outside(std::string_view name) {
  return std::ranges::find(outside_drivers, name, &Outside::name) != std::end(outside_drivers);
}

std::string to_input(const OutsideSettings& settings) {
  const ExecSettings& exec = settings.exec;
  const ModelSettings& model = settings.model;
  return write_json({{"prompt_tokens", settings.prompt_tokens},
                     {"exec",
                      {{"command", exec.command},
                       {"mode", exec_mode_names[size_t(exec.mode)]},
                       {"timeout_seconds", exec.timeout_seconds}}},
                     {"model",
                      {{"provider", model.provider},
                       {"model", model.model},
                       {"answer_tokens", model.answer_tokens},
                       {"token_budget", model.token_budget},
                       {"cost_budget", model.cost_budget},
                       {"timeout_seconds", model.timeout_seconds}}}});
}

namespace {

Result<ExecSettings> exec_from(const JsonView& view) {
  ExecSettings exec;
  for (size_t i = 0; i < view.at("command").size(); ++i) {
    AE_TRY(std::string word, view.at("command").at(i).string("command"));
    exec.command.push_back(std::move(word));
  }
  AE_TRY(const std::string mode, view.at("mode").string("mode"));
  const auto known = std::ranges::find(exec_mode_names, mode);
  if (known == exec_mode_names.end()) return view.at("mode").fail("no such mode: {}", mode);
  exec.mode = ExecMode(known - exec_mode_names.begin());
  AE_TRY(exec.timeout_seconds, view.at("timeout_seconds").number("timeout_seconds"));
  return exec;
}

Result<ModelSettings> model_from(const JsonView& view) {
  ModelSettings model;
  AE_TRY(model.provider, view.at("provider").string("provider"));
  AE_TRY(model.model, view.at("model").string("model"));
  AE_TRY(model.answer_tokens, view.at("answer_tokens").integer("answer_tokens"));
  AE_TRY(model.token_budget, view.at("token_budget").integer("token_budget"));
  AE_TRY(model.cost_budget, view.at("cost_budget").number("cost_budget"));
  AE_TRY(model.timeout_seconds, view.at("timeout_seconds").number("timeout_seconds"));
  return model;
}

/// All of them are there, since to_input() writes them.
Result<void> expect_all(const JsonView& view, std::string_view what, std::initializer_list<std::string_view> names) {
  AE_CHECK(view.expect_object(what));
  for (std::string_view name : names)
    if (!view.has(name)) return view.fail("{} lacks \"{}\"", what, name);
  return {};
}

} // namespace

Result<OutsideSettings> settings_from_input(const std::string& input) {
  AE_TRY(auto document, parse_json(input, "driver_input"));
  const JsonView view(document);
  OutsideSettings settings;
  AE_CHECK(expect_all(view, "driver_input", {"prompt_tokens", "exec", "model"}));
  AE_CHECK(expect_all(view.at("exec"), "exec", {"command", "mode", "timeout_seconds"}));
  AE_CHECK(expect_all(view.at("model"), "model",
                      {"provider", "model", "answer_tokens", "token_budget", "cost_budget", "timeout_seconds"}));
  AE_TRY(settings.prompt_tokens, view.at("prompt_tokens").unsigned_integer("prompt_tokens"));
  AE_TRY(settings.exec, exec_from(view.at("exec")));
  AE_TRY(settings.model, model_from(view.at("model")));
  return settings;
}

Result<std::unique_ptr<search::Driver>> make_driver(const search::DriverOptions& options,
                                                    const std::string& run_directory) {
  const auto* entry = std::ranges::find(outside_drivers, options.name, &Outside::name);
  const bool searched =
      std::ranges::any_of(search::all_drivers(), [&](const auto& known) { return known.name == options.name; });
  if (searched) return search::make_driver(options);
  if (entry == std::end(outside_drivers)) {
    std::string names;
    for (const auto& [name, summary] : all_drivers()) names += (names.empty() ? "" : ", ") + std::string(name);
    return fail("--driver {}: no such driver; there are {}", options.name, names);
  }
  AE_TRY(const OutsideSettings settings, settings_from_input(options.input));
  AE_TRY(Transcript transcript, Transcript::open(run_directory.empty() ? "" : search::transcript_path(run_directory),
                                                 Secrets::of_environment()));
  auto shared = std::make_unique<Transcript>(std::move(transcript));
  AE_TRY(std::unique_ptr<Correspondent> correspondent, entry->make(settings, *shared));
  return std::make_unique<OutsideDriver>(std::move(correspondent), std::move(shared), settings.prompt_tokens);
}

} // namespace asmevo::agent
