// Replay: proposals that were recorded before, in their order.
//
// A search whose ideas came from outside (a language model, a person) is reproduced from what was proposed: item
// numbers mean the same listing as long as the verdicts are the same. The file has one proposal a line, as `asmevo
// lineage RUN --proposals` prints them; the gate judges them as if they were new.
#include "search/drivers.h"
#include "search/proposal_json.h"
#include "support/file.h"

#include <sstream>

namespace asmevo::search {
namespace {

class Replay : public Driver {
public:
  explicit Replay(std::vector<Proposal> proposals) : proposals_(std::move(proposals)) {}
  std::string_view name() const override { return "replay"; }
  std::unique_ptr<Driver> clone() const override { return std::make_unique<Replay>(*this); }
  std::optional<Proposal> propose(const State& state, std::mt19937_64&) override {
    if (next_ == proposals_.size()) return std::nullopt;
    Proposal proposal = proposals_[next_++];
    if (!proposal.window && state.focus.window) proposal.window = Range{state.function->first, state.function->last};
    return proposal;
  }
  void learn(const Proposal&, const gate::Verdict&) override {} // what comes next is already written down

private:
  std::vector<Proposal> proposals_;
  size_t next_ = 0;
};

} // namespace

Result<std::unique_ptr<Driver>> make_replay(const DriverOptions& options) {
  if (options.input.empty()) return fail("--driver replay: needs --proposals FILE");
  AE_TRY(std::string text, read_text_file(options.input));
  std::istringstream lines(text);
  std::vector<Proposal> proposals;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::string where = fmt::format("{}:{}", options.input, number);
    auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) return fail("{}: not a JSON object", where);
    AE_TRY(Proposal proposal, proposal_from_json(json, where));
    proposals.push_back(std::move(proposal));
  }
  return std::make_unique<Replay>(std::move(proposals));
}

} // namespace asmevo::search
