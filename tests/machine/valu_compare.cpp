// Compares against the host's own, in the format each name gives.
#include "numeric_model.h"
#include "valu_fixture.h"

#include "machine/numeric/convert.h"

namespace asmevo::machine {
namespace {

using namespace numeric;

/// What a float comparison says, by its name, given the order of its operands.
bool holds(std::string_view name, Order order) {
  const bool lt = order == Order::less, eq = order == Order::equal, gt = order == Order::greater,
             un = order == Order::unordered;
  if (name == "f") return false;
  if (name == "lt") return lt;
  if (name == "eq") return eq;
  if (name == "le") return lt || eq;
  if (name == "gt") return gt;
  if (name == "lg") return lt || gt;
  if (name == "ge") return gt || eq;
  if (name == "o") return !un;
  if (name == "u") return un;
  if (name == "nge") return !(gt || eq);
  if (name == "nlg") return !(lt || gt);
  if (name == "ngt") return !gt;
  if (name == "nle") return !(lt || eq);
  if (name == "neq") return !eq;
  if (name == "nlt") return !lt;
  return true; // tru
}

template <class F> void check_floats(std::string_view type) {
  std::mt19937_64 random(3);
  for (std::string_view name :
       {"f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"})
    for (bool exec_too : {false, true})
      for (uint32_t mode : {0xf0u, 0x00u}) {
        Lanes lanes;
        lanes.wave.mode = mode;
        for (unsigned i = 0; i < machine::lanes; ++i) {
          lanes.set(0, i, model::interesting<F>(random));
          lanes.set(1, i, random() % 3 ? model::interesting<F>(random) : typename F::Bits(lanes.source(0).lane[i]));
        }
        const uint64_t exec = 0x0f0f'ffff'0000'ff0f;
        lanes.wave.set_exec(exec);
        lanes.wave.write64(Lanes::mask_result, ~uint64_t{0});
        lanes.run((exec_too ? "v_cmpx_" : "v_cmp_") + std::string(name) + "_" + std::string(type));
        for (unsigned i = 0; i < machine::lanes; ++i) {
          const auto bits = [&](unsigned k) {
            return typename F::Bits(uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k).lane[i]);
          };
          const Order order = compare<F>(bits(0), bits(1), {.flush_inputs = mode == 0});
          const bool expected = (exec >> i & 1) && holds(name, order);
          ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{expected})
              << name << type << std::hex << " " << +bits(0) << " " << +bits(1);
        }
        EXPECT_EQ(lanes.wave.exec(), exec_too ? lanes.mask() : exec);
      }
}
TEST(ValuCompare, float_compares_are_unordered_with_nan_and_read_subnormals_as_the_mode_says) {
  check_floats<Binary16>("f16");
  check_floats<Binary32>("f32");
  check_floats<Binary64>("f64");
}

template <class T> void check_integers(std::string_view type) {
  std::mt19937 random(4);
  const auto holds_for = [](std::string_view name, T a, T b) {
    return name == "lt"   ? a < b
           : name == "eq" ? a == b
           : name == "le" ? a <= b
           : name == "gt" ? a > b
           : name == "ne" ? a != b
           : name == "ge" ? a >= b
                          : name == "t";
  };
  for (std::string_view name : {"f", "lt", "eq", "le", "gt", "ne", "ge", "t"})
    for (bool exec_too : {false, true}) {
      Lanes lanes;
      for (unsigned i = 0; i < machine::lanes; ++i) {
        lanes.set(0, i, uint64_t{interesting_word(random)} << 32 | interesting_word(random));
        lanes.set(1, i,
                  random() % 3 ? uint64_t{interesting_word(random)} << 32 | interesting_word(random)
                               : uint64_t{lanes.source(0, 1).lane[i]} << 32 | lanes.source(0).lane[i]);
      }
      const uint64_t exec = 0xffff'0f0f'1234'5678;
      lanes.wave.set_exec(exec);
      lanes.run((exec_too ? "v_cmpx_" : "v_cmp_") + std::string(name) + "_" + std::string(type));
      for (unsigned i = 0; i < machine::lanes; ++i) {
        const auto value = [&](unsigned k) {
          return T(uint64_t{lanes.source(k, 1).lane[i]} << 32 | lanes.source(k).lane[i]);
        };
        ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{(exec >> i & 1) && holds_for(name, value(0), value(1))})
            << name << type;
      }
      EXPECT_EQ(lanes.wave.exec(), exec_too ? lanes.mask() : exec);
    }
}
TEST(ValuCompare, integer_compares_use_the_width_and_sign_of_their_type) {
  check_integers<int16_t>("i16");
  check_integers<uint16_t>("u16");
  check_integers<int32_t>("i32");
  check_integers<uint32_t>("u32");
  check_integers<int64_t>("i64");
  check_integers<uint64_t>("u64");
}

template <class F> void check_class(std::string_view type) {
  std::mt19937_64 random(5);
  for (int n = 0; n < 50; ++n) {
    Lanes lanes;
    for (unsigned i = 0; i < machine::lanes; ++i)
      lanes.set(0, i, model::interesting<F>(random)), lanes.set(1, i, random() & 0x3ff);
    lanes.run("v_cmp_class_" + std::string(type));
    for (unsigned i = 0; i < machine::lanes; ++i) {
      const auto x = typename F::Bits(uint64_t{lanes.source(0, 1).lane[i]} << 32 | lanes.source(0).lane[i]);
      ASSERT_EQ(lanes.mask() >> i & 1, uint64_t{(class_bit<F>(x) & lanes.source(1).lane[i]) != 0}) << std::hex << +x;
    }
  }
}
TEST(ValuCompare, classes_are_tested_against_a_set) {
  check_class<Binary16>("f16");
  check_class<Binary32>("f32");
  check_class<Binary64>("f64");
}

} // namespace
} // namespace asmevo::machine
