// Objects that nobody compiled. Whatever the bytes: no crash, and either an error that says where, or a listing that
// gives the bytes back.
#include "programs.h"

#include <cstring>
#include <random>

namespace asmevo::recover {
namespace {

using namespace testing;

struct Outcome {
  size_t recovered = 0, refused = 0, instructions = 0, repairs = 0;
};

void try_object(Bytes bytes, Outcome& outcome) {
  auto object = object::read_code_object(std::move(bytes), "hostile.co");
  if (!object) {
    outcome.refused++;
    return;
  }
  auto target = isa::target_from_elf(object->e_flags, object->abi_version, "hostile.co");
  if (!target) {
    outcome.refused++;
    return;
  }
  auto program = recover(std::make_shared<object::CodeObject>(std::move(*object)), codec_for(*target));
  if (!program) {
    outcome.refused++;
    EXPECT_EQ(program.error().message.rfind("hostile.co: ", 0), 0u) << program.error().message;
    return;
  }
  auto trip = round_trip(*program, codec_for(*target));
  ASSERT_TRUE(trip) << trip.error().message;
  EXPECT_TRUE(trip->differences.empty()) << differences(*trip);
  outcome.recovered++;
  outcome.instructions += trip->instructions;
  outcome.repairs += trip->repairs;
}

// The code section of a small object with `words` words, for each processor.
Bytes object_with_words(const std::vector<uint32_t>& words, uint32_t e_flags) {
  std::string body;
  for (uint32_t word : words) body += fmt::format("\t.long {:#x}\n", word);
  Bytes bytes = build_small(small_listing(body));
  std::memcpy(bytes.data() + 48, &e_flags, 4);
  return bytes;
}

constexpr uint32_t flags_of[] = {0x54c, 0x54f, 0x53f, 0x530}; // gfx942, gfx950, gfx90a, gfx908

TEST(Hostile, RandomWordsAsCodeRoundTripOrAreRefused) {
  std::mt19937 random(4711);
  Outcome outcome;
  for (int round = 0; round < 400; round++) {
    std::vector<uint32_t> words;
    for (int i = 0; i < 40; i++) words.push_back(random());
    words[0] = 0xbf810000; // s_endpgm: what follows is not reached, so not refused for where it branches
    try_object(object_with_words(words, flags_of[round % 4]), outcome);
  }
  EXPECT_GT(outcome.recovered, 300u);
  EXPECT_GT(outcome.instructions, 1000u);
  EXPECT_GT(outcome.repairs, 10u);
}

TEST(Hostile, RandomBitsOfEveryVectorEncodingAreKept) {
  // Leading bits of the encodings, the rest random: unused bits, odd SDWA and DPP words, literals that fit inline.
  struct Shape {
    uint32_t bits, mask;
  };
  constexpr Shape shapes[] = {{0x00000000, 0x80000000}, {0x7e000000, 0xfe000000}, {0x7c000000, 0xfe000000},
                              {0xd0000000, 0xfc000000}, {0xd1000000, 0xfc000000}, {0xd3800000, 0xff800000},
                              {0x800000ff, 0xc00000ff}, {0xbe800000, 0xff800000}, {0xc0000000, 0xfc000000},
                              {0xd8000000, 0xfc000000}, {0xdc000000, 0xfc000000}, {0xe0000000, 0xfc000000},
                              {0x000000f9, 0x800001ff}, {0x000000fa, 0x800001ff}, {0x7e0000f9, 0xfe0001ff}};
  std::mt19937 random(12);
  Outcome outcome;
  for (int round = 0; round < 300; round++) {
    std::vector<uint32_t> words = {0xbf810000};
    for (int i = 0; i < 30; i++) {
      const Shape& shape = shapes[random() % std::size(shapes)];
      words.push_back((random() & ~shape.mask) | shape.bits);
      words.push_back(random() % 3 ? random() : random() % 65);
    }
    try_object(object_with_words(words, flags_of[round % 4]), outcome);
  }
  EXPECT_GT(outcome.recovered, 250u);
  EXPECT_GT(outcome.repairs, 100u);
}

std::vector<std::string> victims() {
  std::vector<std::string> files = {samples::triton("gfx942_softmax"), samples::triton("gfx950_softmax"),
                                    samples::triton("gfx90a_softmax")};
  for (const std::string& file : samples::files("mi300a/objects", "vectoradd.hsaco")) files.push_back(file);
  return files;
}

TEST(Hostile, FlippedBytesOfCodeAndDescriptorsRoundTripOrAreRefused) {
  NEEDS_DATA("triton");
  std::mt19937 random(31337);
  Outcome outcome;
  for (const std::string& file : victims()) {
    auto whole = object_of(samples::load(file), file);
    for (int round = 0; round < 60; round++) {
      Bytes bytes = whole->bytes;
      const auto* section = whole->section(round % 3 ? ".text" : ".rodata");
      for (int flips = 1 + random() % 4; flips; flips--)
        bytes[section->offset + random() % section->size] = uint8_t(random());
      try_object(std::move(bytes), outcome);
    }
  }
  EXPECT_GT(outcome.recovered, 50u);
}

// Anywhere in the file the gate may find that the trip loses something (a symbol of no known kind); it must say so.
TEST(Hostile, FlippedBytesAnywhereAreNeverACrash) {
  NEEDS_DATA("triton");
  std::mt19937 random(77);
  size_t judged = 0;
  for (const std::string& file : victims()) {
    Bytes whole = samples::load(file);
    for (int round = 0; round < 100; round++) {
      Bytes bytes = whole;
      for (int flips = 1 + random() % 4; flips; flips--) bytes[random() % bytes.size()] = uint8_t(random());
      auto object = object::read_code_object(std::move(bytes), "hostile.co");
      auto target = object ? isa::target_from_elf(object->e_flags, object->abi_version, "hostile.co")
                           : std::unexpected(object.error());
      if (!target) continue;
      auto program = recover(std::make_shared<object::CodeObject>(std::move(*object)), codec_for(*target));
      if (program) judged += bool(round_trip(*program, codec_for(*target)));
    }
  }
  EXPECT_GT(judged, 50u);
}

TEST(Hostile, ListingsThatAreNoListingsAreErrors) {
  NEEDS_DATA("triton");
  Program program = program_of(samples::triton("gfx942_softmax"));
  const std::string whole = print_listing(program);
  std::mt19937 random(8);
  size_t refused = 0;
  ::testing::internal::CaptureStderr();
  for (int round = 0; round < 150; round++) {
    std::string text = whole;
    for (int flips = 1 + random() % 3; flips; flips--) {
      size_t at = random() % text.size();
      if (random() % 2)
        text.erase(at, random() % 40);
      else
        text[at] = char(' ' + random() % 95);
    }
    auto bytes = build(text, *program.origin, codec_for(program.target));
    if (!bytes)
      refused++;
    else
      (void)object::read_code_object(std::move(*bytes), "built");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_GT(refused, 30u);
  EXPECT_TRUE(build(whole, *program.origin, codec_for(program.target)));
}

} // namespace
} // namespace asmevo::recover
