#include "search/standpoint.h"

#include <algorithm>

namespace asmevo::search {
namespace {

Result<std::vector<HotWindow>> windows_of(const Standpoint& at, const gate::Bench& bench) {
  if (!at.loaded.image || at.estimate.attribution.empty()) return std::vector<HotWindow>{};
  AE_TRY(const recover::Function* function, gate::function_of(at.program, bench.original->kernel));
  const std::span<const isa::Instruction> code = at.loaded.image->instructions();
  return hot_windows(at.program, *function, profile::from_estimate(at.estimate, code, bench.device->description()),
                     code);
}

} // namespace

Result<std::shared_ptr<const Standpoint>> Standpoints::at(const Version& version) {
  auto known = std::ranges::find(kept_, version.id, [](const auto& kept) { return kept->version; });
  std::shared_ptr<const Standpoint> standpoint;
  if (known != kept_.end()) {
    standpoint = *known;
    kept_.erase(known);
  } else {
    AE_TRY(standpoint, make(version));
  }
  kept_.push_back(standpoint);
  if (kept_.size() > most_) kept_.pop_front();
  return standpoint;
}

Result<std::shared_ptr<const Standpoint>> Standpoints::make(const Version& version) {
  auto standpoint = std::make_shared<Standpoint>();
  standpoint->version = version.id;
  AE_TRY(Bytes bytes, lineage_.artifact(version.artifact));
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), bench_.original->object->path));
  auto shared = std::make_shared<object::CodeObject>(std::move(object));
  AE_TRY(standpoint->program, recover::recover(shared, *bench_.codec));
  AE_TRY(standpoint->loaded, bench_.device->load(shared));
  const device::TimeOptions options{
      .draws = bench_.settings.draws, .seed = bench_.settings.seed, .attribution = true, .rehearsal = true};
  AE_TRY(standpoint->estimate,
         bench_.device->time(standpoint->loaded, bench_.reference->launch().cases.front(), options));
  AE_TRY(standpoint->windows, windows_of(*standpoint, bench_));
  return standpoint;
}

} // namespace asmevo::search
