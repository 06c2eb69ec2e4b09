// Lineage: every verified version and every attempt, on disk.
//
// A search runs for hours and is stopped at any moment: by Ctrl-C, by the machine, by kill -9. What must survive is
// exactly what was decided. So each evaluation is one SQLite transaction: its verdict, the version that it made if it
// was accepted, and the time spent so far become visible together or not at all. An evaluation that was under way is
// simply made again, because nothing about it depends on anything but the seed, its number and what is recorded.
//
// Versions form a tree whose root is K0. Artifacts are kept by content hash and checked against it when read.
// Schema and examples of queries: docs/lineage.md.
#pragma once

#include "gate/verdict.h"
#include "isa/resources.h"
#include "search/decision.h"
#include "search/sqlite.h"

#include <map>

namespace asmevo::search {

inline constexpr int64_t root_version = 0;

struct Version {
  int64_t id = root_version;
  int64_t parent = -1;    // -1 for K0
  int64_t evaluation = 0; // the attempt that made it; 0 for K0
  std::string artifact;   // sha256 of the object
  std::string listing;
  double speedup = 1; // over K0
  double cv = 0;
  std::optional<int64_t> other_parent; // of a version that merges two
  isa::Resources resources;            // as its descriptor declares
  uint32_t waves_per_simd = 0;         // that fit of the launch that is timed
};

struct Attempt {
  int64_t number = 0; // counts from 1
  int64_t parent = root_version;
  std::string driver;
  Proposal proposal;
  std::string text_hash, artifact_hash; // artifact_hash is empty where nothing was built
  gate::Verdict verdict;
  double seconds = 0; // wall time of this evaluation
  std::optional<int64_t> version;
  int64_t worker = 0;                  // who had the turn
  uint64_t window = 0;                 // HotWindow::key of the hottest window that the edits change; 0: of none
  std::optional<int64_t> other_parent; // where two versions were merged: the one whose changes came to `parent`
};

/// What a run is about. Everything that decides its outcome is here, so that resuming needs nothing else.
struct RunInfo {
  std::string original_path, original_hash, kernel;
  std::string launch_path, launch_hash, policy_hash;
  std::string driver, driver_input, device_part, output_path;
  uint64_t seed = 0;
  int64_t budget_evaluations = 0; // 0: unbounded
  double budget_seconds = 0;      // 0: unbounded
  double epsilon = 0, k = 0, floor = 0, faster = 0;
  unsigned draws = 0;
  uint64_t proof_limit = 0; // milliseconds of one question to the solver; 0: nothing is proved
  int64_t team = 1, turn = 16, stall = 32, patience = 3; // PlanSettings
};

/// How far a run is. `ending` is empty while it may go on.
struct RunStatus {
  double elapsed_seconds = 0;
  std::string ending; // "budget spent", "no more ideas"
};

/// Where a driver that asks someone outside writes what was said. It is no part of the lineage, but goes with it.
std::string transcript_path(const std::string& directory);

class Lineage {
public:
  /// Makes `directory` and an empty lineage in it. Errors: the directory already holds a run.
  static Result<Lineage> create(const std::string& directory, const RunInfo& info, const Version& root,
                                std::span<const uint8_t> original);
  /// To go on with. Errors: no run there, another process has it, made by another version of the format, damaged.
  static Result<Lineage> resume(const std::string& directory);
  /// To look at, also while a search is writing.
  static Result<Lineage> read(const std::string& directory);
  static bool exists(const std::string& directory);
  /// Deletes the run in `directory`. Errors: another process has it.
  static Result<void> remove(const std::string& directory);
  /// Deletes this run, and its directory where nothing else is in it.
  static Result<void> discard(Lineage lineage);

  const std::string& directory() const { return directory_; }
  const RunInfo& info() const { return info_; }
  Result<RunStatus> status() const;
  Result<std::vector<Version>> versions() const;   // by id
  Result<std::vector<Attempt>> attempts() const;   // by number
  Result<std::vector<Decision>> decisions() const; // in their order
  /// Errors: no such artifact; its bytes do not have its hash.
  Result<Bytes> artifact(const std::string& hash) const;

  /// One transaction. `accepted` is the version that the attempt made, with its object's bytes.
  struct Accepted {
    Version version;
    std::span<const uint8_t> artifact;
  };
  /// `decisions` were taken since the attempt before.
  Result<void> record(const Attempt& attempt, const std::optional<Accepted>& accepted, double elapsed_seconds,
                      std::span<const Decision> decisions = {});
  Result<void> finish(std::string_view ending, double elapsed_seconds, std::span<const Decision> decisions = {});
  /// Gives a run a new budget and opens it again.
  Result<void> extend(int64_t evaluations, double seconds);

private:
  Lineage(std::string directory, Database database)
      : directory_(std::move(directory)), database_(std::move(database)) {}
  static Result<Lineage> open(const std::string& directory, Database::Mode mode);
  Result<void> take_lock();
  Result<void> load_info();
  static Result<void> delete_files(const std::string& directory);
  Result<void> store(const std::string& key, std::string_view value);
  Result<void> store_artifact(const std::string& hash, std::span<const uint8_t> bytes);
  Result<void> store_version(const Version& version);
  Result<void> store_decision(const Decision& decision);

  std::string directory_;
  std::shared_ptr<void> lock_; // released with the last copy
  Database database_;
  RunInfo info_;
};

} // namespace asmevo::search
