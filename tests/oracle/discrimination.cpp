#include "oracle/discrimination.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace asmevo;
using namespace asmevo::oracle;

namespace {

struct Result {
  launch::Buffer buffer;
  Expected expected;
};

/// K0's result as an f32 buffer.
std::unique_ptr<Result> result_of(const std::vector<float>& values) {
  auto result = std::make_unique<Result>();
  result->buffer.name = "out";
  result->buffer.dtype = launch::DType::f32;
  result->buffer.shape = {values.size()};
  result->expected.buffer = &result->buffer;
  Bytes bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  result->expected.bytes = std::move(bytes);
  double squares = 0;
  for (float v : values) squares += double(v) * v;
  result->expected.rms = std::sqrt(squares / double(values.size()));
  return result;
}

constexpr launch::Tolerance usual{.relative = 2e-5, .scaled = 1e-5};

} // namespace

TEST(Discrimination, TheUsualBoundTellsOrdinaryResultsFromWrongOnes) {
  auto result = result_of({1, -2, 3, 0.5, 7, -1});
  EXPECT_TRUE(discriminate(result->expected, usual).sufficient());
}

TEST(Discrimination, ABoundAsWideAsTheResultsLetsZerosPass) {
  auto result = result_of({0.001f, 0.002f, 0.0005f, 0.001f});
  EXPECT_FALSE(discriminate(result->expected, {.absolute = 0.01}).zeros);
}

TEST(Discrimination, AFewLargeValuesAmongManyTinyOnesAreEnough) {
  std::vector<float> values(1000, 1e-30f);
  values[3] = values[500] = 1;
  EXPECT_TRUE(discriminate(result_of(values)->expected, usual).sufficient());
}

TEST(Discrimination, ATightenedBoundRefusesWhatTheGivenOneLetPass) {
  auto result = result_of({0.001f, 0.002f, 0.0005f, 0.001f});
  auto tight = tightened(result->expected, {.absolute = 0.002});
  ASSERT_TRUE(tight);
  EXPECT_LT(tight->absolute, 0.002);
  EXPECT_TRUE(discriminate(result->expected, *tight).sufficient());
}
