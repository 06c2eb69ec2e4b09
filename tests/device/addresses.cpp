// No address fact is wrong of any launch of the corpus.
#include "address_replay.h"
#include "analysis/loops.h"
#include "device/device.h"
#include "recover/recover.h"
#include "support/file.h"

#include <filesystem>

using namespace asmevo;
using namespace asmevo::testing;

namespace {

struct Totals {
  size_t reads = 0, lanes = 0, pairs = 0, skipped = 0, instructions = 0, with_base = 0;
};

/// Follows a few workgroups of the first case.
Totals replay(const std::string& path, const std::string& launch_path) {
  auto bytes = read_file(path);
  auto object = std::make_shared<object::CodeObject>(*object::read_code_object(*std::move(bytes), path));
  auto target = isa::target_from_elf(object->e_flags, object->abi_version, path);
  auto codec = isa::Codec::create(*target);
  auto program = recover::recover(object, *codec);
  auto launch = launch::read_launch(launch_path);
  EXPECT_TRUE(program && launch) << path;
  if (!program || !launch) return {};
  const launch::Case& c = launch->cases[0];
  auto device = device::make_simulated(*target, "");
  auto loaded = (*device)->load(object);
  EXPECT_TRUE(loaded) << loaded.error().message;
  const auto kernel = object::choose_kernel(*object, c.kernel);
  const auto function = std::ranges::find_if(program->functions, [&](const recover::Function& f) {
    return f.kernel >= 0 && &object->kernels[size_t(f.kernel)] == *kernel;
  });
  AddressReplay follower(*program, *function, c);

  constexpr size_t most_lines = 6000; // a workgroup
  const uint32_t groups = c.workgroups[0] * c.workgroups[1] * c.workgroups[2];
  for (const uint32_t group : std::set<uint32_t>{0, groups / 2 + 1, groups - 1}) {
    if (group >= groups) continue;
    size_t lines = 0;
    machine::Debugging debugging;
    debugging.trace = machine::TraceFilter{.workgroup = group};
    debugging.dumps = {{(*kernel)->entry_address, 1, group, {}}};
    debugging.on_dump = [&](const machine::Dump& dump) { follower.begin(dump); };
    const auto& instructions = loaded->image->instructions();
    debugging.on_line = [&](const machine::TraceLine& line) {
      if (++lines <= most_lines) follower.line(line, instructions[line.instruction].address);
    };
    device::LaunchOptions options;
    options.preload = false; // the trace shows every load of an argument
    options.run.debugging = &debugging;
    auto outcome = (*device)->launch(*loaded, c, options);
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
  Totals totals{follower.reads_checked, follower.lanes_checked, follower.pairs_checked, follower.skipped};
  for (const analysis::Address& a : follower.addresses().all()) {
    ++totals.instructions;
    totals.with_base += a.base != analysis::BaseKind::unknown;
  }
  return totals;
}

} // namespace

TEST(Addresses, are_where_every_launch_of_the_corpus_goes) {
  Totals all;
  for (const auto& file : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/corpus")) {
    if (file.path().extension() != ".hsaco") continue;
    std::filesystem::path launch = file.path();
    const Totals t = replay(file.path(), launch.replace_extension(".json"));
    fmt::print("{:<16} {:>9} reads, {:>7} lanes, {:>7} pairs, {:>6} skipped; {} of {} with a base\n",
               file.path().stem().string(), t.reads, t.lanes, t.pairs, t.skipped, t.with_base, t.instructions);
    EXPECT_GT(t.lanes, 0u) << file.path();
    all.lanes += t.lanes;
  }
  EXPECT_GT(all.lanes, 100000u);
}
