// A workspace: one kernel, one launch, one lineage, and an agent that works on them.
//
// An agent looks at versions, measures them and proposes edits. Everything that decides is settled before it says its
// first word: which original, which cases, which policy, how much faster a version must be. What it can do is here, and
// nothing here takes a tolerance, a case or a path. The one way to make a version is propose(), which is an evaluation
// of the controller like any driver's: all gates, recorded, counted against the budget.
//
// An agent's picture of the code may be old: it read a window, thought for a minute, and another version is current
// now. So an edit names the version and the window it is of, with a hash of what stood there when the agent looked.
#pragma once

#include "agent/code_view.h"
#include "agent/mcp_server.h"
#include "search/controller.h"

namespace asmevo::agent {

/// What a workspace is made from; the references must outlive it.
struct Setup {
  search::Lineage& lineage;
  const gate::Original& original;
  const isa::Codec& codec;
  device::Device& device;
  device::Loaded loaded;
  const launch::Launch& launch;
  oracle::Policy policy;
  gate::Settings settings;
  std::string_view driver; // the name that attempts carry
  const volatile bool* stop = nullptr;
};

/// Text for a window, and the hash of what the agent saw there.
struct WindowEdit {
  Range range;
  std::string base_hash, text;
};

/// One version with what is known of it.
struct View : CodeView {
  const search::Version* version = nullptr;
  const search::Controller::Standpoint* at = nullptr;
};

class Workspace {
public:
  /// Examines K0 on all cases. Errors: K0 is not fit to be an oracle; the lineage cannot be read.
  static Result<std::unique_ptr<Workspace>> open(Setup setup);

  const Setup& setup() const { return setup_; }
  gate::Bench& bench() { return bench_; }
  const search::Controller& controller() const { return controller_; }
  const oracle::Reference& reference() const { return reference_; }
  const launch::Case& timed_case() const { return reference_.launch().cases.front(); }

  /// What calls that name no version are about: the one that was checked out, or the best.
  int64_t current() const;
  Result<void> check_out(int64_t version);
  /// The pointer is good until another version is viewed or proposed to. Errors: no such version.
  Result<const View*> view(std::optional<int64_t> version);

  /// Errors: outside the kernel, empty or too wide.
  Result<void> check_range(const View& view, Range range) const;
  std::string base_hash(const View& view, Range range) const;
  /// The edits as the gate takes them. Errors: a window that is none, a hash of something else.
  Result<std::vector<recover::Edit>> edits_of(const View& view, std::vector<WindowEdit> edits) const;

  /// One evaluation, which becomes the current version if it is accepted. `proposal.edits` come from edits_of().
  /// Errors: the budget is spent; stopped.
  Result<const search::Attempt*> propose(const View& view, search::Proposal proposal, const Progress& progress);

  /// K0 timed with the draws that candidates are timed with.
  Result<const timing::Estimate*> original_estimate();
  /// Another seed each time, for verifications that nobody could prepare for.
  uint64_t fresh_seed();

  /// The best version so far, to the output of the run.
  Result<void> write_output() const;
  /// Writes the output, and closes the run where its budget is spent.
  Result<void> close();

private:
  Workspace(Setup setup, oracle::Reference reference);

  /// Who proposes is outside: the controller asks nobody.
  class Outside : public search::Driver {
  public:
    explicit Outside(std::string_view name) : name_(name) {}
    std::string_view name() const override { return name_; }
    bool repeatable() const override { return false; }
    std::optional<search::Proposal> propose(const search::State&, std::mt19937_64&) override { return std::nullopt; }
    void learn(const search::Proposal&, const gate::Verdict&) override {}

  private:
    std::string name_;
  };

  Setup setup_;
  oracle::Reference reference_;
  gate::Bench bench_;
  Outside driver_;
  search::Controller controller_;
  std::optional<int64_t> checked_out_;
  std::optional<View> view_;
  uint64_t verifications_ = 0;
};

} // namespace asmevo::agent
