// Every real object there is: the trip without an edit gives it back, and after edits every branch, call and address
// computation still leads where it led.
#include "programs.h"
#include "recover/edit_trip.h"

namespace asmevo::recover {
namespace {

using namespace testing;

void expect_to_survive(const std::vector<std::string>& files) {
  if (files.empty()) GTEST_SKIP() << "NOT TESTED: objects not found in the data folder (set ASMEVO_DATA)";
  uint32_t seed = 0;
  size_t inserted = 0;
  for (const std::string& file : files) {
    Program program = program_of(file);
    expect_round_trip(program);
    auto trip = edit_trip(program, codec_for(program.target), ++seed);
    ASSERT_TRUE(trip) << trip.error().message;
    ASSERT_TRUE(trip->differences.empty()) << file << ": " << trip->differences[0];
    inserted += trip->inserted;
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(inserted, 0u);
}

std::vector<std::string> aiter(std::string_view processor) {
  auto files = samples::files("aiter", ".co");
  std::erase_if(files, [&](const std::string& file) { return file.find(processor) == std::string::npos; });
  return files;
}

TEST(Corpus, TritonObjectsSurviveTripsAndEdits) { expect_to_survive(samples::files("triton", ".hsaco")); }
TEST(Corpus, RelocatableMi300aObjectsSurviveTripsAndEdits) {
  expect_to_survive(samples::files("mi300a/objects", ".hsaco"));
}
TEST(Corpus, TracedObjectsSurviveTripsAndEdits) { expect_to_survive(samples::files("sqtt_gfx950", ".hsaco")); }
TEST(Corpus, HandWrittenAiterObjectsForGfx942SurviveTripsAndEdits) { expect_to_survive(aiter("/gfx942/")); }
TEST(Corpus, HandWrittenAiterObjectsForGfx950SurviveTripsAndEdits) { expect_to_survive(aiter("/gfx950/")); }

TEST(Corpus, ObjectsOfTheQuickStartSurviveTripsAndEdits) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ASMEVO_SOURCE_DIR "/corpus"))
    if (entry.path().extension() == ".hsaco") files.push_back(entry.path().string());
  ASSERT_FALSE(files.empty());
  expect_to_survive(files);
}

} // namespace
} // namespace asmevo::recover
