#include "search/proposal_json.h"

#include "support/json.h"

#include <gtest/gtest.h>

namespace asmevo::search {
namespace {

TEST(ProposalJson, AProposalComesBackAsItWas) {
  Proposal proposal{{{1, 2, "s_nop 0\n"}, {5, 5, "\"quoted\"\t"}}, "rule", "why"};
  auto again = proposal_from_json(nlohmann::json::parse(write_json(to_json(proposal))), "p.jsonl:1");
  ASSERT_TRUE(again);
  ASSERT_EQ(again->edits.size(), 2u);
  EXPECT_EQ(again->edits[1].first, 5u);
  EXPECT_EQ(again->edits[1].text, "\"quoted\"\t");
  EXPECT_EQ(again->rule, "rule");
  EXPECT_EQ(again->rationale, "why");
}

TEST(ProposalJson, WrongShapesAreErrorsThatSayWhere) {
  for (const char* text :
       {"[]", "{}", R"({"edits": 3})", R"({"edits": [{"first": -1, "last": 2, "text": ""}]})",
        R"({"edits": [{"first": 1, "last": 2}]})", R"({"edits": [{"first": 1, "last": 2, "text": 3}]})"}) {
    auto proposal = proposal_from_json(nlohmann::json::parse(text), "p.jsonl:7");
    ASSERT_FALSE(proposal) << text;
    EXPECT_TRUE(proposal.error().message.starts_with("p.jsonl:7: ")) << proposal.error().message;
  }
}

TEST(ProposalJson, BytesThatAreNoTextCanBeStored) {
  Proposal proposal{{{1, 2, "\xff\xfe"}}, "r", ""};
  EXPECT_TRUE(nlohmann::json::accept(write_json(to_json(proposal))));
}

TEST(ProposalJson, KeepsTheParentAndWhoWroteIt) {
  Proposal proposal{{{1, 2, "s_nop 0"}}, "r", "why"};
  proposal.parent = 3;
  proposal.origin = {"model", "hash", 100, 20};
  const auto again = proposal_from_json(to_json(proposal), "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->parent, 3);
  EXPECT_EQ(again->origin, proposal.origin);
  EXPECT_FALSE(to_json(Proposal{}).contains("origin"));
  EXPECT_FALSE(proposal_from_json({{"edits", nlohmann::json::array()}, {"parent", -1}}, "x"));
  EXPECT_FALSE(proposal_from_json({{"edits", nlohmann::json::array()}, {"parent", "3"}}, "x"));
}

TEST(ProposalJson, KeepsTheDirectionAndTheWindow) {
  Proposal proposal{{{1, 2, "s_nop 0"}}, "r", "why"};
  proposal.direction = Direction::register_pressure;
  proposal.window = Range{1, 7};
  const auto again = proposal_from_json(to_json(proposal), "x");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->direction, Direction::register_pressure);
  EXPECT_EQ(again->window, (Range{1, 7}));
  EXPECT_FALSE(proposal_from_json({{"edits", nlohmann::json::array()}, {"direction", "up"}}, "x"));
  EXPECT_FALSE(proposal_from_json({{"edits", nlohmann::json::array()}, {"window", {1}}}, "x"));
}

} // namespace
} // namespace asmevo::search
