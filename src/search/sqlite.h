// SQLite as values: statements that finalise themselves, errors as Result.
#pragma once

#include "support/file.h"
#include "support/result.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace asmevo::search {

/// A prepared statement. Parameters count from 1, columns from 0.
class Statement {
public:
  Statement(sqlite3_stmt* statement, std::string path);
  Statement& bind(int at, int64_t value);
  Statement& bind(int at, double value);
  Statement& bind(int at, std::string_view text);
  Statement& bind(int at, std::span<const uint8_t> blob);
  Statement& bind_null(int at);

  /// True while there is a row. Errors: whatever SQLite says, including a bind that failed.
  Result<bool> step();
  /// Runs a statement that gives no rows.
  Result<void> run();

  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  Bytes blob(int column) const;

private:
  struct Finalise {
    void operator()(sqlite3_stmt*) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalise> statement_;
  std::string path_;
  int bind_status_ = 0;
};

class Database {
public:
  enum class Mode { create, modify, read };
  static Result<Database> open(const std::string& path, Mode mode);

  Result<void> execute(const char* sql);
  Result<Statement> prepare(std::string_view sql) const;

private:
  struct Close {
    void operator()(sqlite3*) const;
  };
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

/// Rolls back unless committed.
class Transaction {
public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

} // namespace asmevo::search
