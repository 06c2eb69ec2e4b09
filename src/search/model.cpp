#include "search/model.h"

#include "recover/recover.h"

#include <numeric>

namespace asmevo::search {

/// As much as candidates have: in proportion to what K0 executes. Next to nothing where that cannot be timed itself.
uint64_t BenchModel::budget() {
  if (budget_) return *budget_;
  const auto original = bench_.device->time(bench_.reference->original(), bench_.reference->launch().cases.front(),
                                            {.draws = 1, .seed = bench_.settings.seed});
  budget_ = original ? bench_.reference->policy().budget(original->executed) : 1;
  return *budget_;
}

std::optional<double> BenchModel::seconds(const recover::Program& program) {
  auto bytes = recover::build(program, *bench_.codec);
  if (!bytes) return std::nullopt;
  auto object = object::read_code_object(*std::move(bytes), "draft");
  if (!object) return std::nullopt;
  const auto loaded = bench_.device->load(std::make_shared<object::CodeObject>(*std::move(object)));
  if (!loaded) return std::nullopt;
  const auto timed =
      bench_.device->time(*loaded, bench_.reference->launch().cases.front(),
                          {.draws = draws, .seed = bench_.settings.seed, .instruction_budget = budget()});
  if (!timed) return std::nullopt;
  return std::accumulate(timed->seconds.begin(), timed->seconds.end(), 0.0) / draws;
}

} // namespace asmevo::search
