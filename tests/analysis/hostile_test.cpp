// Programs that make no sense: random words, empty functions, registers and kernels that do not exist.
#include "analysis/check.h"
#include "analysis/dependence.h"
#include "analysis/liveness.h"
#include "analysis/reaching.h"
#include "analysis/repair.h"
#include "assemble.h"

#include <cstring>
#include <random>

namespace asmevo::analysis {
namespace {

using recover::Program;

/// Runs every analysis and gives the number of findings.
size_t everything(const Program& program) {
  size_t findings = check(program).size() + new_findings(program, program).size();
  for (const auto& function : program.functions) {
    const Graph graph = control_flow(program, function);
    liveness(program, function, graph);
    const Reaching reaching(program, function, graph);
    relaxed_waits(program, function, graph, function.first, function.last);
    missing_waits(program, function, memory_pins(program, function, graph));
    for (const Block& block : graph.blocks) {
      size_t first = block.first;
      while (first < block.last && program.items[first].kind != recover::ItemKind::instruction) ++first;
      const DependenceGraph nodes = dependences(program, function, first, block.last);
      reorder(program, function, first, block.last, nodes.items);
      for (size_t i = first; i < block.last; i += 7) reaching.definitions(i, i % register_bits);
    }
  }
  return findings;
}

TEST(Hostile, random_words_are_judged_and_crash_nothing) {
  std::mt19937_64 random(3);
  for (const auto processor : {isa::Processor::gfx908, isa::Processor::gfx942, isa::Processor::gfx950}) {
    const isa::Codec& codec = codec_of(processor);
    Program program;
    program.target = codec.target();
    program.declared.resize(1);
    for (int n = 0; n < 600; ++n) {
      std::array<uint32_t, 4> words{};
      for (uint32_t& word : words) word = static_cast<uint32_t>(random());
      std::array<uint8_t, 16> bytes{};
      std::memcpy(bytes.data(), words.data(), bytes.size());
      recover::Item item;
      item.instruction = codec.decode(bytes, 0);
      item.text = "?";
      if (random() % 8 == 0) item = {.kind = recover::ItemKind::label, .text = fmt::format("l{}", random() % 40)};
      if (item.instruction.traits.branch) item.target = fmt::format("l{}", random() % 60);
      program.items.push_back(item);
    }
    program.functions = {{.name = "a", .first = 0, .last = 300, .kernel = 0},
                         {.name = "b", .first = 300, .last = 600, .kernel = -1}};
    EXPECT_GT(everything(program), 0u);
  }
}

TEST(Hostile, an_empty_function_has_no_findings) {
  Program program;
  program.functions.push_back({.name = "a"});
  EXPECT_EQ(everything(program), 0u);
}

TEST(Hostile, a_kernel_that_is_nowhere_is_judged_without_its_declaration) {
  auto program = assemble("v_mov_b32 v255, 0\ns_endpgm");
  program.functions[0].kernel = 7;
  EXPECT_EQ(everything(program), 0u);
}

TEST(Hostile, registers_beyond_their_file_stay_inside_the_tables) {
  auto program = assemble("v_mov_b32 v1, v0\ns_endpgm");
  program.items[0].instruction.defs[0] = {isa::File::vgpr, 60000, 5000};
  program.items[0].instruction.uses[0] = {isa::File::agpr, 65535, 65535};
  program.functions[0].kernel = -1;
  EXPECT_GT(everything(program), 0u);
}

} // namespace
} // namespace asmevo::analysis
