// What was asked and answered, as JSON lines beside the lineage.
//
// A run is reproduced from its proposals; the transcript is for people who want to know how these came about, and it is
// the account of what was spent: each exchange is written before its answer is used, so that a budget holds over all
// sessions of a run, whatever happens in between. No key is ever in it.
#pragma once

#include "agent/secrets.h"
#include "support/result.h"

#include <nlohmann/json.hpp>
#include <string>

namespace asmevo::agent {

struct Usage {
  int64_t input_tokens = 0, output_tokens = 0;
  double cost = 0; // in the currency of the prices

  Usage& operator+=(const Usage& more) {
    input_tokens += more.input_tokens;
    output_tokens += more.output_tokens;
    cost += more.cost;
    return *this;
  }
};

class Transcript {
public:
  /// Nothing is written where `path` is empty. Lines that are there already are counted. Errors: cannot be written.
  static Result<Transcript> open(std::string path, Secrets secrets);

  const Usage& spent() const { return spent_; }
  const Secrets& secrets() const { return secrets_; }
  Secrets& secrets() { return secrets_; }
  /// One exchange. `record` may have any members but "usage".
  Result<void> add(nlohmann::json record, const Usage& usage);

private:
  Transcript(std::string path, Secrets secrets) : path_(std::move(path)), secrets_(std::move(secrets)) {}

  std::string path_;
  Secrets secrets_;
  Usage spent_;
};

} // namespace asmevo::agent
