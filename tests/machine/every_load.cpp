// Every load and store by width, through every path to memory, against a few lines of C++: which bytes reach which part
// of which registers, and back.
#include "buffers_fixture.h"

#include <algorithm>
#include <bit>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

constexpr unsigned apart = 16;        // bytes from lane to lane
constexpr uint32_t kept = 0xaaaa5555; // what destinations hold before

uint8_t pattern(unsigned k) { return uint8_t(k * 37 + 0x8b); }

/// How a width is spelt, and what it means. `place` of a load: 0 a whole register, 1 its low half, 2 its high half.
struct Width {
  const char* memory;
  const char* lds;
  unsigned bytes;
  bool is_signed;
  unsigned place;
};
constexpr Width loads[] = {
    {"ubyte", "u8", 1, false, 0},          {"sbyte", "i8", 1, true, 0},
    {"ushort", "u16", 2, false, 0},        {"sshort", "i16", 2, true, 0},
    {"dword", "b32", 4, false, 0},         {"dwordx2", "b64", 8, false, 0},
    {"dwordx3", "b96", 12, false, 0},      {"dwordx4", "b128", 16, false, 0},
    {"ubyte_d16", "u8_d16", 1, false, 1},  {"ubyte_d16_hi", "u8_d16_hi", 1, false, 2},
    {"sbyte_d16", "i8_d16", 1, true, 1},   {"sbyte_d16_hi", "i8_d16_hi", 1, true, 2},
    {"short_d16", "u16_d16", 2, false, 1}, {"short_d16_hi", "u16_d16_hi", 2, false, 2},
};
constexpr Width stores[] = {
    {"byte", "b8", 1, false, 0},      {"byte_d16_hi", "b8_d16_hi", 1, false, 2},
    {"short", "b16", 2, false, 0},    {"short_d16_hi", "b16_d16_hi", 2, false, 2},
    {"dword", "b32", 4, false, 0},    {"dwordx2", "b64", 8, false, 0},
    {"dwordx3", "b96", 12, false, 0}, {"dwordx4", "b128", 16, false, 0},
};

unsigned dwords(const Width& w) { return (w.bytes + 3) / 4; }
std::string registers(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

/// Register `k` after a load of the bytes from `at` on.
uint32_t loaded(const Width& w, unsigned at, unsigned k) {
  uint32_t value = 0;
  for (unsigned b = 0; b < 4 && 4 * k + b < w.bytes; ++b) value |= uint32_t{pattern(at + 4 * k + b)} << (8 * b);
  if (w.is_signed) value = w.bytes == 1 ? uint32_t(int8_t(value)) : uint32_t(int16_t(value));
  if (w.place == 1) return (kept & 0xffff0000) | (value & 0xffff);
  if (w.place == 2) return (kept & 0xffff) | value << 16;
  return value;
}

/// Fills registers 10 to 13 with `kept`, v1 with lane offsets, v[6:7] with addresses from `base`.
void set_registers(Program& p, uint64_t base) {
  for (unsigned r = 10; r < 14; ++r) p.fill(r, [](unsigned) { return kept; });
  p.fill(1, [](unsigned i) { return apart * i; });
  p.fill(6, [&](unsigned i) { return uint32_t(base + apart * i); });
  p.fill(7, [&](unsigned i) { return uint32_t((base + apart * i) >> 32); });
  // v[20:23]: sixteen bytes of the pattern.
  for (unsigned k = 0; k < 4; ++k)
    p.fill(20 + k, [&](unsigned i) {
      uint32_t value = 0;
      for (unsigned b = 0; b < 4; ++b) value |= uint32_t{pattern(apart * i + 4 * k + b)} << (8 * b);
      return value;
    });
}

void expect_loaded(Program& p, const Width& w) {
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i)
    for (unsigned k = 0; k < 4; ++k)
      ASSERT_EQ(p.v(10 + k).lane[i], k < dwords(w) ? loaded(w, apart * i, k) : kept)
          << "lane " << i << " register " << k;
}

void check_load(const std::string& text, const Width& w, isa::Processor processor) {
  SCOPED_TRACE(text);
  Buffers p(text, 4096, processor);
  for (unsigned k = 0; k < 4096; ++k) p.in[k] = pattern(k);
  p.resources.scratch_bytes = 16;
  p.begin();
  set_registers(p, in_base);
  p.run();
  expect_loaded(p, w);
  p.note();
}

/// The bytes that a store of v[20:23] (or of the high half of v20) leaves, and zeros around them.
void check_store(const std::string& text, const Width& w, isa::Processor processor) {
  SCOPED_TRACE(text);
  Buffers p(text, 4096, processor);
  p.begin();
  set_registers(p, out_base);
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i)
    for (unsigned b = 0; b < apart; ++b)
      ASSERT_EQ(p.out[apart * i + b], b < w.bytes ? pattern(apart * i + (w.place == 2 ? 2 : 0) + b) : 0)
          << "lane " << i;
  p.note();
}

constexpr isa::Processor old_and_new[] = {isa::Processor::gfx908, isa::Processor::gfx950};

} // namespace

TEST(EveryLoad, FromVectorMemory) {
  for (const isa::Processor processor : old_and_new)
    for (const Width& w : loads) {
      const std::string to = registers(10, dwords(w));
      check_load(fmt::format("global_load_{} {}, v1, s[4:5]", w.memory, to), w, processor);
      check_load(fmt::format("flat_load_{} {}, v[6:7]", w.memory, to), w, processor);
      check_load(fmt::format("buffer_load_{} {}, v1, s[8:11], 0 offen", w.memory, to), w, processor);
    }
}

TEST(EveryLoad, FromScratchAndLds) {
  for (const Width& w : loads) {
    const std::string to = registers(10, dwords(w));
    check_load(fmt::format("v_mov_b32 v1, 0\nscratch_store_dwordx4 v1, v[20:23], off\nscratch_load_{} {}, v1, off",
                           w.memory, to),
               w, isa::Processor::gfx950);
    check_load(fmt::format("ds_write_b128 v1, v[20:23]\nds_read_{} {}, v1", w.lds, to), w, isa::Processor::gfx950);
  }
}

TEST(EveryLoad, StoresToVectorMemory) {
  for (const isa::Processor processor : old_and_new)
    for (const Width& w : stores) {
      const std::string from = registers(20, dwords(w));
      check_store(fmt::format("global_store_{} v1, {}, s[6:7]", w.memory, from), w, processor);
      check_store(fmt::format("flat_store_{} v[6:7], {}", w.memory, from), w, processor);
      check_store(fmt::format("buffer_store_{} {}, v1, s[12:15], 0 offen", w.memory, from), w, processor);
    }
}

TEST(EveryLoad, StoresToScratchAndLds) {
  for (const Width& w : stores) {
    const std::string from = registers(20, dwords(w));
    const std::string back = "\nglobal_store_dwordx4 v1, v[10:13], s[6:7]";
    const std::string clear = "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_mov_b32 v12, 0\nv_mov_b32 v13, 0\n";
    check_store(
        clear + fmt::format("ds_write_b128 v1, v[10:13]\nds_write_{} v1, {}\nds_read_b128 v[10:13], v1", w.lds, from) +
            back,
        w, isa::Processor::gfx950);
    SCOPED_TRACE(w.memory);
    Buffers p(fmt::format("v_mov_b32 v2, 0\nscratch_store_{} v2, {}, off\nscratch_load_dwordx4 v[10:13], v2, off",
                          w.memory, from) +
              back);
    p.resources.scratch_bytes = 16;
    p.begin();
    set_registers(p, out_base);
    p.run();
    ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
    for (unsigned i = 0; i < lanes; ++i)
      for (unsigned b = 0; b < apart; ++b)
        ASSERT_EQ(p.out[apart * i + b], b < w.bytes ? pattern(apart * i + (w.place == 2 ? 2 : 0) + b) : 0)
            << "lane " << i;
    p.note();
  }
}

TEST(EveryLoad, ToLdsLaneAfterLane) {
  // Bytes and shorts fill a dword; three dwords leave the fourth alone.
  for (const Width& w : loads) {
    if (w.place || w.bytes == 8) continue;
    const unsigned stride = w.bytes <= 4 ? 4 : 16;
    for (const std::string path : {"global", "scratch", "buffer"}) {
      const std::string text =
          path == "buffer"   ? fmt::format("s_mov_b32 m0, 0x100\nbuffer_load_{} v1, s[8:11], 0 offen lds", w.memory)
          : path == "global" ? fmt::format("s_mov_b32 m0, 0x100\nglobal_load_lds_{} v1, s[4:5]", w.memory)
                             : fmt::format("v_mov_b32 v1, 0\nscratch_store_dwordx4 v1, v[20:23], off\ns_mov_b32 m0, "
                                           "0x100\nscratch_load_lds_{} v1, off",
                                           w.memory);
      if (path == "scratch" && w.bytes > 4) continue; // there is no such instruction
      SCOPED_TRACE(text);
      Buffers p(text, 4096, isa::Processor::gfx950);
      for (unsigned k = 0; k < 4096; ++k) p.in[k] = pattern(k);
      p.resources.scratch_bytes = 16;
      p.begin();
      set_registers(p, in_base);
      std::memset(p.wave().lds, 0xee, 2048);
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned k = 0; k < stride / 4; ++k)
          ASSERT_EQ(p.lds<uint32_t>(0x100 + stride * i + 4 * k), k < dwords(w) ? loaded(w, apart * i, k) : 0xeeeeeeee)
              << "lane " << i;
      p.note();
    }
  }
}

TEST(EveryLoad, ToLdsByABitOfOlderLoads) {
  for (const char* width : {"ubyte", "sbyte", "ushort", "sshort", "dword"}) {
    const Width& w = *std::ranges::find(loads, std::string_view(width), &Width::memory);
    Buffers p(fmt::format("s_mov_b32 m0, 0x80\nglobal_load_{} v[6:7], off lds", width), 4096, isa::Processor::gfx908);
    for (unsigned k = 0; k < 4096; ++k) p.in[k] = pattern(k);
    p.begin();
    set_registers(p, in_base);
    p.run();
    ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
    for (unsigned i = 0; i < lanes; ++i) ASSERT_EQ(p.lds<uint32_t>(0x80 + 4 * i), loaded(w, apart * i, 0)) << width;
    p.note();
  }
}

TEST(EveryLoad, FromLdsToABufferOnOlderTargets) {
  Buffers p("s_mov_b32 m0, 0x40\nbuffer_store_lds_dword s[12:15], 0 offset:8 lds", 4096, isa::Processor::gfx908);
  p.begin();
  p.s(13) |= 4u << 16; // stride
  p.s(15) |= 1u << 23; // the lane's number is the index
  for (unsigned k = 0; k < 1024; ++k) p.wave().lds[k] = pattern(k);
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned k = 0; k < 4 * lanes; ++k) ASSERT_EQ(p.out[8 + k], pattern(0x48 + k)) << k;
  p.note();
}

TEST(EveryLoad, TypedComponentsOfFourFloats) {
  const char* const names[] = {"x", "xy", "xyz", "xyzw"};
  for (unsigned count = 1; count <= 4; ++count)
    for (const bool typed : {false, true}) {
      const std::string format = typed ? "format:[BUF_DATA_FORMAT_32_32_32_32,BUF_NUM_FORMAT_FLOAT] " : "";
      const std::string name = fmt::format("{}buffer_load_format_{}", typed ? "t" : "", names[count - 1]);
      const std::string load = fmt::format("{} {}, v1, s[8:11], 0 {}offen", name, registers(10, count), format);
      const std::string store = fmt::format("{}buffer_store_format_{} {}, v1, s[12:15], 0 {}offen", typed ? "t" : "",
                                            names[count - 1], registers(20, count), format);
      SCOPED_TRACE(load + " / " + store);
      Buffers p(load + "\n" + store);
      p.begin();
      p.s(11) = p.s(15) = 0xfac | 7u << 12 | 14u << 15; // xyzw, float, 32_32_32_32
      for (unsigned k = 0; k < 1024; ++k) {
        const float value = float(k) - 300;
        std::memcpy(p.in.data() + 4 * k, &value, 4);
      }
      set_registers(p, in_base);
      for (unsigned k = 0; k < 4; ++k)
        p.fill(20 + k, [&](unsigned i) { return std::bit_cast<uint32_t>(float(4 * i + k) + 0.5f); });
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned k = 0; k < count; ++k) {
          ASSERT_EQ(std::bit_cast<float>(p.v(10 + k).lane[i]), float(4 * i + k) - 300) << "lane " << i;
          ASSERT_EQ(std::bit_cast<float>(p.dword(apart * i + 4 * k)), float(4 * i + k) + 0.5f) << "lane " << i;
        }
      p.note();
    }
}

TEST(EveryLoad, TypedComponentsOfFourHalves) {
  const char* const names[] = {"x", "xy", "xyz", "xyzw"};
  for (unsigned count = 1; count <= 4; ++count)
    for (const bool typed : {false, true}) {
      const std::string format = typed ? "format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_FLOAT] " : "";
      const unsigned n = (count + 1) / 2;
      const std::string text = fmt::format(
          "{0}buffer_load_format_d16_{1} {2}, v1, s[8:11], 0 {4}offen\n{0}buffer_store_format_d16_{1} {3}, v1, "
          "s[12:15], 0 {4}offen",
          typed ? "t" : "", names[count - 1], registers(10, n), registers(20, n), format);
      SCOPED_TRACE(text);
      Buffers p(text);
      p.begin();
      p.s(11) = p.s(15) = 0xfac | 7u << 12 | 12u << 15; // xyzw, float, 16_16_16_16
      auto half = [](float x) { return std::bit_cast<uint16_t>(_Float16(x)); };
      for (unsigned k = 0; k < 2048; ++k) {
        const uint16_t value = half(float(k % 700));
        std::memcpy(p.in.data() + 2 * k, &value, 2);
      }
      set_registers(p, in_base);
      for (unsigned k = 0; k < 2; ++k)
        p.fill(20 + k, [&](unsigned i) { return half(float(i)) | uint32_t{half(float(k) + 0.5f)} << 16; });
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned k = 0; k < count; ++k) {
          ASSERT_EQ(p.v(10 + k / 2).lane[i] >> (16 * (k % 2)) & 0xffff, half(float((8 * i + k) % 700))) << "lane " << i;
          ASSERT_EQ(p.dword(apart * i + 4 * (k / 2)) >> (16 * (k % 2)) & 0xffff,
                    half(k % 2 ? float(k / 2) + 0.5f : float(i)))
              << "lane " << i;
        }
      p.note();
    }
}

TEST(EveryLoad, TypedHighHalves) {
  Buffers p(
      "buffer_load_format_d16_hi_x v10, v1, s[8:11], 0 offen\nbuffer_store_format_d16_hi_x v10, v1, s[12:15], 0 offen");
  p.begin();
  p.s(11) = p.s(15) = 0xfac | 7u << 12 | 2u << 15; // float, 16
  for (unsigned k = 0; k < 4096; ++k) p.in[k] = k % 2 ? 0x3c : uint8_t(k / 16);
  set_registers(p, in_base);
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i) {
    ASSERT_EQ(p.v(10).lane[i], (0x3c00u | i) << 16 | (kept & 0xffff));
    ASSERT_EQ(p.dword(apart * i), 0x3c00u | i);
  }
  p.note();
}

TEST(EveryLoad, ScalarLoadsOfEveryWidth) {
  for (const unsigned count : {1u, 2u, 4u, 8u, 16u})
    for (const char* kind : {"", "buffer_", "scratch_"}) {
      if (kind[0] == 's' && count > 4) continue;
      const std::string suffix = count == 1 ? "" : fmt::format("x{}", count),
                        to = count == 1 ? "s20" : fmt::format("s[20:{}]", 19 + count);
      Buffers p(fmt::format("s_mov_b32 s16, 1\ns_{}load_dword{} {}, {}, {}", kind, suffix, to,
                            kind[0] == 'b' ? "s[8:11]" : "s[4:5]", kind[0] == 's' ? "s16" : "0x40"),
                4096, isa::Processor::gfx908);
      p.begin();
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      // A register offset of scratch counts 64 bytes.
      for (unsigned k = 0; k < count; ++k) EXPECT_EQ(p.s(20 + k), 0x1010u + k) << kind << count;
      p.note();
    }
}

TEST(EveryLoad, ScalarStoresOfEveryWidth) {
  for (const unsigned count : {1u, 2u, 4u})
    for (const char* kind : {"", "buffer_", "scratch_"}) {
      const std::string suffix = count == 1 ? "" : fmt::format("x{}", count),
                        from = count == 1 ? "s20" : fmt::format("s[20:{}]", 19 + count);
      Buffers p(fmt::format("s_mov_b32 s16, 1\ns_{}store_dword{} {}, {}, {}", kind, suffix, from,
                            kind[0] == 'b' ? "s[12:15]" : "s[6:7]", kind[0] == 's' ? "s16" : "0x40"),
                4096, isa::Processor::gfx908);
      p.begin();
      for (unsigned k = 0; k < 4; ++k) p.s(20 + k) = 70 + k;
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned k = 0; k < 5; ++k) EXPECT_EQ(p.dword(64 + 4 * k), k < count ? 70 + k : 0) << kind << count;
      p.note();
    }
}

TEST(EveryLoad, TwoAddressesOfEveryWidth) {
  for (const bool wide : {false, true})
    for (const bool st64 : {false, true}) {
      const std::string suffix = fmt::format("{}_b{}", st64 ? "st64" : "", wide ? 64 : 32);
      const std::string one = wide ? "v[20:21]" : "v20", two = wide ? "v[22:23]" : "v22",
                        to = wide ? "v[10:13]" : "v[10:11]";
      Program p(fmt::format("ds_write2{0} v1, {1}, {2} offset0:0 offset1:1\nds_read2{0} {3}, v1 offset0:1 offset1:0\n"
                            "ds_wrxchg2{4} {5}, v1, {2}, {1} offset0:0 offset1:1",
                            suffix, one, two, to, fmt::format("{}_rtn_b{}", st64 ? "st64" : "", wide ? 64 : 32),
                            wide ? "v[30:33]" : "v[30:31]"));
      SCOPED_TRACE(suffix);
      p.start();
      const unsigned bytes = wide ? 8 : 4, distance = bytes * (st64 ? 64 : 1), spread = st64 ? bytes : 2 * bytes;
      set_registers(p, 0);
      p.fill(1, [&](unsigned i) { return spread * i; });
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      const unsigned n = bytes / 4;
      for (unsigned i = 0; i < lanes; ++i)
        for (unsigned k = 0; k < n; ++k) {
          ASSERT_EQ(p.v(10 + k).lane[i], p.v(22 + k).lane[i]);
          ASSERT_EQ(p.v(10 + n + k).lane[i], p.v(20 + k).lane[i]);
          ASSERT_EQ(p.v(30 + k).lane[i], p.v(20 + k).lane[i]);
          ASSERT_EQ(p.v(30 + n + k).lane[i], p.v(22 + k).lane[i]);
          ASSERT_EQ(p.lds<uint32_t>(spread * i + 4 * k), p.v(22 + k).lane[i]);
          ASSERT_EQ(p.lds<uint32_t>(spread * i + distance + 4 * k), p.v(20 + k).lane[i]);
        }
      p.note();
    }
}

TEST(EveryLoad, TwoWritesToOneOffsetAreTheFirst) {
  Program p("ds_write2_b32 v1, v20, v22 offset0:3 offset1:3");
  p.start();
  set_registers(p, 0);
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i) EXPECT_EQ(p.lds<uint32_t>(apart * i + 12), p.v(20).lane[i]);
}
