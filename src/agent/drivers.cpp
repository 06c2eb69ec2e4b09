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
  return write_json({{"prompt_tokens", settings.prompt_tokens},
                     {"exec",
                      {{"command", settings.exec.command},
                       {"mode", exec_mode_names[size_t(settings.exec.mode)]},
                       {"timeout_seconds", settings.exec.timeout_seconds}}}});
}

Result<OutsideSettings> settings_from_input(const std::string& input) {
  AE_TRY(auto document, parse_json(input, "driver_input"));
  const JsonView view(document);
  OutsideSettings settings;
  AE_CHECK(view.expect_object("driver_input"));
  if (view.has("prompt_tokens")) {
    AE_TRY(settings.prompt_tokens, view.at("prompt_tokens").unsigned_integer("prompt_tokens"));
  }
  if (!view.has("exec")) return settings;
  const JsonView exec = view.at("exec");
  AE_CHECK(exec.expect_keys("exec", {"command", "mode", "timeout_seconds"}));
  for (size_t i = 0; i < exec.at("command").size(); ++i) {
    AE_TRY(std::string word, exec.at("command").at(i).string("command"));
    settings.exec.command.push_back(std::move(word));
  }
  AE_TRY(std::string mode, exec.at("mode").string("mode"));
  const auto known = std::ranges::find(exec_mode_names, mode);
  if (known == exec_mode_names.end()) return exec.at("mode").fail("no such mode: {}", mode);
  settings.exec.mode = ExecMode(known - exec_mode_names.begin());
  AE_TRY(settings.exec.timeout_seconds, exec.at("timeout_seconds").number("timeout_seconds"));
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
  AE_TRY(std::unique_ptr<Correspondent> correspondent, entry->make(settings, transcript));
  return std::make_unique<OutsideDriver>(std::move(correspondent), std::move(transcript), settings.prompt_tokens);
}

} // namespace asmevo::agent
