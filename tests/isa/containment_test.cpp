#include "isa/containment.h"

#include "isa/codec.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>

namespace asmevo::isa {
namespace {

/// Reads memory that nobody may read.
void fault() {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const volatile char value = *static_cast<volatile char*>(page);
  munmap(page, 4096);
  (void)value;
}

/// More and more of the stack, and a use for it afterwards so that it stays a call.
[[gnu::noinline]] int exhaust(int depth) {
  volatile char room[4096];
  room[0] = char(depth);
  return depth < 0 ? 0 : exhaust(depth + 1) + room[0];
}

TEST(Containment, AMemoryFaultIsAValueAgainAndAgain) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(contained(fault), "LLVM has failed with SIGSEGV");
  EXPECT_EQ(contained([] { raise(SIGILL); }), "LLVM has failed with SIGILL");
  EXPECT_EQ(contained([] { raise(SIGFPE); }), "LLVM has failed with SIGFPE");
}

TEST(Containment, AnAssertionIsAValueAgainAndAgain) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(contained([] { std::abort(); }), "LLVM has failed with SIGABRT");
}

TEST(ContainmentDeathTest, AbortingOutsideEndsTheProcess) {
  EXPECT_EQ(contained([] {}), std::nullopt);
  EXPECT_EXIT(std::abort(), ::testing::KilledBySignal(SIGABRT), "");
}

TEST(Containment, AStackThatRunsOutIsAValueOnAnyThread) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "NOT TESTED: AddressSanitizer keeps stacks of its own";
#endif
  EXPECT_EQ(contained([] { exhaust(0); }), "LLVM has failed with SIGSEGV");
  std::thread([] { EXPECT_EQ(contained([] { exhaust(0); }), "LLVM has failed with SIGSEGV"); }).join();
}

TEST(Containment, TheInnermostCatches) {
  bool went_on = false;
  EXPECT_EQ(contained([&] {
              EXPECT_EQ(contained(fault), "LLVM has failed with SIGSEGV");
              went_on = true;
            }),
            std::nullopt);
  EXPECT_TRUE(went_on);
}

TEST(Containment, DecodingAndAssemblingGoOnAfterAFault) {
  const Codec codec = *Codec::create({});
  EXPECT_TRUE(contained(fault));
  const auto bytes = codec.assemble("s_mov_b32 s0, 1");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(name_of(codec.decode(*bytes, 0)), "s_mov_b32");
}

TEST(ContainmentDeathTest, AFaultOutsideEndsTheProcess) {
  EXPECT_EQ(contained([] {}), std::nullopt); // handlers are in place
#if defined(__SANITIZE_ADDRESS__)
  EXPECT_EXIT(fault(), ::testing::ExitedWithCode(1), "AddressSanitizer: SEGV"); // whose handler was there before
#else
  EXPECT_EXIT(fault(), ::testing::KilledBySignal(SIGSEGV), "");
#endif
}

} // namespace
} // namespace asmevo::isa
