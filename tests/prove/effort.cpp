// Long dependent chains: what they cost, and that there is an end to it.
#include "pair.h"

namespace asmevo::prove {
namespace {

/// `rounds` of arithmetic in which each instruction needs the one before, 64-bit sums among it.
std::string chain(size_t rounds) {
  std::string text;
  for (size_t k = 0; k < rounds; ++k)
    text += "v_lshl_add_u64 v[6:7], v[6:7], 3, v[8:9]\nv_xor_b32 v6, v6, v3\nv_lshl_add_u64 v[8:9], v[6:7], 1, v[8:9]\n"
            "v_xor_b32 v9, v9, v6\n";
  return text + "global_store_dwordx4 v[0:1], v[6:9], off\ns_endpgm";
}
const std::string plain = "v_add_u32 v3, v3, v4\n", turned = "v_add_u32 v3, v4, v3\n", other = "v_add_u32 v3, v3, v5\n";

TEST(Effort, a_long_chain_is_proved) {
  const Proof proof = proof_of(plain + chain(1500), turned + chain(1500));
  EXPECT_EQ(proof.outcome, Outcome::proved) << proof.reason;
}

TEST(Effort, steps_grow_with_the_length_and_not_with_its_square) {
  const auto suffices = [](size_t rounds, uint64_t steps) {
    return proof_of(plain + chain(rounds), turned + chain(rounds), {.effort = {.steps = steps}}).holds();
  };
  uint64_t steps = 10'000;
  while (!suffices(400, steps)) steps *= 2;
  EXPECT_TRUE(suffices(1600, steps * 6));
}

TEST(Effort, what_needs_more_steps_or_terms_is_unknown_as_too_large) {
  for (const Effort& effort : {Effort{.steps = 20'000}, Effort{.terms = 2'000}}) {
    const Proof proof = proof_of(plain + chain(1000), turned + chain(1000), {.effort = effort});
    EXPECT_EQ(proof.outcome, Outcome::unknown);
    EXPECT_NE(proof.reason.find("too large"), std::string::npos) << proof.reason;
  }
}

TEST(Effort, a_difference_in_a_long_chain_is_no_proof) {
  for (const uint64_t steps : {uint64_t{200'000}, Effort().steps})
    EXPECT_NE(proof_of(plain + chain(200), other + chain(200), {.effort = {.steps = steps}}).outcome, Outcome::proved);
}

} // namespace
} // namespace asmevo::prove
