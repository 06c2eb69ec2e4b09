#include "isa/opcodes.h"

#include <gtest/gtest.h>
#include <set>

using namespace asmevo;
using namespace asmevo::isa;

namespace {

constexpr Processor processors[] = {Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950};

Codec codec_of(Processor processor) {
  auto codec = Codec::create({.processor = processor});
  EXPECT_TRUE(codec) << codec.error().message;
  return std::move(*codec);
}

std::set<std::string> mnemonics_of(const Codec& codec) {
  std::set<std::string> names;
  for (const Instruction& i : every_opcode(codec)) names.emplace(name_of(i));
  return names;
}

/// Whether the assembler knows the mnemonic on this target: without operands it then misses them.
bool assembles(const Codec& codec, const std::string& name) {
  const auto done = codec.assemble(name);
  return done || (done.error().message.find("not supported on this GPU") == std::string::npos &&
                  done.error().message.find("invalid instruction") == std::string::npos);
}

/// gfx942 spells matrix instructions anew, and its assembler still takes the former names.
bool is_former_name(const std::string& name, Processor processor) {
  if (processor < Processor::gfx942 || !name.starts_with("v_mfma_")) return false;
  const size_t shape = name.find_last_of('x'); // 32x32x8bf16_1k; now 32x32x8_bf16
  size_t behind = name.find_first_not_of("0123456789", shape + 1);
  return behind != std::string::npos && name[behind] != '_';
}

} // namespace

TEST(Opcodes, TheAssemblerOfATargetKnowsWhatItsDecoderFindsAndNothingThatOnlyOthersHave) {
  std::set<std::string> all;
  std::vector<Codec> codecs;
  for (const Processor processor : processors) codecs.push_back(codec_of(processor));
  std::vector<std::set<std::string>> found;
  for (const Codec& codec : codecs) {
    found.push_back(mnemonics_of(codec));
    all.insert(found.back().begin(), found.back().end());
  }
  for (size_t k = 0; k < codecs.size(); ++k)
    for (const std::string& name : all)
      if (!is_former_name(name, processors[k])) {
        EXPECT_EQ(found[k].contains(name), assembles(codecs[k], name))
            << name << " on " << processor_name(processors[k]);
      }
}

TEST(Opcodes, SamplesEncodeWhatTheirNamesSay) {
  const Codec codec = codec_of(Processor::gfx942);
  for (const Instruction& i : every_opcode(codec)) {
    const std::string text = codec.print(i);
    EXPECT_TRUE(text.starts_with(name_of(i))) << text;
  }
}
