// Compares of floats by MPFR, of integers by the host, in the format that each name gives; classes by definition.
#include "float_model.h"

namespace asmevo::machine {
namespace {

using namespace model;

constexpr isa::Processor on = isa::Processor::gfx942;

/// A comparison's name and which of less, equal, greater and unordered it holds for.
struct Relation {
  std::string_view name;
  bool less, equal, greater, unordered;
};
constexpr Relation relations[] = {
    {"f", 0, 0, 0, 0},   {"lt", 1, 0, 0, 0},  {"eq", 0, 1, 0, 0},  {"le", 1, 1, 0, 0},
    {"gt", 0, 0, 1, 0},  {"lg", 1, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"o", 1, 1, 1, 0},
    {"u", 0, 0, 0, 1},   {"nge", 1, 0, 0, 1}, {"nlg", 0, 1, 0, 1}, {"ngt", 1, 1, 0, 1},
    {"nle", 0, 0, 1, 1}, {"neq", 1, 0, 1, 1}, {"nlt", 0, 1, 1, 1}, {"tru", 1, 1, 1, 1},
};

template <class F> bool holds(const Relation& r, typename F::Bits a, typename F::Bits b, const Environment& e) {
  const Real x = number<F>(source_code<F>(a, e)), y = number<F>(source_code<F>(b, e));
  if (mpfr_unordered_p(x.get(), y.get())) return r.unordered;
  const int order = mpfr_cmp(x.get(), y.get());
  return order < 0 ? r.less : order > 0 ? r.greater : r.equal;
}

template <class F> void check_floats(std::string_view type) {
  std::mt19937_64 random(3);
  for (const Relation& r : relations)
    for (const bool exec_too : {false, true}) {
      const std::string mnemonic = fmt::format("v_cmp{}_{}_{}", exec_too ? "x" : "", r.name, type);
      for (const uint32_t mode : every_mode<F>()) {
        Lanes lanes;
        lanes.wave.mode = mode;
        for (unsigned i = 0; i < machine::lanes; ++i) {
          lanes.set(0, i, interesting<F>(random));
          lanes.set(1, i, random() % 3 ? interesting<F>(random) : bits_in<F>(lanes, 0, i));
        }
        const uint64_t exec = 0x0f0f'ffff'0000'ff0f;
        lanes.wave.set_exec(exec);
        lanes.wave.write64(Lanes::mask_result, ~uint64_t{0});
        lanes.run(mnemonic);
        for (unsigned i = 0; i < machine::lanes; ++i) {
          const auto a = bits_in<F>(lanes, 0, i), b = bits_in<F>(lanes, 1, i);
          const bool expected = (exec >> i & 1) && holds<F>(r, a, b, environment_of<F>(mode));
          ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{expected}) << mnemonic << std::hex << " " << +a << " " << +b;
        }
        ASSERT_EQ(lanes.wave.exec(), exec_too ? lanes.mask() : exec);
      }
      note_tested(mnemonic, on);
    }
}
TEST(ValuCompare, FloatComparesAreUnorderedWithNanAndReadDenormalsAsTheModeSays) {
  check_floats<Binary16>("f16");
  check_floats<Binary32>("f32");
  check_floats<Binary64>("f64");
}

template <class T> void check_integers(std::string_view type) {
  std::mt19937 random(4);
  constexpr std::pair<std::string_view, bool (*)(T, T)> compares[] = {
      {"f", [](T, T) { return false; }},       {"lt", [](T a, T b) { return a < b; }},
      {"eq", [](T a, T b) { return a == b; }}, {"le", [](T a, T b) { return a <= b; }},
      {"gt", [](T a, T b) { return a > b; }},  {"ne", [](T a, T b) { return a != b; }},
      {"ge", [](T a, T b) { return a >= b; }}, {"t", [](T, T) { return true; }}};
  for (const auto& [name, holds] : compares)
    for (const bool exec_too : {false, true}) {
      const std::string mnemonic = fmt::format("v_cmp{}_{}_{}", exec_too ? "x" : "", name, type);
      for (int n = 0; n < 10; ++n) {
        Lanes lanes;
        for (unsigned i = 0; i < machine::lanes; ++i) {
          lanes.set(0, i, uint64_t{interesting_word(random)} << 32 | interesting_word(random));
          lanes.set(1, i,
                    random() % 3 ? uint64_t{interesting_word(random)} << 32 | interesting_word(random)
                                 : uint64_t{lanes.source(0, 1).lane[i]} << 32 | lanes.source(0).lane[i]);
        }
        const uint64_t exec = 0xffff'0f0f'1234'5678;
        lanes.wave.set_exec(exec);
        lanes.run(mnemonic);
        for (unsigned i = 0; i < machine::lanes; ++i) {
          const auto value = [&](unsigned k) {
            return T(uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k).lane[i]);
          };
          ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{(exec >> i & 1) && holds(value(0), value(1))}) << mnemonic;
        }
        ASSERT_EQ(lanes.wave.exec(), exec_too ? lanes.mask() : exec);
      }
      note_tested(mnemonic, on);
    }
}
TEST(ValuCompare, IntegerComparesUseTheWidthAndSignOfTheirType) {
  check_integers<int16_t>("i16");
  check_integers<uint16_t>("u16");
  check_integers<int32_t>("i32");
  check_integers<uint32_t>("u32");
  check_integers<int64_t>("i64");
  check_integers<uint64_t>("u64");
}

/// Bit of the class of a code: signalling NaN, quiet NaN, then from -infinity up to +infinity.
template <class F> unsigned class_number(typename F::Bits x) {
  if (nan_code<F>(x)) return signalling_code<F>(x) ? 0 : 1;
  const Real r = number<F>(x);
  const bool negative = (x & F::sign) != 0;
  const unsigned magnitude = mpfr_inf_p(r.get()) ? 3 : mpfr_zero_p(r.get()) ? 0 : denormal_code<F>(x) ? 1 : 2;
  return negative ? 5 - magnitude : 6 + magnitude;
}
template <class F> void check_class(std::string_view type) {
  std::mt19937_64 random(5);
  for (const bool exec_too : {false, true}) {
    const std::string mnemonic = fmt::format("v_cmp{}_class_{}", exec_too ? "x" : "", type);
    for (int n = 0; n < 50; ++n) {
      Lanes lanes;
      lanes.wave.mode = n % 2 ? 0xf0 : 0; // denormals are a class in every mode
      for (unsigned i = 0; i < machine::lanes; ++i)
        lanes.set(0, i, interesting<F>(random)), lanes.set(1, i, n % 3 ? random() : 1u << random() % 10);
      const uint64_t exec = n % 4 ? all_lanes : 0xffff'0f0f'1234'5678;
      lanes.wave.set_exec(exec);
      lanes.run(mnemonic);
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto x = bits_in<F>(lanes, 0, i);
        ASSERT_EQ(lanes.mask() >> i & 1,
                  uint64_t{(exec >> i & 1) && (lanes.source(1).lane[i] >> class_number<F>(x) & 1)})
            << mnemonic << std::hex << " " << +x;
      }
      ASSERT_EQ(lanes.wave.exec(), exec_too ? lanes.mask() : exec);
    }
    note_tested(mnemonic, on);
  }
}
TEST(ValuCompare, ClassesAreTestedAgainstASet) {
  check_class<Binary16>("f16");
  check_class<Binary32>("f32");
  check_class<Binary64>("f64");
}

} // namespace
} // namespace asmevo::machine
