// Formats of typed buffer accesses: where the components of every data format lie, what every number format makes of
// them, and back.
#include "buffers_fixture.h"

#include <bit>
#include <cmath>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

/// A data format as LLVM names it, highest bits first, and as memory has it, lowest bits first.
struct DataFormat {
  const char* name;
  std::vector<unsigned> widths;
  bool floats;   // may hold floating-point numbers
  bool integers; // ... and others
};
const DataFormat data_formats[] = {
    {"8", {8}, false, true},
    {"16", {16}, true, true},
    {"8_8", {8, 8}, false, true},
    {"32", {32}, true, true},
    {"16_16", {16, 16}, true, true},
    {"10_11_11", {11, 11, 10}, true, false},
    {"11_11_10", {10, 11, 11}, true, false},
    {"10_10_10_2", {2, 10, 10, 10}, false, true},
    {"2_10_10_10", {10, 10, 10, 2}, false, true},
    {"8_8_8_8", {8, 8, 8, 8}, false, true},
    {"32_32", {32, 32}, true, true},
    {"16_16_16_16", {16, 16, 16, 16}, true, true},
    {"32_32_32", {32, 32, 32}, true, true},
    {"32_32_32_32", {32, 32, 32, 32}, true, true},
};

double most(unsigned width, bool is_signed) { return std::ldexp(1.0, int(width) - is_signed) - 1; }
uint32_t f32(double x) { return std::bit_cast<uint32_t>(float(x)); }
int64_t extended(uint64_t raw, unsigned width) { return int64_t(raw << (64 - width)) >> (64 - width); }

/// What a register gets from `raw`.
uint32_t loaded(const std::string& number, uint32_t raw, unsigned width) {
  const int64_t s = extended(raw, width);
  if (number == "UNORM") return f32(raw / most(width, false));
  if (number == "SNORM") return f32(std::max(-1.0, double(s) / most(width, true)));
  if (number == "USCALED") return f32(raw);
  if (number == "SSCALED") return f32(double(s));
  if (number == "UINT") return raw;
  if (number == "SINT") return uint32_t(s);
  if (width == 32) return raw;
  // Sixteen bits are a half; eleven and ten have its exponent, no sign and fewer fraction bits.
  const unsigned fraction_bits = width == 16 ? 10 : width - 5;
  const uint32_t fraction = raw & ((1u << fraction_bits) - 1), exponent = raw >> fraction_bits & 31;
  const double sign = width == 16 && raw >> 15 ? -1 : 1;
  const double significand = fraction + (exponent ? 1u << fraction_bits : 0u);
  return f32(sign * std::ldexp(significand, int(std::max(exponent, 1u)) - 15 - int(fraction_bits)));
}

/// A component of `width` bits that is a number in every format: no infinity, no NaN.
uint32_t component(unsigned lane, unsigned k, unsigned width, bool floats) {
  const uint32_t edges[] = {0, 1, ~0u, 0x7fffffffu >> (32 - width), 1u << (width - 1), (1u << (width - 1)) | 1};
  uint32_t raw = lane < 6 ? edges[(lane + k) % 6] : (lane + 1) * 0x9e3779b9u + k * 0x7f4a7c15u;
  if (width < 32) raw &= (1u << width) - 1;
  if (!floats) return raw;
  const uint32_t top = width == 32 ? 0x7f800000u : 31u << (width == 16 ? 10 : width - 5);
  return (raw & top) == top ? raw ^ (top & (top >> 1 ^ top)) : raw;
}

void put_bits(uint8_t* bytes, unsigned at, unsigned width, uint32_t value) {
  for (unsigned k = 0; k < width; ++k) bytes[(at + k) / 8] |= uint8_t((value >> k & 1) << ((at + k) % 8));
}

} // namespace

TEST(BufferFormat, EveryDataFormatWithEveryNumberFormatComesInAndGoesOut) {
  for (const DataFormat& d : data_formats)
    for (const std::string number : {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"}) {
      const bool floats = number == "FLOAT", pure = number == "UINT" || number == "SINT";
      if (floats ? !d.floats : !d.integers) continue;
      if (d.widths[0] == 32 && !floats && !pure) continue; // there are no normalised or scaled dwords
      const std::string format = fmt::format("format:[BUF_DATA_FORMAT_{},BUF_NUM_FORMAT_{}]", d.name, number);
      SCOPED_TRACE(format);
      Buffers p(fmt::format("tbuffer_load_format_xyzw v[10:13], v1, s[8:11], 0 {0} offen\n"
                            "tbuffer_store_format_xyzw v[10:13], v1, s[12:15], 0 {0} offen",
                            format));
      for (auto& byte : p.in) byte = 0;
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned k = 0, at = 0; k < d.widths.size(); at += d.widths[k++])
          put_bits(p.in.data() + 16 * i, at, d.widths[k], component(i, k, d.widths[k], floats));
      p.begin();
      p.s(11) |= 0xfac; // x, y, z, w as they are
      p.fill(1, [](unsigned i) { return 16 * i; });
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned i = 0; i < lanes; ++i) {
        for (unsigned k = 0; k < 4; ++k) {
          const uint32_t absent = k < 3 ? 0 : pure ? 1 : f32(1);
          const uint32_t wanted =
              k < d.widths.size() ? loaded(number, component(i, k, d.widths[k], floats), d.widths[k]) : absent;
          ASSERT_EQ(p.v(10 + k).lane[i], wanted) << "lane " << i << " component " << k;
        }
        // Stored again they are the same bits, but for the one code more that signed normalised numbers have.
        uint8_t back[16] = {};
        for (unsigned k = 0, at = 0; k < d.widths.size(); at += d.widths[k++]) {
          uint32_t raw = component(i, k, d.widths[k], floats);
          if (number == "SNORM" && raw == 1u << (d.widths[k] - 1)) ++raw;
          put_bits(back, at, d.widths[k], raw);
        }
        ASSERT_EQ(std::memcmp(p.out.data() + 16 * i, back, 16), 0) << "lane " << i;
      }
    }
}

TEST(BufferFormat, StoresSaturateAndRoundToTheNearest) {
  const auto stored = [](const char* format, float x) {
    Buffers p(fmt::format("tbuffer_store_format_x v10, v1, s[12:15], 0 format:[{}] offen", format));
    p.begin();
    p.fill(1, [](unsigned i) { return 4 * i; });
    p.fill(10, [&](unsigned) { return std::bit_cast<uint32_t>(x); });
    p.run();
    EXPECT_EQ(p.end(), TurnEnd::finished) << p.fault();
    return p.dword(8);
  };
  EXPECT_EQ(stored("BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", 7.0f), 0xffu);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", -7.0f), 0u);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", NAN), 0u);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", 0.5f), 0x80u);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_SNORM", -7.0f), 0x81u);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_USCALED", 70000.0f), 0xffffu);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SSCALED", -70000.0f), 0x8000u);
  EXPECT_EQ(stored("BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT", 1e6f), 0x7c00u);
}

TEST(BufferFormat, TheResourceNamesFormatAndOrderOfComponents) {
  // dst_sel of x, y, z, w: 0 is 0, 1 is 1, 4 to 7 are the components.
  for (const unsigned select : {0xfacu, 0x977u, 0x1c8u, 0x06eu}) {
    Buffers p("buffer_load_format_xyzw v[10:13], v1, s[8:11], 0 offen");
    for (unsigned k = 0; k < 4096; ++k) p.in[k] = uint8_t(k * 37);
    p.begin();
    p.s(11) = select | 4u << 12 | 10u << 15; // 8_8_8_8, unsigned integers
    p.fill(1, [](unsigned i) { return 4 * i; });
    p.run();
    ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
    for (unsigned i = 0; i < lanes; ++i)
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned which = select >> (3 * k) & 7;
        ASSERT_EQ(p.v(10 + k).lane[i], which >= 4 ? uint8_t((4 * i + which - 4) * 37) : which) << std::hex << select;
      }
  }
}
