#include "search/lineage.h"

#include "search/proposal_json.h"
#include "support/hash.h"
#include "support/json.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>
#include <variant>

namespace asmevo::search {

std::string transcript_path(const std::string& directory) { return directory + "/transcript.jsonl"; }

namespace {

constexpr std::string_view format = "4";

// Schema: docs/lineage.md.
constexpr const char* schema = R"(
CREATE TABLE run(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE artifacts(hash TEXT PRIMARY KEY, bytes BLOB NOT NULL);
CREATE TABLE versions(
  id INTEGER PRIMARY KEY,
  parent INTEGER REFERENCES versions(id),
  evaluation INTEGER NOT NULL,
  artifact TEXT NOT NULL REFERENCES artifacts(hash),
  listing TEXT NOT NULL,
  speedup REAL NOT NULL,
  cv REAL NOT NULL,
  other_parent INTEGER REFERENCES versions(id),
  vgprs INTEGER NOT NULL, agprs INTEGER NOT NULL, sgprs INTEGER NOT NULL,
  lds_bytes INTEGER NOT NULL, scratch_bytes INTEGER NOT NULL,
  waves_per_simd INTEGER NOT NULL);
CREATE TABLE attempts(
  number INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL REFERENCES versions(id),
  driver TEXT NOT NULL,
  rule TEXT NOT NULL,
  rationale TEXT NOT NULL,
  proposal TEXT NOT NULL,
  text_hash TEXT NOT NULL,
  artifact_hash TEXT NOT NULL,
  outcome TEXT NOT NULL,
  evidence TEXT NOT NULL,
  original_seconds REAL, candidate_seconds REAL, speedup REAL, cv REAL, low REAL, high REAL, faster REAL, device TEXT,
  receipt_original TEXT, receipt_candidate TEXT, receipt_cases TEXT, receipt_policy TEXT, equivalence TEXT,
  case_count INTEGER,
  seconds REAL NOT NULL,
  version INTEGER REFERENCES versions(id),
  worker INTEGER NOT NULL,
  direction TEXT,
  window TEXT,
  other_parent INTEGER REFERENCES versions(id));
CREATE TABLE decisions(
  id INTEGER PRIMARY KEY,
  before INTEGER NOT NULL,
  worker INTEGER NOT NULL,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL REFERENCES versions(id),
  window_first INTEGER, window_last INTEGER,
  direction TEXT,
  reason TEXT NOT NULL);
)";

using Member = std::variant<std::string RunInfo::*, uint64_t RunInfo::*, int64_t RunInfo::*, unsigned RunInfo::*,
                            double RunInfo::*>;
struct Field {
  const char* key;
  Member member;
};
const Field fields[] = {
    {"original_path", &RunInfo::original_path},
    {"original_hash", &RunInfo::original_hash},
    {"kernel", &RunInfo::kernel},
    {"launch_path", &RunInfo::launch_path},
    {"launch_hash", &RunInfo::launch_hash},
    {"policy_hash", &RunInfo::policy_hash},
    {"driver", &RunInfo::driver},
    {"driver_input", &RunInfo::driver_input},
    {"device_part", &RunInfo::device_part},
    {"output_path", &RunInfo::output_path},
    {"seed", &RunInfo::seed},
    {"budget_evaluations", &RunInfo::budget_evaluations},
    {"budget_seconds", &RunInfo::budget_seconds},
    {"epsilon", &RunInfo::epsilon},
    {"k", &RunInfo::k},
    {"floor", &RunInfo::floor},
    {"faster", &RunInfo::faster},
    {"draws", &RunInfo::draws},
    {"proof_limit", &RunInfo::proof_limit},
    {"team", &RunInfo::team},
    {"turn", &RunInfo::turn},
    {"stall", &RunInfo::stall},
    {"patience", &RunInfo::patience},
};

std::string print_value(const std::string& value) { return value; }
template <class T> std::string print_value(T value) { return fmt::format("{}", value); } // shortest that reads back

bool parse_value(const std::string& text, std::string& value) {
  value = text;
  return true;
}
template <class T> bool parse_value(const std::string& text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string database_path(const std::string& directory) { return directory + "/lineage.sqlite"; }

gate::Verdict read_verdict(const Statement& row, int outcome_column, gate::Outcome outcome) {
  gate::Verdict verdict{.outcome = outcome, .evidence = row.text(outcome_column + 1)};
  int timing = outcome_column + 2, receipt = timing + 8;
  if (!row.is_null(timing))
    verdict.timing =
        gate::Timing{row.real(timing),     row.real(timing + 1), row.real(timing + 2), row.real(timing + 3),
                     row.real(timing + 4), row.real(timing + 5), row.real(timing + 6), row.text(timing + 7)};
  if (!row.is_null(receipt))
    verdict.receipt =
        gate::Receipt{row.text(receipt),
                      row.text(receipt + 1),
                      row.text(receipt + 2),
                      row.text(receipt + 3),
                      gate::equivalence_from_name(row.text(receipt + 4)).value_or(gate::Equivalence::tested),
                      unsigned(row.integer(receipt + 5))};
  return verdict;
}

void bind_timing(Statement& row, int at, const std::optional<gate::Timing>& timing) {
  if (!timing) return; // unbound parameters are NULL
  row.bind(at, timing->original_seconds).bind(at + 1, timing->candidate_seconds).bind(at + 2, timing->speedup);
  row.bind(at + 3, timing->cv).bind(at + 4, timing->low).bind(at + 5, timing->high);
  row.bind(at + 6, timing->faster).bind(at + 7, std::string_view(timing->device));
}

void bind_receipt(Statement& row, int at, const std::optional<gate::Receipt>& receipt) {
  if (!receipt) return;
  row.bind(at, std::string_view(receipt->original)).bind(at + 1, std::string_view(receipt->candidate));
  row.bind(at + 2, std::string_view(receipt->cases)).bind(at + 3, std::string_view(receipt->policy));
  row.bind(at + 4, gate::equivalence_name(receipt->equivalence)).bind(at + 5, int64_t(receipt->case_count));
}

} // namespace

bool Lineage::exists(const std::string& directory) {
  std::error_code ignored;
  return std::filesystem::exists(database_path(directory), ignored);
}

// The lock is on a file of its own, since closing any descriptor of the database would drop SQLite's locks on it.
Result<void> Lineage::take_lock() {
  std::string path = directory_ + "/lock";
  int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return fail("{}: cannot open: {}", path, std::strerror(errno));
  lock_ = std::shared_ptr<void>(nullptr, [descriptor](void*) { ::close(descriptor); });
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0)
    return fail("{}: another process is working on this run", directory_);
  return {};
}

Result<Lineage> Lineage::open(const std::string& directory, Database::Mode mode) {
  if (mode != Database::Mode::create && !exists(directory)) return fail("{}: no run is stored here", directory);
  AE_TRY(Database database, Database::open(database_path(directory), mode));
  return Lineage(directory, std::move(database));
}

Result<Lineage> Lineage::create(const std::string& directory, const RunInfo& info, const Version& root,
                                std::span<const uint8_t> original) {
  if (exists(directory)) return fail("{}: already holds a run", directory);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return fail("{}: cannot create: {}", directory, error.message());
  AE_TRY(Lineage lineage, open(directory, Database::Mode::create));
  AE_CHECK(lineage.take_lock());
  AE_CHECK(lineage.database_.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"));
  AE_TRY(Transaction transaction, Transaction::begin(lineage.database_));
  AE_CHECK(lineage.database_.execute(schema));
  AE_CHECK(lineage.store("format", format));
  for (const Field& field : fields)
    AE_CHECK(
        lineage.store(field.key, std::visit([&](auto member) { return print_value(info.*member); }, field.member)));
  AE_CHECK(lineage.store("elapsed_seconds", "0"));
  AE_CHECK(lineage.store("ending", ""));
  AE_CHECK(lineage.store_artifact(root.artifact, original));
  AE_CHECK(lineage.store_version(root));
  AE_CHECK(transaction.commit());
  lineage.info_ = info;
  return lineage;
}

Result<Lineage> Lineage::resume(const std::string& directory) {
  AE_TRY(Lineage lineage, open(directory, Database::Mode::modify));
  AE_CHECK(lineage.take_lock());
  AE_CHECK(lineage.database_.execute("PRAGMA synchronous=FULL;"));
  AE_CHECK(lineage.load_info());
  return lineage;
}

Result<Lineage> Lineage::read(const std::string& directory) {
  auto lineage = open(directory, Database::Mode::modify); // a reader of a WAL file has to write its index
  if (!lineage) lineage = open(directory, Database::Mode::read);
  if (!lineage) return lineage;
  AE_CHECK(lineage->load_info());
  return lineage;
}

Result<void> Lineage::remove(const std::string& directory) {
  if (!exists(directory)) return {};
  AE_TRY(Lineage lineage, open(directory, Database::Mode::modify));
  AE_CHECK(lineage.take_lock());
  return delete_files(directory);
}

Result<void> Lineage::discard(Lineage lineage) {
  std::string directory = lineage.directory_;
  AE_CHECK(delete_files(directory));
  std::error_code ignored; // a directory that holds something else stays
  std::filesystem::remove(directory + "/lock", ignored);
  std::filesystem::remove(directory, ignored);
  return {};
}

Result<void> Lineage::delete_files(const std::string& directory) {
  for (const std::string& path : {database_path(directory), database_path(directory) + "-wal",
                                  database_path(directory) + "-shm", transcript_path(directory)}) {
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return fail("{}: cannot delete: {}", path, error.message());
  }
  return {};
}

Result<void> Lineage::load_info() {
  AE_TRY(Statement rows, database_.prepare("SELECT key, value FROM run"));
  std::map<std::string, std::string> values;
  while (true) {
    AE_TRY(bool row, rows.step());
    if (!row) break;
    values[rows.text(0)] = rows.text(1);
  }
  if (values["format"] != format)
    return fail("{}: lineage format \"{}\", this version reads {}", directory_, values["format"], format);
  for (const Field& field : fields)
    if (!std::visit([&](auto member) { return parse_value(values[field.key], info_.*member); }, field.member))
      return fail("{}: run.{} has the impossible value \"{}\"", directory_, field.key, values[field.key]);
  return {};
}

Result<void> Lineage::store(const std::string& key, std::string_view value) {
  AE_TRY(Statement row, database_.prepare("INSERT OR REPLACE INTO run VALUES(?, ?)"));
  return row.bind(1, std::string_view(key)).bind(2, value).run();
}

Result<void> Lineage::store_artifact(const std::string& hash, std::span<const uint8_t> bytes) {
  AE_TRY(Statement row, database_.prepare("INSERT OR IGNORE INTO artifacts VALUES(?, ?)"));
  return row.bind(1, std::string_view(hash)).bind(2, bytes).run();
}

Result<void> Lineage::store_version(const Version& version) {
  AE_TRY(Statement row, database_.prepare("INSERT INTO versions VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(1, version.id);
  if (version.parent >= 0) row.bind(2, version.parent);
  row.bind(3, version.evaluation).bind(4, std::string_view(version.artifact));
  if (version.other_parent) row.bind(8, *version.other_parent);
  const isa::Resources& r = version.resources;
  for (int column = 9;
       const uint32_t value : {r.vgprs, r.agprs, r.sgprs, r.lds_bytes, r.scratch_bytes, version.waves_per_simd})
    row.bind(column++, int64_t{value});
  return row.bind(5, std::string_view(version.listing)).bind(6, version.speedup).bind(7, version.cv).run();
}

Result<void> Lineage::store_decision(const Decision& decision) {
  AE_TRY(Statement row, database_.prepare("INSERT INTO decisions(before, worker, kind, version, window_first,"
                                          " window_last, direction, reason) VALUES(?, ?, ?, ?, ?, ?, ?, ?)"));
  row.bind(1, decision.before).bind(2, decision.worker).bind(3, decision_name(decision.kind));
  row.bind(4, decision.version).bind(8, std::string_view(decision.reason));
  if (const auto& window = decision.focus.window) row.bind(5, int64_t(window->first)).bind(6, int64_t(window->last));
  if (const auto& direction = decision.focus.direction) row.bind(7, direction_name(*direction));
  return row.run();
}

Result<void> Lineage::record(const Attempt& attempt, const std::optional<Accepted>& accepted, double elapsed_seconds,
                             std::span<const Decision> decisions) {
  AE_TRY(Transaction transaction, Transaction::begin(database_));
  for (const Decision& decision : decisions) AE_CHECK(store_decision(decision));
  if (accepted) {
    AE_CHECK(store_artifact(accepted->version.artifact, accepted->artifact));
    AE_CHECK(store_version(accepted->version));
  }
  AE_TRY(Statement row, database_.prepare("INSERT INTO attempts VALUES"
                                          "(?,?,?,?,?,?,?,?,?,?, ?,?,?,?,?,?,?,?, ?,?,?,?,?,?, ?,?,?,?,?,?)"));
  std::string proposal = write_json(to_json(attempt.proposal));
  row.bind(1, attempt.number).bind(2, attempt.parent).bind(3, std::string_view(attempt.driver));
  row.bind(4, std::string_view(attempt.proposal.rule)).bind(5, std::string_view(attempt.proposal.rationale));
  row.bind(6, std::string_view(proposal)).bind(7, std::string_view(attempt.text_hash));
  row.bind(8, std::string_view(attempt.artifact_hash)).bind(9, gate::outcome_name(attempt.verdict.outcome));
  row.bind(10, std::string_view(attempt.verdict.evidence));
  bind_timing(row, 11, attempt.verdict.timing);
  bind_receipt(row, 19, attempt.verdict.receipt);
  row.bind(25, attempt.seconds);
  if (attempt.version) row.bind(26, *attempt.version);
  row.bind(27, attempt.worker);
  if (attempt.proposal.direction) row.bind(28, direction_name(*attempt.proposal.direction));
  if (attempt.window != 0) row.bind(29, std::string_view(fmt::format("{:016x}", attempt.window)));
  if (attempt.other_parent) row.bind(30, *attempt.other_parent);
  AE_CHECK(row.run());
  AE_CHECK(store("elapsed_seconds", print_value(elapsed_seconds)));
  return transaction.commit();
}

Result<void> Lineage::finish(std::string_view ending, double elapsed_seconds, std::span<const Decision> decisions) {
  AE_TRY(Transaction transaction, Transaction::begin(database_));
  for (const Decision& decision : decisions) AE_CHECK(store_decision(decision));
  AE_CHECK(store("ending", ending));
  AE_CHECK(store("elapsed_seconds", print_value(elapsed_seconds)));
  return transaction.commit();
}

Result<void> Lineage::extend(int64_t evaluations, double seconds) {
  AE_TRY(Transaction transaction, Transaction::begin(database_));
  AE_CHECK(store("budget_evaluations", print_value(evaluations)));
  AE_CHECK(store("budget_seconds", print_value(seconds)));
  AE_CHECK(store("ending", ""));
  AE_CHECK(transaction.commit());
  info_.budget_evaluations = evaluations;
  info_.budget_seconds = seconds;
  return {};
}

Result<RunStatus> Lineage::status() const {
  RunStatus status;
  AE_TRY(Statement rows, database_.prepare("SELECT (SELECT value FROM run WHERE key = 'elapsed_seconds'),"
                                           " (SELECT value FROM run WHERE key = 'ending')"));
  AE_TRY([[maybe_unused]] bool row, rows.step());
  if (!parse_value(rows.text(0), status.elapsed_seconds))
    return fail("{}: run.elapsed_seconds has the impossible value \"{}\"", directory_, rows.text(0));
  status.ending = rows.text(1);
  return status;
}

Result<std::vector<Version>> Lineage::versions() const {
  AE_TRY(Statement rows,
         database_.prepare("SELECT id, parent, evaluation, artifact, listing, speedup, cv, other_parent,"
                           " vgprs, agprs, sgprs, lds_bytes, scratch_bytes, waves_per_simd"
                           " FROM versions ORDER BY id"));
  std::vector<Version> versions;
  while (true) {
    AE_TRY(bool row, rows.step());
    if (!row) break;
    if (rows.integer(0) != int64_t(versions.size()))
      return fail("{}: version {} is missing", directory_, versions.size());
    int64_t parent = rows.is_null(1) ? -1 : rows.integer(1);
    if (parent >= rows.integer(0)) return fail("{}: version {} is its own ancestor", directory_, rows.integer(0));
    versions.push_back(
        {rows.integer(0), parent, rows.integer(2), rows.text(3), rows.text(4), rows.real(5), rows.real(6)});
    Version& version = versions.back();
    if (!rows.is_null(7)) version.other_parent = rows.integer(7);
    isa::Resources& r = version.resources;
    for (int column = 8;
         uint32_t * value : {&r.vgprs, &r.agprs, &r.sgprs, &r.lds_bytes, &r.scratch_bytes, &version.waves_per_simd})
      *value = uint32_t(rows.integer(column++));
  }
  if (versions.empty()) return fail("{}: the lineage has no root", directory_);
  return versions;
}

Result<std::vector<Attempt>> Lineage::attempts() const {
  AE_TRY(Statement rows,
         database_.prepare(
             "SELECT number, parent, driver, proposal, text_hash, artifact_hash, outcome, evidence,"
             " original_seconds, candidate_seconds, speedup, cv, low, high, faster, device, receipt_original,"
             " receipt_candidate, receipt_cases, receipt_policy, equivalence, case_count, seconds, version, worker,"
             " window, other_parent"
             " FROM attempts ORDER BY number"));
  std::vector<Attempt> attempts;
  while (true) {
    AE_TRY(bool row, rows.step());
    if (!row) break;
    std::string where = fmt::format("{}: attempt {}", directory_, rows.integer(0));
    auto json = nlohmann::json::parse(rows.text(3), nullptr, false);
    AE_TRY(Proposal proposal, proposal_from_json(json, where));
    auto outcome = gate::outcome_from_name(rows.text(6));
    if (!outcome) return fail("{}: unknown outcome \"{}\"", where, rows.text(6));
    Attempt attempt{.number = rows.integer(0),
                    .parent = rows.integer(1),
                    .driver = rows.text(2),
                    .proposal = std::move(proposal),
                    .text_hash = rows.text(4),
                    .artifact_hash = rows.text(5),
                    .verdict = read_verdict(rows, 6, *outcome),
                    .seconds = rows.real(22)};
    if (!rows.is_null(23)) attempt.version = rows.integer(23);
    attempt.worker = rows.integer(24);
    if (!rows.is_null(25)) attempt.window = std::strtoull(rows.text(25).c_str(), nullptr, 16);
    if (!rows.is_null(26)) attempt.other_parent = rows.integer(26);
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

Result<std::vector<Decision>> Lineage::decisions() const {
  AE_TRY(Statement rows, database_.prepare("SELECT id, before, worker, kind, version, window_first, window_last,"
                                           " direction, reason FROM decisions ORDER BY id"));
  std::vector<Decision> decisions;
  while (true) {
    AE_TRY(bool row, rows.step());
    if (!row) break;
    auto kind = decision_from_name(rows.text(3));
    if (!kind) return fail("{}: decision {}: unknown kind \"{}\"", directory_, rows.integer(0), rows.text(3));
    Decision decision{.before = rows.integer(1),
                      .worker = rows.integer(2),
                      .kind = *kind,
                      .version = rows.integer(4),
                      .reason = rows.text(8)};
    if (!rows.is_null(5)) decision.focus.window = Range{size_t(rows.integer(5)), size_t(rows.integer(6))};
    if (!rows.is_null(7)) decision.focus.direction = direction_from_name(rows.text(7));
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

Result<Bytes> Lineage::artifact(const std::string& hash) const {
  AE_TRY(Statement rows, database_.prepare("SELECT bytes FROM artifacts WHERE hash = ?"));
  rows.bind(1, std::string_view(hash));
  AE_TRY(bool row, rows.step());
  if (!row) return fail("{}: no artifact {}", directory_, hash);
  Bytes bytes = rows.blob(0);
  if (sha256_hex(bytes) != hash) return fail("{}: artifact {} is damaged", directory_, hash);
  return bytes;
}

} // namespace asmevo::search
