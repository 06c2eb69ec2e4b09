#include "agent/child_process.h"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace asmevo::agent {
namespace {

using namespace std::chrono_literals;
using Event = ChildProcess::Event;

ChildProcess shell(std::string script) {
  const std::vector<std::string> command = {"/bin/sh", "-c", std::move(script)};
  auto child = ChildProcess::start(command);
  EXPECT_TRUE(child) << child.error().message;
  return *std::move(child);
}
ChildProcess::Leash leash(std::chrono::milliseconds time = 20s, size_t bytes = 1 << 20) {
  return {std::chrono::steady_clock::now() + time, bytes, nullptr};
}

TEST(ChildProcess, AnswersLineByLine) {
  ChildProcess child = shell("while read x; do echo \"<$x>\"; done; printf end");
  std::string line;
  for (const char* word : {"one", "two"}) {
    child.say(std::string(word) + "\n");
    ASSERT_EQ(child.next_line(leash(), line), Event::line);
    EXPECT_EQ(line, "<" + std::string(word) + ">");
  }
  child.close_input();
  ASSERT_EQ(child.next_line(leash(), line), Event::line);
  EXPECT_EQ(line, "end");
  EXPECT_EQ(child.next_line(leash(), line), Event::ended);
  EXPECT_TRUE(child.succeeded());
}

TEST(ChildProcess, MuchCanBeSaidAndHeardAtOnce) {
  ChildProcess child = shell("cat");
  const std::string much(3'000'000, 'x');
  child.say(much);
  child.close_input();
  std::string output;
  EXPECT_EQ(child.all_output(leash(20s, 4'000'000), output), Event::ended);
  EXPECT_EQ(output, much);
}

TEST(ChildProcess, WhatItDoesNotReadDoesNoHarm) {
  ChildProcess child = shell("exec <&-; echo done");
  child.say(std::string(1'000'000, 'x'));
  std::string output;
  EXPECT_EQ(child.all_output(leash(), output), Event::ended);
  EXPECT_EQ(output, "done\n");
}

TEST(ChildProcess, ItsEndIsToldInWords) {
  std::string output;
  ChildProcess status = shell("echo why >&2; exit 7");
  EXPECT_EQ(status.all_output(leash(), output), Event::ended);
  EXPECT_EQ(status.ending(), "ended with status 7");
  EXPECT_EQ(status.complaints(), "why\n");
  EXPECT_FALSE(status.succeeded());
  ChildProcess killed = shell("kill -9 $$");
  EXPECT_EQ(killed.all_output(leash(), output), Event::ended);
  EXPECT_EQ(killed.ending(), "was killed by signal 9");
}

TEST(ChildProcess, IsNotWaitedForLongerThanAllowed) {
  ChildProcess child = shell("sleep 100");
  std::string line;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(child.next_line(leash(200ms), line), Event::late);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  child.kill_now();
}

TEST(ChildProcess, SaysNoMoreThanAllowed) {
  std::string output;
  ChildProcess child = shell("yes");
  EXPECT_EQ(child.all_output(leash(20s, 100'000), output), Event::too_much);
  EXPECT_LT(output.size(), 200'000u);
  child.kill_now();
  ChildProcess line = shell("yes | tr -d '\\n'");
  EXPECT_EQ(line.next_line(leash(20s, 100'000), output), Event::too_much);
  line.kill_now();
}

TEST(ChildProcess, WaitingCanBeStopped) {
  volatile bool stop = false;
  ChildProcess child = shell("sleep 100");
  std::jthread other([&] {
    std::this_thread::sleep_for(50ms);
    stop = true;
  });
  std::string line;
  EXPECT_EQ(child.next_line({std::chrono::steady_clock::now() + 20s, 100, &stop}, line), Event::stopped);
  child.kill_now();
}

TEST(ChildProcess, ItsWholeGroupEndsWithIt) {
  pid_t grandchild = 0;
  {
    ChildProcess child = shell("sleep 100 & echo $!; exit 0"); // which holds the output open
    std::string output;
    EXPECT_EQ(child.all_output(leash(), output), Event::ended);
    grandchild = std::stoi(output);
    EXPECT_EQ(kill(grandchild, 0), 0);
  }
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    gone = kill(grandchild, 0) != 0;
    // Where nobody reaps orphans it stays a zombie.
    if (auto* status = std::fopen(fmt::format("/proc/{}/stat", grandchild).c_str(), "r")) {
      char state = 0;
      if (std::fscanf(status, "%*d %*s %c", &state) == 1 && state == 'Z') gone = true;
      std::fclose(status);
    }
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(gone);
}

TEST(ChildProcess, InheritsNothingButItsThreeStreams) {
  ChildProcess child = shell("ls /proc/self/fd | wc -l");
  std::string output;
  EXPECT_EQ(child.all_output(leash(), output), Event::ended);
  EXPECT_EQ(std::stoi(output), 4); // and the folder itself
}

TEST(ChildProcess, AProgramThatThereIsNotIsAnError) {
  const std::vector<std::string> command = {"/no/such/program"};
  auto child = ChildProcess::start(command);
  ASSERT_FALSE(child);
  EXPECT_TRUE(child.error().message.starts_with("/no/such/program: cannot run"));
}

} // namespace
} // namespace asmevo::agent
