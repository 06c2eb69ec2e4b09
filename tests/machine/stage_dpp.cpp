// Data-parallel primitives, whatever the instruction: which lane each lane reads from, which lanes write, and what they
// write where the source is missing or turned off. The model is the manual's picture of each control.
#include "wave_fixture.h"

#include <array>
#include <bit>

using namespace asmevo;
using namespace asmevo::machine;
using isa::Processor;

namespace {

/// A control, its assembly, and the lane it reads; -1 where there is none.
struct Control {
  std::string text;
  std::function<int(int lane)> from;
  Processor processor = Processor::gfx942;
};

int in_row(int lane, int at) { return at >= 0 && at < 16 ? (lane & ~15) + at : -1; }

std::vector<Control> controls() {
  std::vector<Control> all;
  for (const std::array<int, 4> q : {std::array{0, 1, 2, 3}, {3, 2, 1, 0}, {3, 0, 1, 1}, {2, 2, 2, 2}, {1, 0, 3, 2}})
    all.push_back({fmt::format("quad_perm:[{},{},{},{}]", q[0], q[1], q[2], q[3]),
                   [q](int l) { return (l & ~3) + q[size_t(l & 3)]; }});
  for (int n = 1; n < 16; ++n) {
    all.push_back({fmt::format("row_shl:{}", n), [n](int l) { return in_row(l, (l & 15) + n); }});
    all.push_back({fmt::format("row_shr:{}", n), [n](int l) { return in_row(l, (l & 15) - n); }});
    all.push_back({fmt::format("row_ror:{}", n), [n](int l) { return (l & ~15) + ((l - n) & 15); }});
  }
  for (int n = 0; n < 16; ++n)
    for (const Processor on : {Processor::gfx90a, Processor::gfx950})
      all.push_back({fmt::format("row_newbcast:{}", n), [n](int l) { return (l & ~15) + n; }, on});
  all.push_back({"row_mirror", [](int l) { return (l & ~15) + 15 - (l & 15); }});
  all.push_back({"row_half_mirror", [](int l) { return (l & ~7) + 7 - (l & 7); }});
  for (const Processor on : {Processor::gfx908, Processor::gfx942}) {
    all.push_back({"row_bcast:15", [](int l) { return l < 16 ? -1 : (l & ~15) - 1; }, on});
    all.push_back({"row_bcast:31", [](int l) { return l < 32 ? -1 : 31; }, on});
    all.push_back({"wave_shl:1", [](int l) { return l == 63 ? -1 : l + 1; }, on});
    all.push_back({"wave_shr:1", [](int l) { return l - 1; }, on});
    all.push_back({"wave_rol:1", [](int l) { return (l + 1) & 63; }, on});
    all.push_back({"wave_ror:1", [](int l) { return (l - 1) & 63; }, on});
  }
  return all;
}

struct Masks {
  unsigned row, bank;
  uint64_t exec;
};
constexpr Masks masks[] = {
    {15, 15, all_lanes}, {15, 15, 0xfffe'7fff'0001'fff0}, {5, 3, all_lanes}, {10, 13, 0x5555'ffff'aaaa'0ff1}};

/// What a lane reads: the value that `of` gives for its source; 0 where there is none under bound_ctrl; nothing where
/// the lane does not write.
std::optional<uint32_t> read(const Control& c, const Masks& m, bool bound, unsigned lane,
                             const std::function<uint32_t(unsigned)>& of) {
  const bool enabled = (m.exec >> lane & 1) && (m.row >> (lane / 16) & 1) && (m.bank >> (lane / 4 % 4) & 1);
  if (!enabled) return std::nullopt;
  const int from = c.from(int(lane));
  if (from >= 0 && (m.exec >> from & 1)) return of(unsigned(from));
  return bound ? std::optional(0u) : std::nullopt;
}

std::string suffix(const Control& c, const Masks& m, bool bound) {
  return fmt::format(" {} row_mask:{:#x} bank_mask:{:#x}{}", c.text, m.row, m.bank, bound ? " bound_ctrl:0" : "");
}

uint32_t word(unsigned lane, unsigned k) { return (lane + 1) * 0x9e3779b9u + k * 0x7f4a7c15u; }

std::unique_ptr<Program> ran(const std::string& text, Processor processor, uint64_t exec,
                             const std::function<uint32_t(unsigned, unsigned)>& fill) {
  auto p = std::make_unique<Program>(text, processor);
  p->start();
  for (unsigned r = 0; r < 12; ++r) p->fill(r, [&](unsigned i) { return fill(i, r); });
  p->wave().set_exec(exec);
  p->run();
  EXPECT_EQ(p->end(), TurnEnd::finished) << p->fault() << text;
  return p;
}

} // namespace

TEST(StageDpp, LanesReadWhereTheControlSaysUnderEveryMask) {
  for (const Control& c : controls())
    for (const Masks& m : masks) {
      // One instruction with bound_ctrl and one without; a second source is not moved.
      const auto p = ran("v_mov_b32_dpp v8, v1" + suffix(c, m, false) + "\nv_mov_b32_dpp v9, v1" + suffix(c, m, true) +
                             "\nv_sub_u32_dpp v10, v1, v2" + suffix(c, m, false) + "\nv_sub_u32_dpp v11, v1, v2" +
                             suffix(c, m, true),
                         c.processor, m.exec, word);
      for (unsigned i = 0; i < lanes; ++i)
        for (const bool bound : {false, true}) {
          const auto source = read(c, m, bound, i, [](unsigned lane) { return word(lane, 1); });
          ASSERT_EQ(p->v(8 + bound).lane[i], source.value_or(word(i, 8 + bound)))
              << suffix(c, m, bound) << " lane " << i << " exec " << std::hex << m.exec;
          ASSERT_EQ(p->v(10 + bound).lane[i], source ? *source - word(i, 2) : word(i, 10 + bound))
              << suffix(c, m, bound) << " lane " << i << " exec " << std::hex << m.exec;
        }
    }
}

TEST(StageDpp, SignsApplyToWhatWasMoved) {
  const auto number = [](unsigned i, unsigned r) {
    return std::bit_cast<uint32_t>(float(int(i) - 30) * (r == 1 ? 1.0f : 0.5f));
  };
  for (const Control& c : controls())
    for (const bool bound : {false, true}) {
      const Masks& m = masks[1];
      const auto p = ran("v_add_f32_dpp v10, -|v1|, -v2" + suffix(c, m, bound), c.processor, m.exec, number);
      for (unsigned i = 0; i < lanes; ++i) {
        const auto source = read(c, m, bound, i, [&](unsigned lane) { return number(lane, 1); });
        const float wanted = source ? -std::fabs(std::bit_cast<float>(*source)) - std::bit_cast<float>(number(i, 2))
                                    : std::bit_cast<float>(number(i, 10));
        ASSERT_EQ(std::bit_cast<float>(p->v(10).lane[i]), wanted) << suffix(c, m, bound) << " lane " << i;
      }
    }
}

TEST(StageDpp, AccumulatorsAndCarriesOfLanesThatDoNotWriteStay) {
  const auto small = [](unsigned i, unsigned r) { return std::bit_cast<uint32_t>(float(i % 7 + r)); };
  for (const Control& c : controls()) {
    const Masks& m = masks[3];
    const auto p = ran("v_fmac_f32_dpp v10, v1, v2" + suffix(c, m, false), c.processor, m.exec, small);
    for (unsigned i = 0; i < lanes; ++i) {
      const auto source = read(c, m, false, i, [&](unsigned lane) { return small(lane, 1); });
      const auto f = [&](unsigned r) { return std::bit_cast<float>(small(i, r)); };
      ASSERT_EQ(std::bit_cast<float>(p->v(10).lane[i]), source ? std::bit_cast<float>(*source) * f(2) + f(10) : f(10))
          << c.text << " lane " << i;
    }
    // The carry-in is the lane's own; v_addc reads and writes VCC.
    const uint64_t carries = 0x0f1e'2d3c'4b5a'6978;
    Program q("v_addc_co_u32_dpp v10, vcc, v1, v2, vcc" + suffix(c, m, true), c.processor);
    q.start();
    for (unsigned r = 0; r < 12; ++r) q.fill(r, [&](unsigned i) { return word(i, r); });
    q.wave().set_exec(m.exec);
    q.wave().set_vcc(carries);
    q.run();
    for (unsigned i = 0; i < lanes; ++i) {
      const auto source = read(c, m, true, i, [](unsigned lane) { return word(lane, 1); });
      const uint64_t sum = source ? uint64_t{*source} + word(i, 2) + (carries >> i & 1) : word(i, 10);
      ASSERT_EQ(q.v(10).lane[i], uint32_t(sum)) << c.text << " lane " << i;
      if (source) {
        ASSERT_EQ(q.wave().vcc() >> i & 1, sum >> 32) << c.text << " lane " << i;
      }
    }
  }
}

TEST(StageDpp, SixtyFourBitsAreMovedTogether) {
  // From gfx90a on, of 64-bit sources only row_newbcast.
  for (int n = 0; n < 16; ++n)
    for (const Masks& m : masks) {
      const Control c{fmt::format("row_newbcast:{}", n), [n](int l) { return (l & ~15) + n; }};
      const auto p = ran("v_mov_b64_dpp v[10:11], v[2:3]" + suffix(c, m, false), Processor::gfx942, m.exec, word);
      const auto value = [](unsigned i, unsigned r) {
        const auto bits = std::bit_cast<uint64_t>(double(i) + 0.25);
        return r % 2 ? uint32_t(bits >> 32) : uint32_t(bits);
      };
      const auto q = ran("v_ceil_f64_dpp v[10:11], -v[2:3]" + suffix(c, m, true), Processor::gfx90a, m.exec, value);
      for (unsigned i = 0; i < lanes; ++i) {
        for (unsigned k = 0; k < 2; ++k)
          ASSERT_EQ(p->v(10 + k).lane[i],
                    read(c, m, false, i, [&](unsigned lane) { return word(lane, 2 + k); }).value_or(word(i, 10 + k)))
              << suffix(c, m, false) << " lane " << i;
        const auto from = read(c, m, true, i, [](unsigned lane) { return lane + 1; }); // 0: no source
        const double old = double(i) + 0.25, wanted = from ? std::ceil(*from ? -(double(*from) - 0.75) : -0.0) : old;
        ASSERT_EQ(std::bit_cast<double>(uint64_t{q->v(11).lane[i]} << 32 | q->v(10).lane[i]), wanted)
            << suffix(c, m, true) << " lane " << i;
      }
    }
}
