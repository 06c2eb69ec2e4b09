#include "object/metadata.h"

#include "samples.h"

#include <random>

namespace asmevo::object {
namespace {

Bytes bytes_of(std::string_view text) { return Bytes(text.begin(), text.end()); }

TEST(Msgpack, ReadsWhatItsOwnBytesSay) {
  auto value = msgpack::parse(bytes_of("\x82\xa1"
                                       "a\xcd\x01\x00\xa1"
                                       "b\x92\xc3\xff"));
  ASSERT_FALSE(value) << "the embedded zero ends the literal, so the document is cut off";
  constexpr std::string_view whole("\x82\xa1"
                                   "a\xcd\x01\x00\xa1"
                                   "b\x92\xc3\xff",
                                   11);
  value = msgpack::parse(bytes_of(whole));
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(value->find("a")->number, 256u);
  EXPECT_EQ(value->find("a")->begin, 3u);
  EXPECT_EQ(value->find("a")->end, 6u);
  EXPECT_EQ(value->find("b")->items[1].integer, -1);
  EXPECT_EQ(value->find("c"), nullptr);
}

TEST(Msgpack, RefusesNestingAndClaimsWithoutBytes) {
  EXPECT_EQ(msgpack::parse(Bytes(100, 0x91)).error().message, "nested deeper than 64 at +0x41");
  EXPECT_EQ(msgpack::parse(bytes_of("\xdd\xff\xff\xff\xff")).error().message, "cut off at +0x5");
  EXPECT_EQ(msgpack::parse(bytes_of("\xd9\x10hi")).error().message, "string of 16 bytes at +0x2 is cut off");
  EXPECT_EQ(msgpack::parse(bytes_of("\x81\x01\x01")).error().message, "map key at +0x1 is not a string");
}

TEST(Msgpack, ReplacesANumberAndKeepsEveryOtherByte) {
  Bytes document = bytes_of("\x82\xa1x\xce");
  document.insert(document.end(), {0, 0, 0, 5, 0xa1, 'y', 7}); // 5 written unusually wide
  auto value = msgpack::parse(document);
  ASSERT_TRUE(value) << value.error().message;
  const auto* y = value->find("y");
  Bytes changed = msgpack::replace(document, {{y->begin, y->end, 300}});
  Bytes wanted(document.begin(), document.end() - 1);
  wanted.insert(wanted.end(), {0xcd, 0x01, 0x2c});
  EXPECT_EQ(changed, wanted);
}

TEST(Metadata, ChangesRegisterCountsAndNothingElse) {
  NEEDS_DATA("triton");
  auto object = read_code_object(samples::load(samples::triton("gfx942_matmul")), "m");
  ASSERT_TRUE(object);
  RegisterCounts counts{"matmul.kd", 300, 100, 40};
  auto note = replace_register_counts(object->metadata_note, std::span(&counts, 1), "m");
  ASSERT_TRUE(note) << note.error().message;
  auto metadata = read_metadata(*note, "m");
  ASSERT_TRUE(metadata) << metadata.error().message;
  EXPECT_EQ(metadata->kernels[0].vgpr_count, 300u);
  EXPECT_EQ(metadata->kernels[0].agpr_count, 100u);
  EXPECT_EQ(metadata->kernels[0].sgpr_count, 40u);
  const auto& before = *object->kernels[0].metadata;
  RegisterCounts back{"matmul.kd", *before.vgpr_count, *before.agpr_count, *before.sgpr_count};
  EXPECT_EQ(*replace_register_counts(*note, std::span(&back, 1), "m"), object->metadata_note);
}

TEST(Metadata, DamagedNotesAreErrorsThatSayWhere) {
  NEEDS_DATA("triton");
  auto object = read_code_object(samples::load(samples::triton("gfx942_softmax")), "s");
  ASSERT_TRUE(object);
  std::mt19937 random(7);
  size_t refused = 0;
  for (int i = 0; i < 5000; i++) {
    Bytes note = object->metadata_note;
    note[random() % note.size()] = uint8_t(random());
    if (random() % 8 == 0) note.resize(random() % note.size());
    if (auto metadata = read_metadata(note, "s"); !metadata) {
      refused++;
      EXPECT_EQ(metadata.error().message.rfind("s: metadata", 0), 0u) << metadata.error().message;
    }
  }
  EXPECT_GT(refused, 500u);
}

} // namespace
} // namespace asmevo::object
