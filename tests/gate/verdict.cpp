#include "gate/verdict.h"

#include <gtest/gtest.h>

namespace asmevo::gate {
namespace {

TEST(Verdict, OutcomeNamesGoBothWays) {
  for (size_t i = 0; i < outcome_count; ++i) EXPECT_EQ(outcome_from_name(outcome_name(Outcome(i))), Outcome(i));
  EXPECT_FALSE(outcome_from_name("fine"));
}

TEST(Verdict, EquivalenceNamesGoBothWays) {
  for (auto e : {Equivalence::tested, Equivalence::tested_strict_clean, Equivalence::proved})
    EXPECT_EQ(equivalence_from_name(equivalence_name(e)), e);
}

TEST(Verdict, ShortEvidenceIsKept) { EXPECT_EQ(bounded_evidence("line 3: no"), "line 3: no"); }

TEST(Verdict, LongEvidenceIsCutAtALineAndSaysHowMuchIsMissing) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "mismatch\n";
  std::string cut = bounded_evidence(text);
  EXPECT_LE(cut.size(), evidence_limit);
  EXPECT_NE(cut.find("mismatch\n... ("), std::string::npos);
  EXPECT_NE(cut.find("more bytes)"), std::string::npos);
}

TEST(Verdict, EvidenceIsNeverCutInsideACharacter) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "\u00d7";
  std::string cut = bounded_evidence(text);
  size_t note = cut.find("\n...");
  ASSERT_NE(note, std::string::npos);
  EXPECT_EQ(note % 2, 0u); // two bytes a character
}

} // namespace
} // namespace asmevo::gate
