// Strict mode's races against a plain model: random kernels of four waves that read and write a few places, wait or do
// not, and meet at barriers. Two accesses of one place by different waves, one of them a write, are a race unless a
// barrier lies between them that the earlier one was waited for at. Strict mode remembers less than all pairs, so it
// need not report every one, but whatever it reports must be one, and where there is any it must report some.
#include "strict_fixture.h"

#include <random>
#include <set>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

constexpr uint32_t waves = 4, places = 4;

struct Step {
  uint32_t instruction = 0; // of the kernel
  uint32_t wave = 0, place = 0;
  bool write = false;
  uint32_t epoch = 0, until = 0; // barriers passed when it is issued; and the last before which it was in flight
};

struct Kernel {
  std::string text;
  std::vector<Step> steps;
};

/// What differs between LDS and global memory.
struct Memory {
  const char *read, *write, *wait;
};
constexpr Memory lds{"ds_read_b32 v5, v2 offset:{}\n", "ds_write_b32 v2, v3 offset:{}\n", "s_waitcnt lgkmcnt(0)\n"};
constexpr Memory global{"global_load_dword v5, v2, s[0:1] offset:{}\n", "global_store_dword v2, v3, s[0:1] offset:{}\n",
                        "s_waitcnt vmcnt(0)\n"};

class KernelBuilder {
public:
  KernelBuilder(const Memory& memory, uint64_t seed) : memory_(memory), random_(seed) {
    line("v_lshrrev_b32 v1, 6, v0\n");
    line("v_mov_b32 v2, 0\n");
    line("v_mov_b32 v3, 1\n");
    line("s_nop 4\n");
    line("v_readfirstlane_b32 s8, v1\n");
    line("s_mov_b64 exec, 1\n");
    as_wave(0, [&] {
      for (uint32_t place = 0; place < places; ++place) access(0, place, true);
      wait(0);
    });
    barrier();
  }

  Kernel build() {
    for (uint32_t k = 0, count = 3 + pick(14); k < count; ++k) {
      if (pick(2)) barrier();
      const uint32_t wave = pick(waves), place = pick(places);
      const bool write = pick(4) == 0;
      as_wave(wave, [&] {
        access(wave, place, write);
        if (pick(3)) wait(wave);
      });
    }
    line(memory_.wait);
    return std::move(kernel_);
  }

private:
  uint32_t pick(uint32_t count) { return uint32_t(random_() % count); }
  void line(std::string_view text) {
    kernel_.text += text;
    ++instructions_;
  }
  template <class F> void as_wave(uint32_t wave, F f) {
    line(fmt::format("s_cmp_lg_u32 s8, {}\n", wave));
    const std::string label = fmt::format("next{}", instructions_);
    line(fmt::format("s_cbranch_scc1 {}\n", label));
    f();
    kernel_.text += label + ":\n";
  }
  void access(uint32_t wave, uint32_t place, bool write) {
    kernel_.steps.push_back({instructions_, wave, place, write, epoch_, epoch_});
    in_flight_[wave].push_back(kernel_.steps.size() - 1);
    line(fmt::format(fmt::runtime(write ? memory_.write : memory_.read), 4 * place));
  }
  void wait(uint32_t wave) {
    line(memory_.wait);
    in_flight_[wave].clear();
  }
  void barrier() {
    line("s_barrier\n");
    ++epoch_;
    for (const auto& steps : in_flight_)
      for (const size_t step : steps) kernel_.steps[step].until = epoch_;
  }

  const Memory& memory_;
  std::mt19937_64 random_;
  Kernel kernel_;
  std::array<std::vector<size_t>, waves> in_flight_;
  uint32_t instructions_ = 0, epoch_ = 0;
};

/// Pairs of instructions that race, the smaller first.
std::set<std::pair<uint32_t, uint32_t>> races_of(const std::vector<Step>& steps) {
  std::set<std::pair<uint32_t, uint32_t>> races;
  for (const Step& a : steps)
    for (const Step& b : steps) // the later
      if (a.wave != b.wave && a.place == b.place && (a.write || b.write) && a.epoch <= b.epoch && a.until >= b.epoch)
        races.insert(std::minmax(a.instruction, b.instruction));
  return races;
}

void compare(const Memory& memory, uint64_t seed, size_t& racing) {
  const Kernel kernel = KernelBuilder(memory, seed).build();
  const auto races = races_of(kernel.steps);
  racing += !races.empty();
  const StrictRun r(kernel.text, 64 * waves);
  ASSERT_EQ(r.result.status, Status::completed);
  EXPECT_EQ(r.count(FindingKind::race) > 0, !races.empty()) << "seed " << seed << "\n" << r.text() << kernel.text;
  for (const Finding& f : r.result.strict.findings) {
    ASSERT_EQ(f.kind, FindingKind::race) << "seed " << seed << "\n" << r.text();
    EXPECT_TRUE(races.contains(std::minmax(f.instruction, uint32_t(f.cause))))
        << "seed " << seed << ": " << f.instruction << " and " << f.cause << "\n"
        << kernel.text;
  }
}

} // namespace

TEST(StrictRacesModel, LdsRacesAreThoseOfTheModel) {
  size_t racing = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) ASSERT_NO_FATAL_FAILURE(compare(lds, seed, racing));
  EXPECT_GT(racing, 40u);
  EXPECT_LT(racing, 360u);
}

TEST(StrictRacesModel, GlobalRacesAreThoseOfTheModel) {
  size_t racing = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) ASSERT_NO_FATAL_FAILURE(compare(global, seed, racing));
  EXPECT_GT(racing, 40u);
  EXPECT_LT(racing, 360u);
}
