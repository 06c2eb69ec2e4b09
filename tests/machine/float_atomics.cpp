// Float atomics on numbers where arithmetic goes wrong, against MPFR: rounding is to nearest even in every mode. In LDS
// denormals and NaNs follow MODE. The memory pipeline does not know MODE: before gfx942 it flushes denormals of f32 and
// f16, from then on it keeps them (LLVM names that feature of the targets).
#include "buffers_fixture.h"
#include "float_model.h"

namespace asmevo::machine {
namespace {

using namespace model;
using isa::Processor;
using numeric::Bfloat16;

constexpr unsigned apart = 16; // bytes from lane to lane

template <class F> bool same(typename F::Bits got, typename F::Bits wanted) {
  return got == wanted || (wanted == F::nan && nan_code<F>(got));
}

enum class Meaning { add, low, high, exchange };
template <class F> typename F::Bits meant(Meaning meaning, typename F::Bits old, typename F::Bits data,
                                          typename F::Bits second, Environment e) {
  e.round = numeric::Round::nearest_even;
  switch (meaning) {
  case Meaning::add:
    return once<F>(mpfr_add, e, old, data);
  case Meaning::low:
    return extreme<F>(false, old, data, e);
  case Meaning::high:
    return extreme<F>(true, old, data, e);
  case Meaning::exchange: { // the first operand is compared, the second is written
    const Real x = number<F>(source_code<F>(old, e)), y = number<F>(source_code<F>(data, e));
    return mpfr_equal_p(x.get(), y.get()) ? second : old;
  }
  }
  return 0;
}

/// One instruction on values of format F (two of them in a dword where F has 16 bits): `place(p)` is the memory.
template <class F, class Place> void check(const std::string& text, Processor processor, Meaning meaning,
                                           const Environment& e, uint32_t mode, Place place) {
  SCOPED_TRACE(fmt::format("{} on {}, mode {:#x}", text, isa::processor_name(processor), mode));
  constexpr unsigned values = F::width == 16 ? 2 : 1, bytes = F::width == 64 ? 8 : 4;
  std::mt19937_64 random(mode + 7);
  const auto draw = [&] {
    uint64_t word = 0;
    for (unsigned v = 0; v < values; ++v) word |= uint64_t{interesting<F>(random)} << (16 * v);
    return word;
  };
  Buffers p(text, 4096, processor);
  p.begin();
  p.wave().mode = mode;
  uint64_t old[lanes], data[lanes], second[lanes];
  for (unsigned i = 0; i < lanes; ++i) {
    old[i] = draw(), data[i] = i % 4 ? draw() : old[i], second[i] = draw();
    std::memcpy(place(p) + apart * i, &old[i], bytes);
  }
  p.fill(1, [](unsigned i) { return apart * i; });
  for (unsigned k = 0; k < bytes / 4; ++k) {
    p.fill(2 + k, [&](unsigned i) { return data[i] >> (32 * k); });
    p.fill(2 + bytes / 4 + k, [&](unsigned i) { return second[i] >> (32 * k); });
  }
  p.run();
  ASSERT_EQ(p.end(), TurnEnd::finished) << p.fault();
  for (unsigned i = 0; i < lanes; ++i) {
    uint64_t got = 0;
    std::memcpy(&got, place(p) + apart * i, bytes);
    for (unsigned v = 0; v < values; ++v) {
      const auto part = [&](uint64_t word) { return typename F::Bits(word >> (16 * v)); };
      const auto wanted = meant<F>(meaning, part(old[i]), part(data[i]), part(second[i]), e);
      ASSERT_TRUE(same<F>(part(got), wanted))
          << std::hex << +part(old[i]) << " and " << +part(data[i]) << ": " << +part(got) << ", not " << +wanted;
    }
  }
  p.note();
}

template <class F> void check_lds(const std::string& text, Meaning meaning) {
  for (const uint32_t mode : every_mode<F>())
    check<F>(text, Processor::gfx942, meaning, environment_of<F>(mode), mode, [](Buffers& p) { return p.wave().lds; });
}

/// What the memory pipeline does with denormals.
enum class Denormals { flush, keep };
template <class F>
void check_memory(const std::string& name, Processor processor, Meaning meaning, Denormals denormals) {
  const std::string data = F::width == 64 ? "v[2:3]" : "v2";
  const bool flush = denormals == Denormals::flush;
  for (const uint32_t mode : {0u, 0x3ffu, 0x3f5u})
    for (const bool buffer : {false, true})
      check<F>(buffer ? fmt::format("buffer_atomic_{} {}, v1, s[12:15], 0 offen", name, data)
                      : fmt::format("global_atomic_{} v1, {}, s[6:7]", name, data),
               processor, meaning, {.flush_inputs = flush, .flush_outputs = flush}, mode,
               [](Buffers& p) { return p.out.data(); });
}

TEST(FloatAtomics, LdsFollowsTheDenormalAndIeeeModes) {
  check_lds<Binary32>("ds_add_f32 v1, v2", Meaning::add);
  check_lds<Binary32>("ds_min_f32 v1, v2", Meaning::low);
  check_lds<Binary32>("ds_max_f32 v1, v2", Meaning::high);
  check_lds<Binary32>("ds_cmpst_f32 v1, v2, v3", Meaning::exchange);
  check_lds<Binary64>("ds_add_f64 v1, v[2:3]", Meaning::add);
  check_lds<Binary64>("ds_min_f64 v1, v[2:3]", Meaning::low);
  check_lds<Binary64>("ds_max_f64 v1, v[2:3]", Meaning::high);
  check_lds<Binary64>("ds_cmpst_f64 v1, v[2:3], v[4:5]", Meaning::exchange);
  check_lds<Binary16>("ds_pk_add_f16 v1, v2", Meaning::add);
  check_lds<Bfloat16>("ds_pk_add_bf16 v1, v2", Meaning::add);
}

TEST(FloatAtomics, MemoryFlushesDenormalsBeforeGfx942AndKeepsThemFromThenOn) {
  for (const Processor old : {Processor::gfx908, Processor::gfx90a}) {
    check_memory<Binary32>("add_f32", old, Meaning::add, Denormals::flush);
    check_memory<Binary16>("pk_add_f16", old, Meaning::add, Denormals::flush);
  }
  for (const Processor recent : {Processor::gfx942, Processor::gfx950}) {
    check_memory<Binary32>("add_f32", recent, Meaning::add, Denormals::keep);
    check_memory<Binary16>("pk_add_f16", recent, Meaning::add, Denormals::keep);
  }
  check_memory<Bfloat16>("pk_add_bf16", Processor::gfx950, Meaning::add, Denormals::keep);
  for (const Processor wide : {Processor::gfx90a, Processor::gfx942}) {
    check_memory<Binary64>("add_f64", wide, Meaning::add, Denormals::keep);
    check_memory<Binary64>("min_f64", wide, Meaning::low, Denormals::keep);
    check_memory<Binary64>("max_f64", wide, Meaning::high, Denormals::keep);
  }
}

} // namespace
} // namespace asmevo::machine
