// Every atomic of DS, FLAT, GLOBAL, MUBUF and scalar memory against plain C++: what it leaves in memory and what it
// returns. Each lane has a place of its own, so that all pairs of edge values meet in one instruction.
#include "buffers_fixture.h"

#include <bit>
#include <cmath>

using namespace asmevo;
using namespace asmevo::machine;

namespace {

using u32 = uint32_t;
using u64 = uint64_t;

/// The new value from the old one, the operand, and the second operand where there is one.
using Next32 = u32 (*)(u32 old, u32 data, u32 second);
using Next64 = u64 (*)(u64 old, u64 data, u64 second);

u32 as_sum(u32 a, u32 b) { return std::bit_cast<u32>(std::bit_cast<float>(a) + std::bit_cast<float>(b)); }
u64 as_sum64(u64 a, u64 b) { return std::bit_cast<u64>(std::bit_cast<double>(a) + std::bit_cast<double>(b)); }
u32 half_sum(u32 a, u32 b) {
  auto add = [](u32 x, u32 y) {
    return u32(std::bit_cast<uint16_t>(
        _Float16(float(std::bit_cast<_Float16>(uint16_t(x))) + float(std::bit_cast<_Float16>(uint16_t(y))))));
  };
  return add(a & 0xffff, b & 0xffff) | add(a >> 16, b >> 16) << 16;
}
u32 bf16_sum(u32 a, u32 b) { // of values whose sum fits into bf16
  return as_sum(a << 16, b << 16) >> 16 | (as_sum(a & 0xffff0000, b & 0xffff0000) & 0xffff0000);
}

struct Atomic {
  const char* memory; // after "global_atomic_"; null where vector memory has none
  const char* lds;    // between "ds_" and the type
  const char* type;   // of DS: "u", "i", "b"; a whole suffix for floats
  Next32 next32;
  Next64 next64;
};

template <class T> T added(T a, T b, T) { return T(a + b); }
template <class T> T less(T a, T b, T) { return T(a - b); }
template <class T> T reversed(T a, T b, T) { return T(b - a); }
template <class T> T low_unsigned(T a, T b, T) { return std::min(a, b); }
template <class T> T high_unsigned(T a, T b, T) { return std::max(a, b); }
template <class T> T low_signed(T a, T b, T) { return T(std::min(std::make_signed_t<T>(a), std::make_signed_t<T>(b))); }
template <class T> T high_signed(T a, T b, T) {
  return T(std::max(std::make_signed_t<T>(a), std::make_signed_t<T>(b)));
}
template <class T> T both(T a, T b, T) { return a & b; }
template <class T> T either(T a, T b, T) { return a | b; }
template <class T> T differing(T a, T b, T) { return a ^ b; }
template <class T> T up(T a, T b, T) { return a >= b ? T(0) : T(a + 1); }
template <class T> T down(T a, T b, T) { return a == 0 || a > b ? b : T(a - 1); }

#define BOTH(f) f<u32>, f<u64>
constexpr Atomic integers[] = {
    {"add", "add", "u", BOTH(added)},
    {"sub", "sub", "u", BOTH(less)},
    {nullptr, "rsub", "u", BOTH(reversed)},
    {"smin", "min", "i", BOTH(low_signed)},
    {"smax", "max", "i", BOTH(high_signed)},
    {"umin", "min", "u", BOTH(low_unsigned)},
    {"umax", "max", "u", BOTH(high_unsigned)},
    {"and", "and", "b", BOTH(both)},
    {"or", "or", "b", BOTH(either)},
    {"xor", "xor", "b", BOTH(differing)},
    {"inc", "inc", "u", BOTH(up)},
    {"dec", "dec", "u", BOTH(down)},
};

template <class T> T edge(unsigned k) {
  constexpr T top = T(T{1} << (sizeof(T) * 8 - 1));
  constexpr T edges[] = {0, 1, 2, T(top - 1), top, T(top + 1), T(~T{1}), T(~T{0})};
  return edges[k % 8];
}
template <class T> T old_value(unsigned lane) { return edge<T>(lane); }
template <class T> T operand(unsigned lane) { return edge<T>(lane / 8); }
/// Equal to the old value in every third lane.
template <class T> T compared(unsigned lane) { return lane % 3 == 0 ? old_value<T>(lane) : edge<T>(lane / 3); }

constexpr unsigned apart = 16; // bytes from lane to lane

std::string registers(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

/// Addresses in v1 (offsets) and v[6:7]; the first operand in v[2:3], the second behind it.
template <class T> void set_operands(Program& p, T (*data)(unsigned), T (*second)(unsigned), u64 base) {
  constexpr unsigned n = sizeof(T) / 4;
  p.fill(1, [](unsigned i) { return apart * i; });
  p.fill(6, [&](unsigned i) { return u32(base + apart * i); });
  p.fill(7, [&](unsigned i) { return u32((base + apart * i) >> 32); });
  for (unsigned k = 0; k < n; ++k) {
    p.fill(2 + k, [&](unsigned i) { return u32(u64(data(i)) >> (32 * k)); });
    p.fill(2 + n + k, [&](unsigned i) { return u32(u64(second(i)) >> (32 * k)); });
  }
}

template <class T> T result(Program& p, unsigned first, unsigned lane) {
  u64 value = p.v(first).lane[lane];
  if (sizeof(T) == 8) value |= u64{p.v(first + 1).lane[lane]} << 32;
  return T(value);
}

template <class T> T loaded(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Runs one instruction on buffer `out` in vector memory.
template <class T, class Next> void check_memory(const std::string& name, bool compares, Next next, T (*old)(unsigned),
                                                 T (*data)(unsigned), isa::Processor processor) {
  constexpr unsigned n = sizeof(T) / 4;
  const unsigned width = compares ? 2 * n : n;
  const bool renamed = processor >= isa::Processor::gfx942;
  const std::string back = renamed ? " sc0" : " glc", operands = registers(2, width), destination = registers(10, n);
  const std::string texts[] = {fmt::format("global_atomic_{} {}, v1, {}, s[6:7]{}", name, destination, operands, back),
                               fmt::format("flat_atomic_{} {}, v[6:7], {}{}", name, destination, operands, back),
                               fmt::format("buffer_atomic_{} {}, v1, s[12:15], 0 offen{}", name, operands, back)};
  for (unsigned path = 0; path < 3; ++path) {
    SCOPED_TRACE(texts[path]);
    if (path == 1 && processor < isa::Processor::gfx942 && name.find("_f32") != std::string::npos) continue;
    if (path == 1 && processor < isa::Processor::gfx942 && name.find("_f16") != std::string::npos) continue;
    Buffers p(texts[path], 4096, processor);
    p.begin();
    set_operands<T>(p, data, &compared<T>, out_base);
    for (unsigned i = 0; i < lanes; ++i) {
      const T value = old(i);
      std::memcpy(p.out.data() + apart * i, &value, sizeof value);
    }
    p.run();
    ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
    for (unsigned i = 0; i < lanes; ++i) {
      ASSERT_EQ(loaded<T>(p.out.data() + apart * i), next(old(i), data(i), compared<T>(i))) << "lane " << i;
      ASSERT_EQ(result<T>(p, path == 2 ? 2 : 10, i), old(i)) << "lane " << i;
    }
    p.note();
  }
}

/// Runs `text` on LDS; a returned value is expected in v[10:11].
template <class T, class Next> void check_lds(const std::string& text, bool returns, Next next, T (*old)(unsigned),
                                              T (*data)(unsigned), T (*second)(unsigned), isa::Processor processor) {
  SCOPED_TRACE(text);
  Program p(text, processor);
  p.start();
  set_operands<T>(p, data, second, 0);
  for (unsigned i = 0; i < lanes; ++i) {
    const T value = old(i);
    std::memcpy(p.wave().lds + apart * i, &value, sizeof value);
  }
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i) {
    ASSERT_EQ(p.lds<T>(apart * i), next(old(i), data(i), second(i))) << "lane " << i;
    if (!returns) continue;
    ASSERT_EQ(result<T>(p, 10, i), old(i)) << "lane " << i;
  }
  p.note();
}

template <class T, class Next> void check_lds_both(const std::string& name, const std::string& suffix, Next next,
                                                   T (*old)(unsigned), T (*data)(unsigned),
                                                   isa::Processor processor = isa::Processor::gfx942) {
  const std::string operand = registers(2, sizeof(T) / 4);
  check_lds<T>(fmt::format("ds_{}_{} v1, {}", name, suffix, operand), false, next, old, data, &compared<T>, processor);
  check_lds<T>(fmt::format("ds_{}_rtn_{} {}, v1, {}", name, suffix, registers(10, sizeof(T) / 4), operand), true, next,
               old, data, &compared<T>, processor);
}

// Small integers as floats: their sums are exact in every format.
template <class T, T (*encode)(int)> T float_old(unsigned lane) { return encode(int(lane) - 20); }
template <class T, T (*encode)(int)> T float_data(unsigned lane) { return encode(17 - int(lane) / 2); }
u32 f32(int x) { return std::bit_cast<u32>(float(x)); }
u64 f64(int x) { return std::bit_cast<u64>(double(x)); }
u32 pk_f16(int x) { return std::bit_cast<uint16_t>(_Float16(x)) | u32(std::bit_cast<uint16_t>(_Float16(x / 2))) << 16; }
u32 pk_bf16(int x) { return f32(x) >> 16 | (f32(x / 2) & 0xffff0000); }
u32 low_f32(u32 a, u32 b, u32) { return std::bit_cast<float>(b) < std::bit_cast<float>(a) ? b : a; }
u32 high_f32(u32 a, u32 b, u32) { return std::bit_cast<float>(b) > std::bit_cast<float>(a) ? b : a; }
u64 low_f64(u64 a, u64 b, u64) { return std::bit_cast<double>(b) < std::bit_cast<double>(a) ? b : a; }
u64 high_f64(u64 a, u64 b, u64) { return std::bit_cast<double>(b) > std::bit_cast<double>(a) ? b : a; }
u32 sum_f32(u32 a, u32 b, u32) { return as_sum(a, b); }
u64 sum_f64(u64 a, u64 b, u64) { return as_sum64(a, b); }
u32 sum_f16(u32 a, u32 b, u32) { return half_sum(a, b); }
u32 sum_bf16(u32 a, u32 b, u32) { return bf16_sum(a, b); }

} // namespace

TEST(EveryAtomic, IntegersInVectorMemory) {
  for (const Atomic& a : integers) {
    if (!a.memory) continue;
    check_memory<u32>(a.memory, false, a.next32, &old_value<u32>, &operand<u32>, isa::Processor::gfx942);
    check_memory<u64>(a.memory + std::string("_x2"), false, a.next64, &old_value<u64>, &operand<u64>,
                      isa::Processor::gfx90a);
  }
}

TEST(EveryAtomic, SwapsInVectorMemory) {
  auto swap = []<class T>(T, T data, T) { return data; };
  auto compare = []<class T>(T old, T data, T expected) { return old == expected ? data : old; };
  check_memory<u32>("swap", false, swap, &old_value<u32>, &operand<u32>, isa::Processor::gfx942);
  check_memory<u64>("swap_x2", false, swap, &old_value<u64>, &operand<u64>, isa::Processor::gfx942);
  check_memory<u32>("cmpswap", true, compare, &old_value<u32>, &operand<u32>, isa::Processor::gfx942);
  check_memory<u64>("cmpswap_x2", true, compare, &old_value<u64>, &operand<u64>, isa::Processor::gfx942);
}

TEST(EveryAtomic, FloatsInVectorMemory) {
  constexpr auto on = isa::Processor::gfx950;
  check_memory<u32>("add_f32", false, &sum_f32, &float_old<u32, f32>, &float_data<u32, f32>, on);
  check_memory<u32>("pk_add_f16", false, &sum_f16, &float_old<u32, pk_f16>, &float_data<u32, pk_f16>, on);
  check_memory<u32>("pk_add_bf16", false, &sum_bf16, &float_old<u32, pk_bf16>, &float_data<u32, pk_bf16>, on);
  check_memory<u64>("add_f64", false, &sum_f64, &float_old<u64, f64>, &float_data<u64, f64>, on);
  check_memory<u64>("min_f64", false, &low_f64, &float_old<u64, f64>, &float_data<u64, f64>, on);
  check_memory<u64>("max_f64", false, &high_f64, &float_old<u64, f64>, &float_data<u64, f64>, on);
}

TEST(EveryAtomic, FloatsInVectorMemoryOfOlderTargets) {
  // gfx908 returns nothing; gfx90a may.
  for (const bool half : {false, true}) {
    const std::string name = half ? "pk_add_f16" : "add_f32";
    const auto old = half ? &float_old<u32, pk_f16> : &float_old<u32, f32>;
    const auto data = half ? &float_data<u32, pk_f16> : &float_data<u32, f32>;
    const auto sum = half ? &sum_f16 : &sum_f32;
    check_memory<u32>(name, false, sum, old, data, isa::Processor::gfx90a);
    for (const std::string& text : {fmt::format("global_atomic_{} v1, v2, s[6:7]", name),
                                    fmt::format("buffer_atomic_{} v2, v1, s[12:15], 0 offen", name)}) {
      SCOPED_TRACE(text);
      Buffers p(text, 4096, isa::Processor::gfx908);
      p.begin();
      set_operands<u32>(p, data, &compared<u32>, out_base);
      for (unsigned i = 0; i < lanes; ++i) {
        const u32 value = old(i);
        std::memcpy(p.out.data() + apart * i, &value, sizeof value);
      }
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned i = 0; i < lanes; ++i)
        ASSERT_EQ(loaded<u32>(p.out.data() + apart * i), sum(old(i), data(i), 0)) << "lane " << i;
      p.note();
    }
  }
}

TEST(EveryAtomic, IntegersInLds) {
  for (const Atomic& a : integers) {
    check_lds_both<u32>(a.lds, a.type + std::string("32"), a.next32, &old_value<u32>, &operand<u32>);
    check_lds_both<u64>(a.lds, a.type + std::string("64"), a.next64, &old_value<u64>, &operand<u64>);
  }
}

TEST(EveryAtomic, SwapsInLds) {
  constexpr auto on = isa::Processor::gfx942;
  auto swap = []<class T>(T, T data, T) { return data; };
  // The comparison comes first in DS.
  auto compare = []<class T>(T old, T expected, T data) { return old == expected ? data : old; };
  auto masked = []<class T>(T old, T mask, T bits) { return T((old & ~mask) | bits); };
  auto wrapped = [](u32 old, u32 data, u32 second) { return old >= data ? old - data : old + second; };
  check_lds<u32>("ds_wrxchg_rtn_b32 v10, v1, v2", true, swap, &old_value<u32>, &operand<u32>, &compared<u32>, on);
  check_lds<u64>("ds_wrxchg_rtn_b64 v[10:11], v1, v[2:3]", true, swap, &old_value<u64>, &operand<u64>, &compared<u64>,
                 on);
  check_lds<u32>("ds_wrap_rtn_b32 v10, v1, v2, v3", true, wrapped, &old_value<u32>, &operand<u32>, &compared<u32>, on);
  for (const char* name : {"cmpst", "mskor"}) {
    const bool compares = name[0] == 'c';
    auto next = [&]<class T>(T old, T data, T second) {
      return compares ? compare(old, data, second) : masked(old, data, second);
    };
    auto run = [&]<class T>(T, const std::string& suffix, const std::string& two, const std::string& back) {
      check_lds<T>(fmt::format("ds_{}_{} v1, {}", name, suffix, two), false, next, &old_value<T>, &compared<T>,
                   &operand<T>, on);
      check_lds<T>(fmt::format("ds_{}_rtn_{} {}, v1, {}", name, suffix, back, two), true, next, &old_value<T>,
                   &compared<T>, &operand<T>, on);
    };
    run(u32{}, "b32", "v2, v3", "v10");
    run(u64{}, "b64", "v[2:3], v[4:5]", "v[10:11]");
  }
  // Floats compare as floats: small integers, equal in some lanes.
  auto compare32 = [](u32 old, u32 expected, u32 data) {
    return std::bit_cast<float>(old) == std::bit_cast<float>(expected) ? data : old;
  };
  auto compare64 = [](u64 old, u64 expected, u64 data) {
    return std::bit_cast<double>(old) == std::bit_cast<double>(expected) ? data : old;
  };
  for (bool returns : {false, true}) {
    check_lds<u32>(returns ? "ds_cmpst_rtn_f32 v10, v1, v2, v3" : "ds_cmpst_f32 v1, v2, v3", returns, compare32,
                   &float_old<u32, f32>, &float_data<u32, f32>, &operand<u32>, on);
    check_lds<u64>(returns ? "ds_cmpst_rtn_f64 v[10:11], v1, v[2:3], v[4:5]" : "ds_cmpst_f64 v1, v[2:3], v[4:5]",
                   returns, compare64, &float_old<u64, f64>, &float_data<u64, f64>, &operand<u64>, on);
  }
}

TEST(EveryAtomic, ConditionalExchangeTakesDwordsWithTheirTopBitSet) {
  auto next = [](u64 old, u64 data, u64) {
    const u64 low = data >> 31 & 1 ? data & 0x7fffffff : old & 0xffffffff;
    const u64 high = data >> 63 ? data & 0x7fffffff00000000 : old & 0xffffffff00000000;
    return high | low;
  };
  check_lds<u64>("ds_condxchg32_rtn_b64 v[10:11], v1, v[2:3]", true, next, &old_value<u64>, &operand<u64>,
                 &compared<u64>, isa::Processor::gfx942);
}

TEST(EveryAtomic, FloatsInLds) {
  check_lds_both<u32>("add", "f32", &sum_f32, &float_old<u32, f32>, &float_data<u32, f32>);
  check_lds_both<u32>("min", "f32", &low_f32, &float_old<u32, f32>, &float_data<u32, f32>);
  check_lds_both<u32>("max", "f32", &high_f32, &float_old<u32, f32>, &float_data<u32, f32>);
  check_lds_both<u64>("add", "f64", &sum_f64, &float_old<u64, f64>, &float_data<u64, f64>);
  check_lds_both<u64>("min", "f64", &low_f64, &float_old<u64, f64>, &float_data<u64, f64>);
  check_lds_both<u64>("max", "f64", &high_f64, &float_old<u64, f64>, &float_data<u64, f64>);
  for (const bool returns : {false, true}) {
    const std::string f16 = returns ? "ds_pk_add_rtn_f16 v10, v1, v2" : "ds_pk_add_f16 v1, v2";
    const std::string bf16 = returns ? "ds_pk_add_rtn_bf16 v10, v1, v2" : "ds_pk_add_bf16 v1, v2";
    check_lds<u32>(f16, returns, &sum_f16, &float_old<u32, pk_f16>, &float_data<u32, pk_f16>, &compared<u32>,
                   isa::Processor::gfx942);
    check_lds<u32>(bf16, returns, &sum_bf16, &float_old<u32, pk_bf16>, &float_data<u32, pk_bf16>, &compared<u32>,
                   isa::Processor::gfx942);
  }
}

TEST(EveryAtomic, SecondOperandFromLdsOnOlderTargets) {
  constexpr auto on = isa::Processor::gfx908;
  // The operand lies 1024 bytes (256 dwords) behind the place, or as many before it.
  auto check = [&]<class T, class Next>(const std::string& name, Next next, T (*old)(unsigned), T (*data)(unsigned)) {
    for (const int distance : {256, -256}) {
      const u32 offset = u32(distance) & 0x7fff;
      SCOPED_TRACE(fmt::format("ds_{} by {}", name, distance));
      Program p(fmt::format("ds_{} v1 offset:{}", name, offset), on);
      p.start();
      const u32 place = distance > 0 ? 0 : 2048;
      p.fill(1, [&](unsigned i) { return place + apart * i; });
      for (unsigned i = 0; i < lanes; ++i) {
        const T before = old(i), operand = data(i);
        std::memcpy(p.wave().lds + place + apart * i, &before, sizeof(T));
        std::memcpy(p.wave().lds + place + 4 * distance + apart * i, &operand, sizeof(T));
      }
      p.run();
      ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
      for (unsigned i = 0; i < lanes; ++i)
        ASSERT_EQ(p.lds<T>(place + apart * i), next(old(i), data(i), T(0))) << "lane " << i;
      p.note();
    }
  };
  for (const Atomic& a : integers) {
    check(fmt::format("{}_src2_{}32", a.lds, a.type), a.next32, &old_value<u32>, &operand<u32>);
    check(fmt::format("{}_src2_{}64", a.lds, a.type), a.next64, &old_value<u64>, &operand<u64>);
  }
  auto swap = []<class T>(T, T data, T) { return data; };
  check("write_src2_b32", swap, &old_value<u32>, &operand<u32>);
  check("write_src2_b64", swap, &old_value<u64>, &operand<u64>);
  check("add_src2_f32", &sum_f32, &float_old<u32, f32>, &float_data<u32, f32>);
  check("min_src2_f32", &low_f32, &float_old<u32, f32>, &float_data<u32, f32>);
  check("max_src2_f32", &high_f32, &float_old<u32, f32>, &float_data<u32, f32>);
  check("min_src2_f64", &low_f64, &float_old<u64, f64>, &float_data<u64, f64>);
  check("max_src2_f64", &high_f64, &float_old<u64, f64>, &float_data<u64, f64>);
}

TEST(EveryAtomic, ScalarMemory) {
  constexpr auto on = isa::Processor::gfx908;
  auto check = [&]<class T, class Next>(T, const std::string& name, bool compares, Next next) {
    for (const bool buffer : {false, true}) {
      const unsigned count = (compares ? 2 : 1) * sizeof(T) / 4;
      const std::string data = count == 1 ? "s20" : fmt::format("s[20:{}]", 19 + count);
      const std::string text = fmt::format("s_{}atomic_{} {}, {}, 0x10 glc", buffer ? "buffer_" : "", name, data,
                                           buffer ? "s[12:15]" : "s[6:7]");
      SCOPED_TRACE(text);
      for (unsigned k = 0; k < 64; k += 5) {
        Buffers p(text, 4096, on);
        p.begin();
        const T old = old_value<T>(k), data_value = operand<T>(k), second = compared<T>(k);
        std::memcpy(p.out.data() + 16, &old, sizeof old);
        std::memcpy(&p.s(20), &data_value, sizeof data_value);
        std::memcpy(&p.s(20) + sizeof(T) / 4, &second, sizeof second);
        p.run();
        ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
        ASSERT_EQ(loaded<T>(p.out.data() + 16), next(old, data_value, second));
        ASSERT_EQ(sizeof(T) == 8 ? T(p.s64(20)) : T(p.s(20)), old);
        p.note();
      }
    }
  };
  for (const Atomic& a : integers) {
    if (!a.memory) continue;
    check(u32{}, a.memory, false, a.next32);
    check(u64{}, a.memory + std::string("_x2"), false, a.next64);
  }
  auto swap = []<class T>(T, T data, T) { return data; };
  auto compare = []<class T>(T old, T data, T expected) { return old == expected ? data : old; };
  check(u32{}, "swap", false, swap);
  check(u64{}, "swap_x2", false, swap);
  check(u32{}, "cmpswap", true, compare);
  check(u64{}, "cmpswap_x2", true, compare);
}
