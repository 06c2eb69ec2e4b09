// mcp: one kernel for an assistant that speaks the Model Context Protocol.
//
// Assistants start their servers themselves and stop them when they like, so the verb goes on where an earlier session
// of the same run ended. What is wrong with the command line is said at once; K0 is examined when the first tool is
// called, so that the handshake takes no time.
#include "agent/tool_table.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/options.h"
#include "support/version.h"

#include <csignal>
#include <unistd.h>

namespace asmevo::cli {
namespace {

constexpr std::string_view driver = "mcp";

struct Options : Common, JobOptions {};

Result<Job> open_job(const Options& options) {
  AE_CHECK(check_writable(options.output));
  const std::string directory = run_directory_of(options);
  if (options.force || !search::Lineage::exists(directory)) {
    JobOptions begin = options;
    begin.driver = {.name = std::string(driver)};
    return start_job(begin);
  }
  AE_TRY(Job job, resume_job(directory, options.budget));
  const search::RunInfo& info = job.lineage.info();
  if (info.driver != driver)
    return fail("{}: holds a run of driver {}; choose another --run, or start over with --force", directory,
                info.driver);
  AE_TRY(const Setting setting, open_setting(options.setting));
  AE_TRY(const gate::Original original, gate::examine(setting.input.object, setting.kernel->name, setting.input.codec));
  if (original.hash != info.original_hash || original.kernel != info.kernel || setting.launch.hash != info.launch_hash)
    return fail("{}: holds a run of another object, kernel or launch; choose another --run, or start over with --force",
                directory);
  return job;
}

agent::Setup setup_of(Job& job, const volatile bool* stop) {
  return {.lineage = job.lineage,
          .original = job.original,
          .codec = job.setting.input.codec,
          .device = *job.setting.device,
          .loaded = job.setting.loaded,
          .launch = job.setting.launch,
          .policy = job.policy,
          .settings = settings_of(job.lineage.info()),
          .driver = driver,
          .stop = stop};
}

Result<ExitStatus> run(const Options& options) {
  AE_TRY(Job job, open_job(options));
  const volatile bool* signalled = stop_on_signal();
  std::signal(SIGPIPE, SIG_IGN);
  volatile bool stop = false;
  std::unique_ptr<agent::Workspace> workspace;
  const auto open = [&](const agent::Progress& progress) -> Result<agent::Workspace*> {
    if (!workspace) {
      progress("examining the original on all cases");
      AE_TRY(workspace, agent::Workspace::open(setup_of(job, &stop)));
    }
    return workspace.get();
  };
  agent::McpServer server({.name = "asmevo",
                           .title = "AsmEvo",
                           .version = std::string(version),
                           .instructions = std::string(agent::instructions())},
                          agent::tools_on(open), stop);
  Result<void> served = server.serve(STDIN_FILENO, STDOUT_FILENO, signalled);
  if (workspace) AE_CHECK(workspace->close());
  if (!served) return std::unexpected(served.error());
  return *signalled ? interrupted : positive;
}

void declare_options(CLI::App& app, Options& options) {
  file_option(app, options.setting.file, "FILE", "code object to optimise (.hsaco, .co)");
  launch_options(app, options.setting);
  app.add_option("-o,--output", options.output, "where the best version goes, whenever there is a better one")
      ->required()
      ->type_name("PATH");
  app.add_option(
         "--budget", options.budget,
         "evaluations (200), a time (90s, 10m, 2h) or both (200,10m); 200 without it; of a run that goes on: a new "
         "one")
      ->type_name("N|TIME");
  app.add_option("--seed", options.seed, "of all random choices")->type_name("N");
  app.add_option("--run", options.run_directory, "where the run is stored; OUT.asmevo without it")->type_name("DIR");
  app.add_flag("--force", options.force, "start over where an earlier run is stored");
}

} // namespace

const Verb mcp_verb = {"mcp", "serve one kernel to an assistant over the Model Context Protocol (stdio)",
                       "  asmevo mcp softmax.hsaco --launch softmax.launch.json -o faster.hsaco\n"
                       "  asmevo mcp softmax.hsaco --launch softmax.launch.json -o faster.hsaco --budget 50\n",
                       [](CLI::App& app) { return declare<Options>(app, declare_options, run); }};

} // namespace asmevo::cli
