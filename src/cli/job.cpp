#include "cli/job.h"

#include "search/budget.h"
#include "search/version.h"
#include "support/file.h"

#include <filesystem>

namespace asmevo::cli {
namespace {

constexpr std::string_view default_budget = "200";

} // namespace

std::string absolute_path(const std::string& path) {
  std::error_code error;
  auto full = std::filesystem::absolute(path, error);
  return error ? path : full.string();
}

std::string run_directory_of(const JobOptions& options) {
  return options.run_directory.empty() ? options.output + ".asmevo" : options.run_directory;
}

Result<Job> start_job(const JobOptions& options) {
  std::string directory = run_directory_of(options);
  if (search::Lineage::exists(directory)) {
    if (!options.force)
      return fail("{}: holds an earlier run; continue it with --resume {}, or start over with --force", directory,
                  directory);
  }
  AE_TRY(search::Budget budget, search::parse_budget(options.budget.empty() ? default_budget : options.budget));
  AE_TRY(Setting setting, open_setting(options.setting));
  AE_TRY(gate::Original original, gate::examine(setting.input.object, setting.kernel->name, setting.input.codec));
  oracle::Policy policy = oracle::default_policy();
  gate::Settings defaults;
  search::RunInfo info{.original_path = absolute_path(options.setting.file),
                       .original_hash = original.hash,
                       .kernel = original.kernel,
                       .launch_path = absolute_path(options.setting.launch),
                       .launch_hash = setting.launch.hash,
                       .policy_hash = policy.hash(),
                       .driver = options.driver.name,
                       .driver_input = options.driver.input,
                       .device_part = options.setting.device,
                       .output_path = absolute_path(options.output),
                       .seed = options.seed,
                       .budget_evaluations = budget.evaluations,
                       .budget_seconds = budget.seconds,
                       .epsilon = defaults.rule.epsilon,
                       .k = defaults.rule.k,
                       .floor = defaults.rule.floor,
                       .faster = defaults.rule.faster,
                       .draws = defaults.draws,
                       .proof_limit = options.proof_limit,
                       .team = options.team};
  if (options.force) AE_CHECK(search::Lineage::remove(directory));
  const search::Version root =
      search::version_of(original.program, original.hash, original.kernel, setting.launch.cases.front());
  AE_TRY(search::Lineage lineage, search::Lineage::create(directory, info, root, setting.input.object->bytes));
  return Job{std::move(lineage), std::move(setting), std::move(original), std::move(policy), true};
}

Result<Job> resume_job(const std::string& directory, const std::string& budget_text) {
  AE_TRY(search::Lineage lineage, search::Lineage::resume(directory));
  const search::RunInfo& info = lineage.info();
  AE_CHECK(check_writable(info.output_path));
  if (!budget_text.empty()) {
    AE_TRY(search::Budget budget, search::parse_budget(budget_text));
    AE_CHECK(lineage.extend(budget.evaluations, budget.seconds));
  }
  AE_TRY(Bytes bytes, lineage.artifact(info.original_hash));
  AE_TRY(Input input, open_input(std::move(bytes), info.original_path));
  SettingOptions where{info.original_path, info.launch_path, info.kernel, info.device_part};
  AE_TRY(Setting setting, open_setting(std::move(input), where));
  if (setting.launch.hash != info.launch_hash)
    return fail("{}: is not the launch that {} was started with", info.launch_path, directory);
  oracle::Policy policy = oracle::default_policy();
  if (policy.hash() != info.policy_hash)
    return fail("{}: was started with another comparison policy (by another version of asmevo)", directory);
  AE_TRY(gate::Original original, gate::examine(setting.input.object, info.kernel, setting.input.codec));
  return Job{std::move(lineage), std::move(setting), std::move(original), std::move(policy), false};
}

gate::Settings settings_of(const search::RunInfo& info) {
  return {.rule = {info.epsilon, info.k, info.floor, info.faster},
          .draws = info.draws,
          .seed = info.seed,
          .proof_limit = info.proof_limit};
}

} // namespace asmevo::cli
