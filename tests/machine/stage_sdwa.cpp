// Sub-dword addressing, whatever the instruction: which part of a source counts, what is in front of it, where the
// result goes, and what becomes of the rest of the destination.
#include "wave_fixture.h"

#include <bit>

using namespace asmevo;
using namespace asmevo::machine;
using isa::Processor;

namespace {

constexpr Processor processors[] = {Processor::gfx908, Processor::gfx90a, Processor::gfx942, Processor::gfx950};

struct Part {
  const char* name;
  unsigned at, width;
};
constexpr Part parts[] = {{"BYTE_0", 0, 8},  {"BYTE_1", 8, 8},   {"BYTE_2", 16, 8}, {"BYTE_3", 24, 8},
                          {"WORD_0", 0, 16}, {"WORD_1", 16, 16}, {"DWORD", 0, 32}};
constexpr const char* unused[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

uint32_t word(unsigned lane, unsigned k) { return (lane + 1) * 0x9e3779b9u + k * 0x7f4a7c15u; }
uint32_t taken(uint32_t x, const Part& p, bool sign) {
  const uint32_t mask = p.width == 32 ? ~0u : (1u << p.width) - 1, field = x >> p.at & mask;
  return sign && p.width < 32 && field >> (p.width - 1) ? field | ~mask : field;
}
/// The destination after `result` was written to part `p` of it.
uint32_t put(uint32_t result, uint32_t old, const Part& p, unsigned rest) {
  const uint32_t mask = p.width == 32 ? ~0u : (1u << p.width) - 1, field = result & mask;
  if (rest == 2) return (old & ~(mask << p.at)) | field << p.at;
  uint32_t value = field << p.at;
  if (rest == 1 && field >> (p.width - 1) & 1)
    for (unsigned k = p.at + p.width; k < 32; ++k) value |= 1u << k;
  return value;
}

std::unique_ptr<Program> ran(const std::string& text, Processor processor, uint32_t mode = 0x3f0,
                             uint64_t exec = all_lanes) {
  auto p = std::make_unique<Program>(text, processor);
  p->start();
  for (unsigned r = 0; r < 12; ++r) p->fill(r, [&](unsigned i) { return word(i, r); });
  p->wave().mode = mode;
  p->s(6) = 0x89abcdef;
  p->wave().set_exec(exec);
  p->run();
  EXPECT_EQ(p->end(), TurnEnd::finished) << p->fault() << text;
  return p;
}

} // namespace

TEST(StageSdwa, EveryPartOfASourceGoesToEveryPartOfTheDestination) {
  constexpr uint64_t exec = 0xf0f0'1234'ffff'8001;
  for (const Processor on : processors)
    for (const Part& from : parts)
      for (const Part& to : parts)
        for (const bool sign : {false, true}) {
          std::string text;
          for (unsigned rest = 0; rest < 3; ++rest)
            text += fmt::format("v_mov_b32_sdwa v{}, {} dst_sel:{} dst_unused:{} src0_sel:{}\n", 8 + rest,
                                sign ? "sext(v1)" : "v1", to.name, unused[rest], from.name);
          const auto p = ran(text, on, 0x3f0, exec);
          for (unsigned i = 0; i < lanes; ++i)
            for (unsigned rest = 0; rest < 3; ++rest) {
              const uint32_t old = word(i, 8 + rest), moved = put(taken(word(i, 1), from, sign), old, to, rest);
              ASSERT_EQ(p->v(8 + rest).lane[i], exec >> i & 1 ? moved : old) << text << "lane " << i;
            }
        }
}

TEST(StageSdwa, BothSourcesAreSelectedAndOneMayBeAScalar) {
  for (const Part& first : parts)
    for (const Part& second : parts)
      for (unsigned signs = 0; signs < 4; ++signs)
        for (const bool scalar : {false, true}) {
          const Part& to = parts[(first.at + second.width + signs) % 7];
          const unsigned rest = (first.width / 8 + signs) % 3;
          const char* b = scalar ? "s6" : "v2";
          const auto p =
              ran(fmt::format("v_sub_u32_sdwa v8, {}, {} dst_sel:{} dst_unused:{} src0_sel:{} src1_sel:{}",
                              signs & 1 ? "sext(v1)" : "v1", signs & 2 ? fmt::format("sext({})", b) : std::string(b),
                              to.name, unused[rest], first.name, second.name),
                  Processor::gfx942);
          for (unsigned i = 0; i < lanes; ++i) {
            const uint32_t x = taken(word(i, 1), first, signs & 1),
                           y = taken(scalar ? 0x89abcdef : word(i, 2), second, signs & 2);
            ASSERT_EQ(p->v(8).lane[i], put(x - y, word(i, 8), to, rest)) << first.name << second.name << signs;
          }
        }
}

TEST(StageSdwa, SignsOfHalvesApplyToTheSelectedWord) {
  const auto half = [](uint32_t bits) { return float(std::bit_cast<_Float16>(uint16_t(bits))); };
  for (const Part* first : {&parts[4], &parts[5]})
    for (const Part* second : {&parts[4], &parts[5]})
      for (const Part* to : {&parts[4], &parts[5]})
        for (unsigned signs = 0; signs < 16; ++signs) {
          const auto operand = [&](const char* name, unsigned bits) {
            const std::string inner = bits & 1 ? fmt::format("|{}|", name) : name;
            return bits & 2 ? "-" + inner : inner;
          };
          Program p(
              fmt::format("v_mul_f16_sdwa v8, {}, {} dst_sel:{} dst_unused:UNUSED_PRESERVE src0_sel:{} src1_sel:{}",
                          operand("v1", signs & 3), operand("v2", signs >> 2), to->name, first->name, second->name));
          p.start();
          const auto number = [](unsigned i, unsigned k) {
            return std::bit_cast<uint16_t>(_Float16((int(i * (k + 3) % 21) - 10) / 4.0f));
          };
          for (unsigned r = 1; r < 3; ++r)
            p.fill(r, [&](unsigned i) { return number(i, r) | uint32_t{number(i + 5, r)} << 16; });
          p.fill(8, [](unsigned) { return 0x12345678; });
          p.run();
          for (unsigned i = 0; i < lanes; ++i) {
            const auto value = [&](unsigned r, const Part& part, unsigned bits) {
              float x = half(number(i + (part.at ? 5 : 0), r));
              if (bits & 1) x = std::fabs(x);
              return bits & 2 ? -x : x;
            };
            const float product = value(1, *first, signs & 3) * value(2, *second, signs >> 2);
            ASSERT_EQ(p.v(8).lane[i], put(std::bit_cast<uint16_t>(_Float16(product)), 0x12345678, *to, 2))
                << signs << " lane " << i;
          }
        }
}

TEST(StageSdwa, ClampAndOutputModifiersComeBeforeTheDestinationIsSelected) {
  // MODE: f32 denormals off, IEEE off, so that omod works.
  constexpr uint32_t mode = 0xc0 | mode::dx10_clamp;
  for (const auto& [modifier, change] :
       {std::pair<const char*, float (*)(float)>{"mul:2", [](float x) { return 2 * x; }},
        {"mul:4", [](float x) { return 4 * x; }},
        {"div:2", [](float x) { return x / 2; }},
        {"clamp", [](float x) { return std::clamp(x, 0.0f, 1.0f); }},
        {"clamp mul:2", [](float x) { return std::clamp(2 * x, 0.0f, 1.0f); }}})
    for (const Part& to : {parts[1], parts[5], parts[6]}) {
      Program p(
          fmt::format("v_add_f32_sdwa v8, v1, v2 {} dst_sel:{} dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
                      modifier, to.name));
      p.start();
      p.wave().mode = mode;
      for (unsigned r = 1; r < 3; ++r)
        p.fill(r, [&](unsigned i) { return std::bit_cast<uint32_t>((float(i) - 32) / float(8 * r)); });
      p.run();
      for (unsigned i = 0; i < lanes; ++i) {
        const float sum = (float(i) - 32) / 8 + (float(i) - 32) / 16;
        ASSERT_EQ(p.v(8).lane[i], put(std::bit_cast<uint32_t>(change(sum)), 0, to, 0)) << modifier << " lane " << i;
      }
    }
}

TEST(StageSdwa, IntegersSaturateInTheirOwnWidth) {
  const auto p =
      ran("v_add_u32_sdwa v8, v1, v2 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD\n"
          "v_sub_u16_sdwa v9, v1, v2 clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
          "src1_sel:WORD_0",
          Processor::gfx942);
  for (unsigned i = 0; i < lanes; ++i) {
    const uint64_t sum = uint64_t{word(i, 1)} + word(i, 2);
    ASSERT_EQ(p->v(8).lane[i], uint32_t(std::min<uint64_t>(sum, ~0u)));
    const uint32_t a = word(i, 1) >> 16, b = word(i, 2) & 0xffff;
    ASSERT_EQ(p->v(9).lane[i], (a > b ? a - b : 0) << 16 | (word(i, 9) & 0xffff));
  }
}

TEST(StageSdwa, ComparesSelectTheirSourcesAndNameTheirMask) {
  constexpr uint64_t exec = 0x0fff'ffff'ff0f'fff1;
  for (const Part& first : parts)
    for (const Part& second : parts)
      for (const bool sign : {false, true})
        for (const char* mask : {"vcc", "s[10:11]"}) {
          const auto p = ran(fmt::format("v_cmp_lt_i32_sdwa {}, {}, {} src0_sel:{} src1_sel:{}", mask,
                                         sign ? "sext(v1)" : "v1", sign ? "sext(v2)" : "v2", first.name, second.name),
                             Processor::gfx942, 0x3f0, exec);
          const uint64_t got = mask[0] == 'v' ? p->wave().vcc() : p->s64(10);
          for (unsigned i = 0; i < lanes; ++i) {
            const bool less = int32_t(taken(word(i, 1), first, sign)) < int32_t(taken(word(i, 2), second, sign));
            ASSERT_EQ(got >> i & 1, uint64_t{(exec >> i & 1) && less}) << first.name << second.name << " lane " << i;
          }
        }
}
