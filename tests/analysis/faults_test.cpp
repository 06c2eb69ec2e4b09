// Seeded faults in compiled kernels: what a careless edit does to waits, wait states and registers is found statically.
// ASMEVO_FAULTS_IN names a folder with more code objects; `make corpora` runs them over those of every target.
#include "analysis/check.h"
#include "analysis/dependence.h"
#include "analysis/hazards.h"
#include "corpus.h"

#include <random>

namespace asmevo::analysis {
namespace {

using recover::Item;
using recover::Program;

std::vector<Program> kernels() {
  std::vector<std::string> paths = objects_in("triton");
  for (const auto& entry : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/corpus"))
    if (entry.path().extension() == ".hsaco") paths.push_back(entry.path());
  if (const char* folder = std::getenv("ASMEVO_FAULTS_IN"))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".hsaco") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Program> programs;
  for (const std::string& path : paths) {
    auto program = recover_file(path);
    EXPECT_TRUE(program.has_value()) << path;
    if (program) programs.push_back(*std::move(program));
  }
  return programs;
}

std::vector<size_t> items_where(const Program& program, bool (*wanted)(const Item&)) {
  std::vector<size_t> items;
  for (const auto& function : program.functions)
    for (size_t i = function.first; i < function.last; ++i)
      if (is_instruction(program.items[i]) && wanted(program.items[i])) items.push_back(i);
  return items;
}

/// Takes the item out without moving the others: a label in its place does nothing.
void remove(Program& program, size_t item) {
  program.items[item] = {.kind = recover::ItemKind::align, .origin = program.items[item].origin};
}

void set_wait(Item& item, const Wait& wait) {
  item.instruction.words[0] = 0xbf8c0000u | encode_waitcnt(wait);
  item.text = "s_waitcnt";
}

struct Tally {
  unsigned tried = 0, found = 0;
  std::string escaped;

  void count(const Program& original, const Program& mutant, size_t item, std::string_view what) {
    ++tried;
    if (!new_findings(original, mutant).empty())
      ++found;
    else if (escaped.size() < 2000)
      escaped += fmt::format("{} {:#x} {}\n", what, original.items[item].origin, original.items[item].text);
  }
  ~Tally() { fmt::print("{} of {} mutants found\n", found, tried); }
};

bool is_wait(const Item& item) { return item.instruction.traits.waitcnt; }
bool is_nop(const Item& item) { return only_waits(item.instruction) && !is_wait(item); }

/// Whether the program could do without this wait as it is: it waits for nothing that is outstanding, or what it waits
/// for no register, no barrier and no store asks for.
bool idle(const Program& program, size_t item, const Wait& instead) {
  const auto function = std::ranges::find_if(
      program.functions, [&](const recover::Function& f) { return item >= f.first && item < f.last; });
  const auto relaxed = relaxed_waits(program, *function, control_flow(program, *function), item, item + 1);
  if (relaxed.empty()) return false;
  const Wait& enough = relaxed[0].wait;
  return enough.vmcnt >= instead.vmcnt && enough.lgkmcnt >= instead.lgkmcnt && enough.expcnt >= instead.expcnt;
}

TEST(Faults, a_wait_that_is_removed_or_weakened_is_found) {
  std::mt19937_64 random(11);
  Tally tally;
  unsigned idle_ones = 0;
  for (const Program& program : kernels()) {
    const std::vector<size_t> waits = items_where(program, is_wait);
    for (int n = 0; n < 12 && !waits.empty(); ++n) {
      const size_t item = waits[random() % waits.size()];
      Wait wait = waits_of(program.items[item].instruction);
      Program mutant = program;
      if (random() % 2 == 0) {
        wait = {};
        remove(mutant, item);
      } else {
        if (wait.vmcnt < 63) wait.vmcnt = std::min(63, wait.vmcnt + 1);
        if (wait.lgkmcnt < 15) wait.lgkmcnt = std::min(15, wait.lgkmcnt + 1);
        set_wait(mutant.items[item], wait);
      }
      if (idle(program, item, wait)) {
        ++idle_ones;
        continue;
      }
      tally.count(program, mutant, item, "weaker wait");
    }
  }
  EXPECT_GT(tally.tried, 80u);
  EXPECT_LT(idle_ones, tally.tried);
  EXPECT_GE(tally.found, tally.tried * 99 / 100) << tally.found << " of " << tally.tried << "\n" << tally.escaped;
}

/// LLVM pads the readers of packed instructions, which need none, and the parts of a tuple that is spilled, since it
/// takes the first part for a definition of them all. Everything else that it pads is needed.
bool padded_for_nothing(const Program& program, size_t item) {
  size_t before = item, behind = item;
  while (before-- > 0 && !is_instruction(program.items[before])) {
  }
  while (++behind < program.items.size() && !is_instruction(program.items[behind])) {
  }
  if (behind == program.items.size()) return false;
  const std::string_view name = name_of(program.items[before].instruction);
  const bool spills = name == "v_writelane_b32" || name == "buffer_store_dword" || name == "scratch_store_dword";
  return program.items[before].instruction.encoding == isa::Encoding::vop3p ||
         (spills && name_of(program.items[behind].instruction) == name);
}

TEST(Faults, a_nop_that_is_removed_is_found) {
  Tally tally;
  for (const Program& program : kernels())
    for (size_t item : items_where(program, is_nop)) {
      if (padded_for_nothing(program, item)) continue;
      Program mutant = program;
      remove(mutant, item);
      tally.count(program, mutant, item, "no nop");
    }
  EXPECT_GT(tally.tried, 30u);
  EXPECT_GE(tally.found, tally.tried * 99 / 100) << tally.found << " of " << tally.tried << "\n" << tally.escaped;
}

TEST(Faults, a_register_raised_above_the_declaration_is_found) {
  std::mt19937_64 random(5);
  Tally tally;
  for (const Program& program : kernels()) {
    const isa::Resources& has = program.declared[0];
    const auto raised = [&](isa::RegisterRange& range) {
      switch (range.file) {
      case isa::File::vgpr:
        range.first = static_cast<uint16_t>(std::max(has.vgprs, has.accum_offset + has.agprs));
        return true;
      case isa::File::agpr:
        range.first = static_cast<uint16_t>(has.agprs);
        return true;
      case isa::File::sgpr:
        if (range.first >= 102 || has.sgprs >= 102) return false;
        range.first = static_cast<uint16_t>(has.sgprs);
        return true;
      default:
        return false;
      }
    };
    const auto items = items_where(program, [](const Item& item) { return !item.instruction.defs.empty(); });
    for (int n = 0; n < 20; ++n) {
      const size_t item = items[random() % items.size()];
      Program mutant = program;
      if (raised(mutant.items[item].instruction.defs[0])) tally.count(program, mutant, item, "raised");
    }
  }
  EXPECT_GT(tally.tried, 100u);
  EXPECT_EQ(tally.found, tally.tried) << tally.escaped;
}

TEST(Faults, an_argument_read_past_the_segment_is_found) {
  Tally tally;
  for (const Program& program : kernels())
    for (const auto& function : program.functions)
      for (size_t i = function.first; i < function.last; ++i) {
        const Item& item = program.items[i];
        if (!is_instruction(item) || !item.instruction.traits.smem || i > function.first + 30) continue;
        Program mutant = program;
        mutant.items[i].instruction.words[1] = 0x1000; // the offset
        tally.count(program, mutant, i, "far argument");
        break;
      }
  EXPECT_GT(tally.tried, 5u);
  // At -O0 the pointer may have gone through a spill, where it is lost from sight; the machine then faults on the read.
  EXPECT_GE(tally.found, std::getenv("ASMEVO_FAULTS_IN") ? tally.tried * 8 / 10 : tally.tried) << tally.escaped;
}

} // namespace
} // namespace asmevo::analysis
