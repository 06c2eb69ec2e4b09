#include "search/sqlite.h"

#include <sqlite3.h>

namespace asmevo::search {

Statement::Statement(sqlite3_stmt* statement, std::string path) : statement_(statement), path_(std::move(path)) {}

void Statement::Finalise::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int at, int64_t value) {
  bind_status_ |= sqlite3_bind_int64(statement_.get(), at, value);
  return *this;
}
Statement& Statement::bind(int at, double value) {
  bind_status_ |= sqlite3_bind_double(statement_.get(), at, value);
  return *this;
}
Statement& Statement::bind(int at, std::string_view text) {
  bind_status_ |= sqlite3_bind_text64(statement_.get(), at, text.data() ? text.data() : "", text.size(),
                                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind(int at, std::span<const uint8_t> blob) {
  static constexpr uint8_t nothing = 0;
  bind_status_ |=
      sqlite3_bind_blob64(statement_.get(), at, blob.empty() ? &nothing : blob.data(), blob.size(), SQLITE_TRANSIENT);
  return *this;
}
Statement& Statement::bind_null(int at) {
  bind_status_ |= sqlite3_bind_null(statement_.get(), at);
  return *this;
}

Result<bool> Statement::step() {
  if (bind_status_) return fail("{}: cannot bind a statement's parameters", path_);
  int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  return fail("{}: {}", path_, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
}

Result<void> Statement::run() {
  AE_TRY([[maybe_unused]] bool row, step());
  return {};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!text) return {};
  return {text, size_t(sqlite3_column_bytes(statement_.get(), column))};
}
Bytes Statement::blob(int column) const {
  const auto* bytes = static_cast<const uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  if (!bytes) return {};
  return {bytes, bytes + sqlite3_column_bytes(statement_.get(), column)};
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  constexpr int flags[] = {SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, SQLITE_OPEN_READWRITE, SQLITE_OPEN_READONLY};
  sqlite3* handle = nullptr;
  int status = sqlite3_open_v2(path.c_str(), &handle, flags[size_t(mode)] | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, path);
  if (status != SQLITE_OK) return fail("{}: {}", path, sqlite3_errstr(status));
  sqlite3_busy_timeout(handle, 5000);
  return database;
}

Result<void> Database::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return fail("{}: {}", path_, sqlite3_errmsg(handle_.get()));
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), int(sql.size()), &statement, nullptr) != SQLITE_OK)
    return fail("{}: {}", path_, sqlite3_errmsg(handle_.get()));
  return Statement(statement, path_);
}

Result<Transaction> Transaction::begin(Database& database) {
  AE_CHECK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // A rollback that fails leaves the journal to the next reader, which rolls back itself.
  if (database_) (void)database_->execute("ROLLBACK");
}

Result<void> Transaction::commit() {
  AE_CHECK(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

} // namespace asmevo::search
