#include "analysis/check.h"

#include "assemble.h"

#include <fstream>
#include <set>

namespace asmevo::analysis {
namespace {

struct Example {
  std::string rule, processor, code;
  bool function = false, candidate = false;
};

/// The fenced blocks of docs/checks.md, each with the heading above it.
std::vector<Example> examples() {
  std::ifstream file(ASMEVO_SOURCE_DIR "/docs/checks.md");
  EXPECT_TRUE(file.good());
  std::vector<Example> found;
  std::string heading;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("### ")) heading = line.substr(4);
    if (!line.starts_with("```asm ")) continue;
    Example example{.rule = heading};
    std::istringstream words(line.substr(7));
    words >> example.processor;
    for (std::string word; words >> word;) (word == "function" ? example.function : example.candidate) = true;
    while (std::getline(file, line) && line != "```") example.code += line + "\n";
    found.push_back(example);
  }
  return found;
}

recover::Program program_of(const Example& example) {
  auto program = assemble(example.code, *isa::processor_from_name(example.processor), example.function ? -1 : 0);
  program.declared[0] = {.vgprs = 64, .agprs = 16, .sgprs = 32, .accum_offset = 64, .lds_bytes = 1024};
  auto object = std::make_shared<object::CodeObject>();
  object::Kernel kernel;
  kernel.descriptor.raw[8] = 16;   // kernarg size
  kernel.descriptor.raw[56] = 0x8; // the kernarg pointer is enabled
  object->kernels.push_back(kernel);
  program.origin = object;
  return program;
}

TEST(Docs, every_rule_has_an_example_and_every_example_a_rule) {
  std::set<std::string> described, reported;
  for (const Example& example : examples()) described.insert(example.rule);
  for (const Rule& rule : rules()) reported.insert(std::string(rule.id));
  EXPECT_EQ(described, reported);
}

TEST(Docs, every_example_provokes_its_rule_and_no_other) {
  for (const Example& example : examples()) {
    const auto program = program_of(example);
    const Example nothing{.rule = "", .processor = example.processor, .code = "s_endpgm\n"};
    const auto findings = example.candidate ? new_findings(program_of(nothing), program) : check(program);
    std::set<std::string> rules;
    std::string messages;
    for (const Finding& finding : findings) {
      rules.insert(finding.rule);
      messages += finding.message + "\n";
    }
    EXPECT_EQ(rules, std::set<std::string>{example.rule}) << example.code << messages;
  }
}

} // namespace
} // namespace asmevo::analysis
