#include "gate/edits.h"

#include <gtest/gtest.h>

namespace asmevo::gate {
namespace {

const recover::Function kernel{.name = "softmax", .first = 10, .last = 20, .kernel = 0};

std::string fault(std::vector<recover::Edit> edits) { return fault_of_edits(kernel, edits).value_or(""); }

TEST(Edits, InstructionsLabelsAndDataAreAllowed) {
  EXPECT_EQ(fault({{10, 12, ".Lnew: s_nop 0 ; comment\nv_mul_f32 v0, 0.5, v1\ns_branch .Lnew\n.long 0xbf800000"}}), "");
  EXPECT_EQ(fault({{12, 12, "s_nop 0"}, {12, 14, ""}, {20, 20, "s_nop 1"}}), "");
}

TEST(Edits, ADirectiveThatReadsAFileIsRefusedWhereverItStands) {
  for (const char* text : {".incbin \"/etc/passwd\"", "s_nop 0\n .include \"x\"", ".La: .incbin \"x\"",
                           "/* */ .section .data", ".macro m", ".rept 1000000"})
    EXPECT_NE(fault({{10, 11, text}}).find("is not allowed"), std::string::npos) << text;
}

TEST(Edits, MessageHasTheLine) {
  EXPECT_EQ(fault({{10, 11, "s_nop 0\n.set x, 1"}}), "edit 0: line 2: directive .set is not allowed in an edit");
}

TEST(Edits, OutsideTheKernelIsRefused) {
  EXPECT_NE(fault({{9, 11, ""}}).find("not inside kernel \"softmax\""), std::string::npos);
  EXPECT_NE(fault({{19, 21, ""}}), "");
  EXPECT_NE(fault({{15, 14, ""}}), "");
}

TEST(Edits, OverlappingOrUnsortedEditsAreRefused) {
  EXPECT_NE(fault({{12, 15, ""}, {14, 16, ""}}).find("edit 1: begins at item 14"), std::string::npos);
}

TEST(Edits, BinaryAndGiantTextIsRefused) {
  EXPECT_NE(fault({{10, 11, std::string("s_nop 0\0", 8)}}).find("control character 0x00"), std::string::npos);
  EXPECT_NE(fault({{10, 11, std::string(edit_text_limit + 1, ' ')}}).find("bytes of text"), std::string::npos);
}

} // namespace
} // namespace asmevo::gate
