#include "agent/outside_driver.h"

#include "agent/state_fixture.h"

#include <functional>

namespace asmevo::agent {
namespace {

using testing::StateTest;

/// Answers as the test says.
class Scripted : public Correspondent {
public:
  using Script = std::function<std::expected<Answer, Silence>(const Question&)>;
  explicit Scripted(Script script) : script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  std::expected<Answer, Silence> ask(const Question& question) override { return script_(question); }
  void tell(const search::Proposal&, const gate::Verdict& verdict) override { told.push_back(verdict.outcome); }

  std::vector<gate::Outcome> told;

private:
  Script script_;
};

class OutsideTest : public StateTest {
protected:
  OutsideDriver driver(Scripted::Script script, Secrets secrets = {}) {
    auto scripted = std::make_unique<Scripted>(std::move(script));
    correspondent = scripted.get();
    return OutsideDriver(
        std::move(scripted),
        std::make_unique<Transcript>(*Transcript::open(directory + "/transcript.jsonl", std::move(secrets))),
        usual_prompt_tokens);
  }
  std::string edit(std::string_view text, std::string_view more = "") {
    const size_t at = item("v_add_f32");
    return fmt::format(R"({{"edits": [{{"first": {}, "last": {}, "text": "{}"}}]{}}})", at, at + 1, text, more);
  }
  std::string transcript() { return *read_text_file(directory + "/transcript.jsonl"); }

  std::mt19937_64 random;
  Scripted* correspondent = nullptr;
};

TEST_F(OutsideTest, AProposalNamesItsVersionAndWhatItTook) {
  OutsideDriver outside = driver([&](const Question& question) -> std::expected<Answer, Silence> {
    if (question.refused.empty()) return Answer{"no", "m1", {100, 10, 0.5}};
    return Answer{edit("v_nop"), "m1", {200, 20, 0.25}};
  });
  auto proposal = outside.propose(state, random);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(proposal->parent, 0);
  EXPECT_EQ(proposal->origin.model, "m1");
  EXPECT_EQ(proposal->origin.prompt_hash.size(), 64u);
  EXPECT_EQ(proposal->origin.input_tokens, 300); // the refused answer was paid for too
  EXPECT_EQ(proposal->origin.output_tokens, 30);
  EXPECT_DOUBLE_EQ(proposal->origin.cost, 0.75);
  EXPECT_FALSE(outside.trouble());
  EXPECT_NE(transcript().find(proposal->origin.prompt_hash), std::string::npos);
}

TEST_F(OutsideTest, VerdictsOfEarlierSessionsAreNotToldAgain) {
  OutsideDriver outside = driver([&](const Question&) { return Answer{edit("v_nop")}; });
  outside.learn({}, {.outcome = gate::Outcome::divergence}); // as a resumed run does
  auto proposal = outside.propose(state, random);
  ASSERT_TRUE(proposal);
  outside.learn(*proposal, {.outcome = gate::Outcome::accepted});
  EXPECT_EQ(correspondent->told, std::vector{gate::Outcome::accepted});
}

TEST_F(OutsideTest, AnotherDirectionIsAskedAboutWhereNothingIsProposed) {
  std::vector<Focus> asked;
  OutsideDriver outside = driver([&](const Question& question) -> std::expected<Answer, Silence> {
    asked.push_back(question.prompt.focus);
    return asked.size() < 3 ? Answer{R"({"done": "no"})"} : Answer{edit("v_nop")};
  });
  EXPECT_TRUE(outside.propose(state, random));
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_NE(asked[0], asked[1]);
  EXPECT_NE(asked[1], asked[2]);
  const std::vector<Focus> exhausted(asked.begin(), asked.begin() + 2);
  EXPECT_TRUE(outside.propose(state, random));
  for (const Focus& focus : exhausted) EXPECT_NE(asked.back(), focus);
}

TEST_F(OutsideTest, AnotherDirectionIsAskedAboutWhereTwoProposalsBroughtNothing) {
  std::vector<Focus> asked;
  OutsideDriver outside = driver([&](const Question& question) {
    asked.push_back(question.prompt.focus);
    return Answer{edit("v_nop")};
  });
  for (int i = 0; i < 4; ++i) {
    outside.propose(state, random);
    attempt(gate::Outcome::divergence, "v_nop", "");
  }
  EXPECT_EQ(asked[0], asked[1]);
  EXPECT_NE(asked[1], asked[2]);
  EXPECT_EQ(asked[2], asked[3]);
}

TEST_F(OutsideTest, TheFocusOfTheControllerIsKeptAndEditsStayInWhatWasShown) {
  std::vector<Focus> asked;
  Range shown;
  OutsideDriver outside = driver([&](const Question& question) {
    asked.push_back(question.prompt.focus);
    shown = question.prompt.shown;
    return Answer{edit("v_nop", R"(, "direction": "memory-access")")};
  });
  const Range cold = view.windows.at(1).range;
  state.focus = {cold, search::Direction::memory_access};
  const auto proposal = outside.propose(state, random);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(asked, (std::vector<Focus>{{1, Direction::memory_access}}));
  EXPECT_EQ(proposal->window, shown);
  EXPECT_EQ(proposal->direction, search::Direction::memory_access);
}

TEST_F(OutsideTest, WhoNeverAnswersStopsTheSessionWithTheReason) {
  int asked = 0;
  OutsideDriver outside = driver([&](const Question&) {
    ++asked;
    return std::unexpected(Silence{"the line is dead"});
  });
  EXPECT_FALSE(outside.propose(state, random));
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(outside.trouble(), "driver scripted: the line is dead");
}

TEST_F(OutsideTest, ASilenceThatIsFinalIsNotAskedAgain) {
  int asked = 0;
  OutsideDriver outside = driver([&](const Question&) {
    ++asked;
    return std::unexpected(Silence{"no money left", true});
  });
  EXPECT_FALSE(outside.propose(state, random));
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(outside.trouble());
}

TEST_F(OutsideTest, AnswersThatAreNoneEndWithTrouble) {
  size_t most = 0;
  OutsideDriver outside = driver([&](const Question& question) {
    most = std::max(most, question.refused.size());
    return Answer{"I would rather talk."};
  });
  EXPECT_FALSE(outside.propose(state, random));
  EXPECT_EQ(most, 2u);
  EXPECT_NE(outside.trouble().value_or("").find("no JSON object"), std::string::npos);
}

TEST_F(OutsideTest, KeysAreInNothingThatIsKept) {
  Secrets secrets;
  secrets.add("secret-value");
  int asked = 0;
  OutsideDriver outside = driver(
      [&](const Question&) -> std::expected<Answer, Silence> {
        if (++asked == 1) return Answer{edit("v_nop ; secret-value")};
        return Answer{edit("v_nop", R"(, "rationale": "secret-value")"), "model secret-value"};
      },
      secrets);
  auto proposal = outside.propose(state, random);
  ASSERT_TRUE(proposal);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(proposal->rationale, "[removed]");
  EXPECT_EQ(proposal->origin.model, "model [removed]");
  EXPECT_EQ(transcript().find("secret-value"), std::string::npos);
}

TEST_F(OutsideTest, BeingStoppedIsNoTrouble) {
  bool stop = false;
  state.stop = &stop;
  OutsideDriver outside = driver([&](const Question&) {
    stop = true;
    return std::unexpected(Silence{"stopped", true});
  });
  EXPECT_FALSE(outside.propose(state, random));
  EXPECT_FALSE(outside.trouble());
}

} // namespace
} // namespace asmevo::agent
