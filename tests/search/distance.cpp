#include "search/distance.h"

#include <gtest/gtest.h>

namespace asmevo::search {
namespace {

TEST(Distance, GrowsWithTheBlocksThatDiffer) {
  const Signature a = signature_of("a:\n  s_nop 1\nb:\n  s_nop 2\nc:\n  s_nop 3\n"),
                  one = signature_of("a:\n  s_nop 1\nb:\n  s_nop 2\nc:\n  s_nop 4\n"),
                  two = signature_of("a:\n  s_nop 1\nb:\n  s_nop 5\nc:\n  s_nop 4\n");
  EXPECT_EQ(distance(a, a), 0);
  EXPECT_GT(distance(a, one), 0);
  EXPECT_GT(distance(a, two), distance(a, one));
  EXPECT_EQ(distance(a, signature_of("x:\n  s_endpgm\n")), 1);
}

TEST(Distance, NamesOfLabelsAreNoDifference) {
  EXPECT_EQ(distance(signature_of(".L1:\ns_nop 1\ns_cbranch_scc1 .L1\ns_endpgm\n"),
                     signature_of(".L2:\ns_nop 1\ns_cbranch_scc1 .L2\ns_endpgm\n")),
            0);
}

TEST(Distance, ResourcesAreADifference) {
  EXPECT_GT(distance(signature_of("s_endpgm\n.amdhsa_next_free_vgpr 8\n"),
                     signature_of("s_endpgm\n.amdhsa_next_free_vgpr 16\n")),
            0);
}

} // namespace
} // namespace asmevo::search
