#include "gate/duplicates.h"

#include <gtest/gtest.h>

namespace asmevo::gate {
namespace {

recover::Item instruction(std::string text, std::string target = "") {
  return {.kind = recover::ItemKind::instruction, .text = std::move(text), .target = std::move(target)};
}
recover::Item label(std::string name) { return {.kind = recover::ItemKind::label, .text = std::move(name)}; }

recover::Program loop() {
  recover::Program program;
  program.items = {label("kernel"),
                   instruction("s_mov_b32 s0, 4"),
                   label(".Lloop"),
                   instruction("s_sub_u32 s0, s0, 1"),
                   instruction("s_cbranch_scc0 .Lloop", ".Lloop"),
                   instruction("s_endpgm")};
  return program;
}

TEST(Duplicates, CommentsSpacingAndLabelNamesDoNotCount) {
  EXPECT_EQ(normalised_text("a:\n  s_mov_b32   s0 , 4 ; four\n\n  s_branch a // again\n"),
            normalised_text("other:\ns_mov_b32 s0, 4\ns_branch other"));
}

TEST(Duplicates, WhereALabelStandsCounts) {
  EXPECT_NE(normalised_text("a:\ns_nop 0\nb:\ns_branch a"), normalised_text("a:\ns_nop 0\nb:\ns_branch b"));
}

TEST(Duplicates, AnEditThatChangesNothingIsTheSameText) {
  recover::Program program = loop();
  std::vector<recover::Edit> edits = {{3, 4, "  s_sub_u32 s0,s0,1 ; same"}};
  EXPECT_EQ(normalised_text(program, {}), normalised_text(program, edits));
}

TEST(Duplicates, EditsReplaceInsertAndDelete) {
  recover::Program program = loop();
  std::vector<recover::Edit> edits = {{1, 1, "s_nop 0"}, {3, 4, "s_sub_u32 s0, s0, 2"}, {5, 6, ""}};
  EXPECT_EQ(normalised_text(program, edits),
            "L0:\ns_nop 0\ns_mov_b32 s0,4\nL1:\ns_sub_u32 s0,s0,2\ns_cbranch_scc0 L1\n");
}

TEST(Duplicates, AnEditBeyondTheProgramDoesNotReadOutside) {
  recover::Program program = loop();
  std::vector<recover::Edit> edits = {{100, 200, "s_nop 1"}};
  EXPECT_NE(normalised_text(program, edits).find("s_nop 1"), std::string::npos);
}

} // namespace
} // namespace asmevo::gate
