// rocpd: the SQLite database of rocprofv3.
//
// Tables carry the run's identity in their names (rocpd_gpu_pc_sample_<uuid>), with a view of the plain name over them;
// a database that was merged has several. A schema is text that the file brings along, and views may compute anything,
// so only statements of ours run, with functions of the schema distrusted and a bound on the work.
#include "profile/import/record.h"

#include <algorithm>
#include <memory>
#include <sqlite3.h>

namespace asmevo::profile {

namespace {

constexpr int steps_a_check = 1'000'000, checks = 3'000; // instructions of SQLite's machine: half a minute
constexpr int64_t most_samples = 50'000'000;             // of a table

struct Closer {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

class Database {
public:
  static Result<Database> open(const std::string& path) {
    sqlite3* raw = nullptr;
    const int status = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READONLY, nullptr);
    Database database(raw, path);
    if (status != SQLITE_OK) return database.problem();
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_progress_handler(
        raw, steps_a_check, [](void* left) { return --*static_cast<int*>(left) < 0 ? 1 : 0; }, database.left_.get());
    return database;
  }

  std::unexpected<Error> problem() const { return fail("{}: {}", path_, sqlite3_errmsg(handle_.get())); }

  Result<Statement> prepare(const std::string& sql) const {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return problem();
    return Statement(raw);
  }

  template <class Row> Result<void> each(const std::string& sql, Row row) const {
    AE_TRY(const Statement statement, prepare(sql));
    for (;;) {
      const int status = sqlite3_step(statement.get());
      if (status == SQLITE_DONE) return {};
      if (status != SQLITE_ROW) return problem();
      AE_CHECK(row(statement.get()));
    }
  }

private:
  Database(sqlite3* handle, const std::string& path) : handle_(handle), path_(path) {}

  std::unique_ptr<int> left_ = std::make_unique<int>(checks);
  std::unique_ptr<sqlite3, Closer> handle_;
  std::string path_;
};

std::string text(sqlite3_stmt* row, int column) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return bytes ? std::string(bytes, size_t(sqlite3_column_bytes(row, column))) : std::string();
}

std::string identifier(std::string_view name) {
  std::string out = "\"";
  for (char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

/// The view of that name, or the tables that it would be over.
Result<std::vector<std::string>> tables_named(const Database& database, const std::string& name) {
  std::vector<std::string> exact, suffixed;
  AE_CHECK(database.each("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name",
                         [&](sqlite3_stmt* row) -> Result<void> {
                           const std::string found = text(row, 0);
                           if (found == name) exact.push_back(found);
                           // _named and _decoded are views of rocpd's own with more columns
                           if (found.starts_with(name + "_") && found != name + "_named" && found != name + "_decoded")
                             suffixed.push_back(found);
                           return {};
                         }));
  return exact.empty() ? suffixed : exact;
}

Result<std::vector<std::string>> columns_of(const Database& database, const std::string& table) {
  std::vector<std::string> names;
  AE_CHECK(database.each("PRAGMA table_info(" + identifier(table) + ")", [&](sqlite3_stmt* row) -> Result<void> {
    names.push_back(text(row, 1));
    return {};
  }));
  return names;
}

/// Text of instructions, by code object and address, where they were decoded when the run ended.
using Texts = std::map<std::pair<std::string, uint64_t>, std::string>;

Result<Texts> read_texts(const Database& database) {
  Texts texts;
  AE_TRY(const auto tables, tables_named(database, "rocpd_disassembly_data"));
  for (const std::string& table : tables) {
    AE_TRY(const auto columns, columns_of(database, table));
    const bool has_guid = std::ranges::find(columns, "guid") != columns.end();
    AE_CHECK(database.each(fmt::format("SELECT {}, code_object_id, code_object_offset, instruction FROM {}",
                                       has_guid ? "guid" : "''", identifier(table)),
                           [&](sqlite3_stmt* row) -> Result<void> {
                             texts[{text(row, 0) + ":" + text(row, 1), uint64_t(sqlite3_column_int64(row, 2))}] =
                                 text(row, 3);
                             return {};
                           }));
  }
  return texts;
}

Result<std::optional<NotIssued>> reason_at(sqlite3_stmt* row, int column, const std::string& path) {
  if (sqlite3_column_type(row, column) == SQLITE_INTEGER) {
    const int64_t value = sqlite3_column_int64(row, column);
    if (value >= 0 && value < int64_t(not_issued_count)) return NotIssued(value);
  } else if (const auto named = not_issued_from(text(row, column))) {
    return named;
  }
  return fail("{}: stall_reason \"{}\" is not known", path, text(row, column));
}

} // namespace

Result<Reading> read_rocpd(const std::string& path) {
  AE_TRY(const Database database, Database::open(path));
  AE_TRY(const auto tables, tables_named(database, "rocpd_gpu_pc_sample"));
  if (tables.empty()) return fail("{}: has no PC samples (no table rocpd_gpu_pc_sample)", path);
  AE_TRY(const Texts texts, read_texts(database));
  Reading reading{.source = "rocprofv3 PC samples (rocpd)", .unit = "samples"};
  for (const std::string& table : tables) {
    AE_TRY(const auto columns, columns_of(database, table));
    for (const char* needed : {"code_object_id", "code_object_offset", "wave_issued", "stall_reason"})
      if (std::ranges::find(columns, needed) == columns.end())
        return fail("{}: its table {} has no column {}", path, table, needed);
    const bool has_guid = std::ranges::find(columns, "guid") != columns.end();
    const std::string sql = fmt::format("SELECT {}, code_object_id, code_object_offset, wave_issued, stall_reason, "
                                        "count(*) FROM (SELECT * FROM {} LIMIT {}) GROUP BY 1, 2, 3, 4, 5",
                                        has_guid ? "guid" : "''", identifier(table), most_samples);
    AE_CHECK(database.each(sql, [&](sqlite3_stmt* row) -> Result<void> {
      Record record{.code_object = text(row, 0) + ":" + text(row, 1),
                    .address = uint64_t(sqlite3_column_int64(row, 2))};
      if (sqlite3_column_type(row, 2) != SQLITE_INTEGER)
        return fail("{}: code_object_offset \"{}\" is no address", path, text(row, 2));
      if (const auto found = texts.find({record.code_object, *record.address}); found != texts.end())
        record.text = found->second;
      const double samples = double(sqlite3_column_int64(row, 5));
      if (sqlite3_column_type(row, 3) == SQLITE_NULL) {
        record.plain = samples;
      } else if (sqlite3_column_int(row, 3) != 0) {
        record.issued = samples;
      } else {
        AE_TRY(const auto reason, reason_at(row, 4, path));
        record.not_issued[size_t(*reason)] = samples;
      }
      reading.records.push_back(std::move(record));
      return {};
    }));
  }
  return reading;
}

} // namespace asmevo::profile
