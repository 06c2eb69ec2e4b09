// Seeded faults that the static gate cannot always see, and what then catches them.
//
// Waits, wait states and registers are judged on every path, so nothing of those kinds escapes (tests/analysis). What
// an address is worth is not always known: at -O0 the pointer to the arguments goes through a spill before it is read,
// and an argument beyond the segment is then no static finding. The device must refuse to run it. ASMEVO_FAULTS_IN
// names a folder with more code objects of the kernels of corpus/, compiled in other ways.
#include "analysis/check.h"
#include "device/device.h"
#include "recover/recover.h"
#include "support/file.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

namespace asmevo::device {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> objects() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(ASMEVO_SOURCE_DIR "/corpus")) paths.push_back(entry.path());
  if (const char* folder = std::getenv("ASMEVO_FAULTS_IN"))
    for (const auto& entry : fs::recursive_directory_iterator(folder)) paths.push_back(entry.path());
  std::erase_if(paths, [](const fs::path& path) {
    return path.extension() != ".hsaco" || !fs::exists(ASMEVO_SOURCE_DIR "/corpus/" + path.stem().string() + ".json");
  });
  std::ranges::sort(paths);
  return paths;
}

struct Subject {
  std::shared_ptr<const object::CodeObject> object;
  recover::Program program;
  launch::Case c;
};

Result<Subject> open(const fs::path& path) {
  AE_TRY(Bytes bytes, read_file(path));
  AE_TRY(object::CodeObject object, object::read_code_object(std::move(bytes), path));
  AE_TRY(const isa::Target target, isa::target_from_elf(object.e_flags, object.abi_version, path));
  AE_TRY(const isa::Codec codec, isa::Codec::create(target));
  AE_TRY(launch::Launch launch, launch::read_launch(ASMEVO_SOURCE_DIR "/corpus/" + path.stem().string() + ".json"));
  auto shared = std::make_shared<object::CodeObject>(std::move(object));
  AE_TRY(recover::Program program, recover::recover(shared, codec));
  const auto workgroups = [](const launch::Case& c) {
    return uint64_t{c.workgroups[0]} * c.workgroups[1] * c.workgroups[2];
  };
  launch::Case c = *std::ranges::min_element(launch.cases, {}, workgroups);
  AE_TRY(const object::Kernel* kernel, object::choose_kernel(*shared, launch.kernel));
  c.kernel = kernel->name;
  return Subject{std::move(shared), std::move(program), std::move(c)};
}

/// The object with another second word in the instruction of an item.
Result<object::CodeObject> patched(const Subject& subject, size_t item, uint32_t word) {
  const object::Section& text = *subject.object->section(".text");
  const uint64_t at = uint64_t(subject.program.items[item].origin) - text.address + text.offset + 4;
  Bytes bytes = subject.object->bytes;
  for (size_t k = 0; k < 4; ++k) bytes.at(at + k) = uint8_t(word >> (8 * k));
  return object::read_code_object(std::move(bytes), subject.object->path);
}

struct StrictRun {
  std::string fault;              // empty where it came to its end
  std::set<std::string> findings; // of strict mode
};

Result<StrictRun> run_strictly(object::CodeObject object, const launch::Case& c, const isa::Target& target) {
  AE_TRY(const auto device, make_simulated(target, ""));
  AE_TRY(const Loaded loaded, device->load(std::make_shared<object::CodeObject>(std::move(object))));
  LaunchOptions options;
  options.run.strict = true;
  AE_TRY(const Outcome outcome, device->launch(loaded, c, options));
  StrictRun run;
  if (outcome.status != machine::Status::completed)
    run.fault = outcome.fault ? outcome.fault->message : "it does not end";
  for (const machine::Finding& finding : outcome.strict.findings)
    run.findings.insert(fmt::format("{} {} {}", finding.instruction, finding.cause, finding.message));
  return run;
}

TEST(Faults, an_argument_read_past_the_segment_is_found_or_does_not_run) {
  constexpr uint32_t far = 0x1000; // bytes, of segments that have a few hundred
  unsigned tried = 0, found = 0, stopped = 0;
  for (const fs::path& path : objects()) {
    auto subject = open(path);
    ASSERT_TRUE(subject) << subject.error().message;
    const recover::Program& program = subject->program;
    for (const recover::Function& function : program.functions) {
      for (size_t i = function.first; i < std::min(function.last, function.first + 30); ++i) {
        const recover::Item& item = program.items[i];
        if (item.kind != recover::ItemKind::instruction || !item.instruction.traits.smem) continue;
        ++tried;
        recover::Program mutant = program;
        mutant.items[i].instruction.words[1] = far;
        if (!analysis::new_findings(program, mutant).empty()) {
          ++found;
          break;
        }
        auto whole = patched(*subject, i, item.instruction.words[1]), object = patched(*subject, i, far);
        ASSERT_TRUE(whole && object);
        const auto before = run_strictly(*std::move(whole), subject->c, program.target);
        const auto after = run_strictly(*std::move(object), subject->c, program.target);
        ASSERT_TRUE(before && after) << path << ": " << (before ? after : before).error().message;
        EXPECT_EQ(before->fault, "") << path;
        // At -O0 the original has findings of its own: spills store lanes that nothing has written.
        const bool seen = !after->fault.empty() || !std::ranges::includes(before->findings, after->findings);
        EXPECT_TRUE(seen) << path << ": " << item.text << " escapes both";
        stopped += seen;
        break;
      }
    }
  }
  EXPECT_GT(tried, 5u);
  fmt::print("{} mutants, {} found statically, {} stopped when run\n", tried, found, stopped);
  EXPECT_EQ(found + stopped, tried);
}

} // namespace
} // namespace asmevo::device
