#include "machine/registry.h"

#include "machine/places.h"
#include "machine/semantics/tables.h"
#include "machine/stage.h"
#include "machine/strict/shadow.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>
#include <vector>

namespace asmevo::machine {

#define DECLARE(name) std::span<const InstructionRow> name();
namespace v2 {
StageRunners stage_runners();
PlaceRunner place_runner();
strict::ShadowRunners shadow_runners();
ASMEVO_SEMANTICS(DECLARE)
} // namespace v2
namespace v3 {
StageRunners stage_runners();
PlaceRunner place_runner();
strict::ShadowRunners shadow_runners();
ASMEVO_SEMANTICS(DECLARE)
} // namespace v3
namespace v4 {
StageRunners stage_runners();
PlaceRunner place_runner();
strict::ShadowRunners shadow_runners();
ASMEVO_SEMANTICS(DECLARE)
} // namespace v4
namespace scalar {
ASMEVO_SCALAR_SEMANTICS(DECLARE)
}
#undef DECLARE

namespace {

enum class Level : uint8_t { v2, v3, v4 };

Level detect_level() {
  __builtin_cpu_init();
  Level best = __builtin_cpu_supports("x86-64-v4")   ? Level::v4
               : __builtin_cpu_supports("x86-64-v3") ? Level::v3
                                                     : Level::v2;
  const char* wish = std::getenv("ASMEVO_ISA_LEVEL");
  if (!wish) return best;
  std::string_view name = wish;
  Level wanted = name == "v2" ? Level::v2 : name == "v3" ? Level::v3 : Level::v4;
  return std::min(best, wanted);
}

struct Registry {
  Level level;
  StageRunners stages;
  PlaceRunner places;
  strict::ShadowRunners shadows;
  std::vector<std::span<const InstructionRow>> tables;
  std::unordered_multimap<std::string_view, const InstructionRow*> by_mnemonic;

  Registry() : level(detect_level()) {
    stages = level == Level::v4 ? v4::stage_runners() : level == Level::v3 ? v3::stage_runners() : v2::stage_runners();
    places = level == Level::v4 ? v4::place_runner() : level == Level::v3 ? v3::place_runner() : v2::place_runner();
    shadows = level == Level::v4   ? v4::shadow_runners()
              : level == Level::v3 ? v3::shadow_runners()
                                   : v2::shadow_runners();
#define ADD(name) tables.push_back(level == Level::v4 ? v4::name() : level == Level::v3 ? v3::name() : v2::name());
    ASMEVO_SEMANTICS(ADD)
#undef ADD
#define ADD(name) tables.push_back(scalar::name());
    ASMEVO_SCALAR_SEMANTICS(ADD)
#undef ADD
    for (auto table : tables)
      for (const InstructionRow& row : table) by_mnemonic.emplace(row.mnemonic, &row);
  }
};

const Registry& registry() {
  static const Registry instance;
  return instance;
}

} // namespace

const InstructionRow* find_row(std::string_view mnemonic, isa::Processor processor) {
  auto [first, last] = registry().by_mnemonic.equal_range(mnemonic);
  for (; first != last; ++first)
    if (first->second->targets & bit(processor)) return first->second;
  return nullptr;
}

PlaceRunner place_runner() { return registry().places; }
const strict::ShadowRunners& strict::shadow_runners() { return registry().shadows; }
const StageRunners& stage_runners() { return registry().stages; }

std::span<const std::span<const InstructionRow>> all_rows() { return registry().tables; }

std::string_view chosen_isa() {
  constexpr std::array<std::string_view, 3> names = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
  return names[size_t(registry().level)];
}

Support support_of(std::string_view mnemonic, isa::Processor processor) {
  const InstructionRow* row = find_row(mnemonic, processor);
  return row ? row->support : Support::unsupported;
}

} // namespace asmevo::machine
