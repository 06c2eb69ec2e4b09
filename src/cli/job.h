// A run that is about to begin or to go on: K0, its launch and the lineage in which everything is kept.
#pragma once

#include "cli/setting.h"
#include "gate/pipeline.h"
#include "search/drivers.h"
#include "search/lineage.h"

namespace asmevo::cli {

struct JobOptions {
  SettingOptions setting;
  std::string output, run_directory, budget; // run_directory: OUT.asmevo where it is empty; budget: 200 evaluations
  search::DriverOptions driver;
  uint64_t seed = 0, proof_limit = gate::Settings{}.proof_limit;
  int64_t team = 1;   // workers of the search
  bool force = false; // start over where an earlier run is stored
};

struct Job {
  search::Lineage lineage;
  Setting setting;
  gate::Original original;
  oracle::Policy policy;
  bool created = false; // by this process: nothing is lost when it is taken away again
};

std::string absolute_path(const std::string& path);
std::string run_directory_of(const JobOptions& options);

/// Errors: the directory holds a run; those of open_setting() and of what the gate examines of K0.
Result<Job> start_job(const JobOptions& options);
/// Everything comes from the run; what it was made from must still be the same. `budget_text` is a new one, where not
/// empty.
Result<Job> resume_job(const std::string& directory, const std::string& budget_text);

gate::Settings settings_of(const search::RunInfo& info);

} // namespace asmevo::cli
