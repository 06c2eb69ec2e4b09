#include "agent/reply.h"

#include "agent/json_schema.h"

#include <gtest/gtest.h>

namespace asmevo::agent {
namespace {

constexpr Range shown{10, 20};

search::Proposal proposal(std::string_view text) {
  Reply reply = read_reply(text, shown);
  const auto* refused = std::get_if<Refused>(&reply);
  EXPECT_FALSE(refused) << refused->why;
  auto* found = std::get_if<search::Proposal>(&reply);
  EXPECT_TRUE(found) << text;
  return found ? *found : search::Proposal{};
}
std::string why(std::string_view text) {
  Reply reply = read_reply(text, shown);
  const auto* refused = std::get_if<Refused>(&reply);
  EXPECT_TRUE(refused) << text;
  return refused ? refused->why : "";
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Reply, AnObjectAloneIsAProposal) {
  const search::Proposal p = proposal(
      R"({"edits": [{"first": 12, "last": 14, "text": "s_nop 0\ns_nop 1"}], "auto_waits": true,
          "direction": "latency-hiding", "rationale": "why", "model": "m", "input_tokens": 5, "cost": 0.5})");
  ASSERT_EQ(p.edits.size(), 1u);
  EXPECT_EQ(p.edits[0].first, 12u);
  EXPECT_EQ(p.edits[0].last, 14u);
  EXPECT_EQ(p.edits[0].text, "s_nop 0\ns_nop 1");
  EXPECT_TRUE(p.auto_waits);
  EXPECT_EQ(p.rule, "latency-hiding");
  EXPECT_EQ(p.rationale, "why");
  EXPECT_EQ(p.origin, (search::Origin{"m", "", 5, 0, 0.5}));
}

TEST(Reply, LinesMayBeAList) {
  EXPECT_EQ(proposal(R"({"edits": [{"first": 12, "last": 14, "text": ["a", "b"]}]})").edits[0].text, "a\nb\n");
}

TEST(Reply, TheLastAnswerInAnyTextCounts) {
  const search::Proposal p =
      proposal(R"(First I thought {of this}: {"edits": [{"first": 10, "last": 11, "text": "old"}]}
but then {"a": 1}, and:
```json
{"edits": [{"first": 10, "last": 11, "text": "new } \" {"}]}
```
That's it :-})");
  EXPECT_EQ(p.edits.at(0).text, "new } \" {");
}

TEST(Reply, EditsAreSortedAndMayInsertAndDelete) {
  const search::Proposal p =
      proposal(R"({"edits": [{"first": 15, "last": 20, "text": ""}, {"first": 10, "last": 10, "text": "s_nop 0"}]})");
  EXPECT_EQ(p.edits[0].first, 10u);
  EXPECT_EQ(p.edits[1].text, "");
}

TEST(Reply, NothingToProposeHasAReason) {
  Reply reply = read_reply(R"(Well. {"done": "at its bound"})", shown);
  ASSERT_TRUE(std::holds_alternative<Nothing>(reply));
  EXPECT_EQ(std::get<Nothing>(reply).reason, "at its bound");
}

TEST(Reply, WhatIsNoAnswerIsRefused) {
  for (const char* text : {"", "42", "{", "{}", "[]", "null", "{\"edits\"", "{\"edits\": [", "\xff\xfe{\"edits\": []",
                           "{\"other\": 1}", "edits: 12-14"})
    EXPECT_TRUE(has(why(text), "no JSON object")) << text;
}

TEST(Reply, WrongShapesAreRefusedWithThePlace) {
  EXPECT_TRUE(has(why(R"({"edits": []})"), "edits"));
  EXPECT_TRUE(has(why(R"({"edits": "all"})"), "edits"));
  EXPECT_TRUE(has(why(R"({"edits": [1]})"), "edits[0]"));
  EXPECT_TRUE(has(why(R"({"edits": [{"first": 12, "last": 13}]})"), "text"));
  EXPECT_TRUE(has(why(R"({"edits": [{"first": "12", "last": 13, "text": ""}]})"), "first"));
  EXPECT_TRUE(has(why(R"({"edits": [{"first": -1, "last": 13, "text": ""}]})"), "first"));
  EXPECT_TRUE(has(why(R"({"edits": [{"first": 12, "last": 13, "text": [1]}]})"), "text"));
  EXPECT_TRUE(has(why(R"({"edits": [{"first": 12, "last": 13, "text": ""}], "direction": "up"})"), "direction"));
  EXPECT_TRUE(has(why(R"({"done": 1})"), "done"));
}

TEST(Reply, WhatIsDecidedElsewhereCannotBeSet) {
  for (const char* name : {"tolerance", "atol", "threshold", "epsilon", "cases", "launch", "output", "skip", "outcome",
                           "receipt", "parent", "version", "seed"})
    EXPECT_TRUE(has(why(fmt::format(R"({{"edits": [{{"first": 12, "last": 13, "text": ""}}], "{}": 1}})", name)), name))
        << name;
  EXPECT_TRUE(has(why(R"({"edits": [{"first": 12, "last": 13, "text": "", "file": "/etc/passwd"}]})"), "file"));
}

TEST(Reply, EditsOutsideOfTheWindowAreRefused) {
  for (const char* range : {R"("first": 9, "last": 11)", R"("first": 19, "last": 21)", R"("first": 14, "last": 13)",
                            R"("first": 0, "last": 1000000000)"})
    EXPECT_TRUE(has(why(fmt::format(R"({{"edits": [{{{}, "text": ""}}]}})", range)), "not inside the window [10, 20)"))
        << range;
  EXPECT_TRUE(has(why(R"({"edits": [{"first": 12, "last": 14, "text": ""}, {"first": 13, "last": 15, "text": ""}]})"),
                  "overlaps"));
}

TEST(Reply, HugeAndNastyAnswersAreReadInNoTime) {
  EXPECT_TRUE(has(why(std::string(longest_reply + 1, 'x')), "bytes"));
  why(std::string(1'000'000, '{'));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a";
  why(objects);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"edits\":";
  why(deep + "1" + std::string(100'000, '}'));
}

TEST(Reply, ItsSchemaIsOneThatIsChecked) { EXPECT_EQ(unknown_keyword(reply_schema()), ""); }

} // namespace
} // namespace asmevo::agent
