#include "agent/workspace.h"

#include "support/file.h"
#include "support/hash.h"

#include <algorithm>
#include <random>

namespace asmevo::agent {
Workspace::Workspace(Setup setup, oracle::Reference reference)
    : setup_(std::move(setup)), reference_(std::move(reference)), driver_(setup_.driver),
      controller_(bench_, driver_, setup_.lineage) {
  bench_.original = &setup_.original;
  bench_.codec = &setup_.codec;
  bench_.device = &setup_.device;
  bench_.reference = &reference_;
  bench_.settings = setup_.settings;
  bench_.stop = setup_.stop;
}

Result<std::unique_ptr<Workspace>> Workspace::open(Setup setup) {
  oracle::Options options{.seed = setup.settings.seed, .stop = setup.stop};
  AE_TRY(oracle::Reference reference,
         oracle::Reference::create(setup.device, setup.loaded, setup.launch, setup.policy, options));
  std::unique_ptr<Workspace> workspace(new Workspace(std::move(setup), std::move(reference)));
  AE_CHECK(workspace->controller_.open());
  return workspace;
}

int64_t Workspace::current() const { return checked_out_ ? *checked_out_ : controller_.snapshot().best_version; }

Result<void> Workspace::check_out(int64_t version) {
  AE_CHECK(view(version));
  checked_out_ = version;
  return {};
}

Result<const View*> Workspace::view(std::optional<int64_t> wanted) {
  const int64_t id = wanted ? *wanted : current();
  const std::vector<search::Version>& versions = controller_.versions();
  if (id < 0 || size_t(id) >= versions.size()) return fail("no version {}; there are 0 to {}", id, versions.size() - 1);
  if (view_ && view_->version->id == id) return &*view_;
  view_.reset();
  AE_TRY(const search::Controller::Standpoint* at, controller_.stand_at(id));
  AE_TRY(const recover::Function* function, gate::function_of(at->program, setup_.original.kernel));
  if (!at->loaded.image) return fail("{}: this device gives no attribution", setup_.device.description());
  CodeView code =
      view_code(at->program, *function, at->estimate, at->loaded.image->instructions(), setup_.device.description());
  View view{{std::move(code)}, &versions[size_t(id)], at};
  view_ = std::move(view);
  return &*view_;
}

Result<void> Workspace::check_range(const View& view, Range range) const {
  if (range.first >= range.last || range.first < view.function->first || range.last > view.function->last)
    return fail("items [{}, {}) are no window of the kernel, which is [{}, {})", range.first, range.last,
                view.function->first, view.function->last);
  if (range.last - range.first > widest_window)
    return fail("items [{}, {}) are {}; a window has at most {}", range.first, range.last, range.last - range.first,
                widest_window);
  return {};
}

std::string Workspace::base_hash(const View& view, Range range) const {
  const std::string text = recover::print_items(*view.program, range.first, range.last);
  return sha256_hex(fmt::format("{} {} {}\n{}", view.version->artifact, range.first, range.last, text)).substr(0, 16);
}

Result<std::vector<recover::Edit>> Workspace::edits_of(const View& view, std::vector<WindowEdit> edits) const {
  std::ranges::stable_sort(edits, {}, [](const WindowEdit& edit) { return edit.range.first; });
  std::vector<recover::Edit> result;
  for (WindowEdit& edit : edits) {
    const auto [first, last] = edit.range;
    AE_CHECK(check_range(view, edit.range));
    if (!result.empty() && first < result.back().last)
      return fail("the windows [{}, {}) and [{}, {}) overlap", result.back().first, result.back().last, first, last);
    if (edit.base_hash != base_hash(view, edit.range))
      return fail("base_hash {} is not that of items [{}, {}) of version {}: disassemble the window that is to be "
                  "replaced, and pass on its version, first, last and base_hash",
                  edit.base_hash, first, last, view.version->id);
    result.push_back({first, last, std::move(edit.text)});
  }
  return result;
}

Result<const search::Attempt*> Workspace::propose(const View& view, search::Proposal proposal,
                                                  const Progress& progress) {
  const int64_t parent = view.version->id, best = controller_.snapshot().best_version;
  proposal.parent = parent;
  view_.reset(); // versions may move
  bench_.on_stage = progress;
  Result<const search::Attempt*> attempt = controller_.submit(parent, std::move(proposal));
  bench_.on_stage = nullptr;
  if (!attempt) return attempt;
  if (*attempt == nullptr) return fail("stopped; nothing was recorded");
  if ((*attempt)->version) checked_out_ = *(*attempt)->version;
  if (controller_.snapshot().best_version != best) AE_CHECK(write_output());
  return attempt;
}

Result<const timing::Estimate*> Workspace::original_estimate() {
  if (!bench_.original_estimate) {
    AE_TRY(bench_.original_estimate,
           setup_.device.time(setup_.loaded, timed_case(),
                              {.draws = setup_.settings.draws, .seed = setup_.settings.seed}));
  }
  return &*bench_.original_estimate;
}

uint64_t Workspace::fresh_seed() {
  std::seed_seq mixed{uint32_t(setup_.settings.seed), uint32_t(setup_.settings.seed >> 32), uint32_t(++verifications_),
                      0x76657269u};
  return std::mt19937_64(mixed)();
}

Result<void> Workspace::write_output() const {
  const search::Version& best = controller_.versions()[size_t(controller_.snapshot().best_version)];
  AE_TRY(Bytes bytes, setup_.lineage.artifact(best.artifact));
  return write_file(setup_.lineage.info().output_path, bytes);
}

Result<void> Workspace::close() {
  AE_CHECK(write_output());
  const search::Snapshot snapshot = controller_.snapshot();
  if (!snapshot.budget.spent(snapshot.evaluations, snapshot.elapsed_seconds)) return {};
  return setup_.lineage.finish(search::ending_name(search::Ending::budget_spent), snapshot.elapsed_seconds);
}

} // namespace asmevo::agent
