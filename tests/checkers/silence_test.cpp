// Tests of the checker of silence: servers that give up on clients in time, too early and too late.
#include "checkers/silence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/fabric.h"
#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr std::uint64_t heartbeat_timeout_ns = 1'000;
constexpr std::uint32_t silent_client = 7;

// A server that waits between its looks, and reads messages when it looks.
class SilenceTest : public testing::Test {
 protected:
  void connect(std::uint64_t time_ns, bool is_hostile = false) {
    silence_.on_connected(silent_client, is_hostile, time_ns);
  }
  void look(std::uint64_t time_ns) {
    silence_.on_waited(time_ns - now_ns_);
    look_after_stall(time_ns);
  }
  // The server could have looked since the last time.
  void look_after_stall(std::uint64_t time_ns) {
    for (int reading = 0; reading < 8; ++reading) silence_.on_messages_read(time_ns);
    silence_.on_look(time_ns, time_ns);
    now_ns_ = time_ns;
  }
  void hear(std::uint64_t time_ns) { silence_.on_message(silent_client, time_ns); }
  void ask(ServerQuestion question, std::uint64_t time_ns) {
    silence_.on_asked(silent_client, question, time_ns, time_ns);
  }
  void fence(std::uint64_t time_ns, std::uint64_t asked_ns = fabric::never_ns) {
    silence_.on_fenced(silent_client, time_ns, asked_ns, time_ns);
  }
  // Looks and hears the client all the time, until this time.
  void pass_until(std::uint64_t end_ns) {
    for (std::uint64_t time_ns = now_ns_ + 100; time_ns <= end_ns; time_ns += 100) {
      hear(time_ns);
      look(time_ns);
    }
  }
  void expect_holds() const {
    EXPECT_EQ(silence_.judgement().verdict, Verdict::holds) << silence_.judgement().explanation;
  }
  void expect_violated(const std::string& property, std::uint64_t step) const {
    expect_violation(silence_.judgement(), property);
    EXPECT_EQ(silence_.judgement().step, step);
  }

  Silence silence_{heartbeat_timeout_ns};
  std::uint64_t now_ns_ = 0;
};

TEST_F(SilenceTest, EndsAfterTheTimeOut) {
  connect(0);
  hear(300);
  look(500);
  look(1'300);
  fence(1'300);
  expect_holds();
}

TEST_F(SilenceTest, EndsNoEarlier) {
  connect(0);
  hear(300);
  look(500);
  look(1'299);
  fence(1'299);
  expect_violated("silence.fenced-early", 1'299);
}

TEST_F(SilenceTest, BeginsWhenTheClientConnects) {
  connect(200);
  look(1'199);
  fence(1'199);
  expect_violated("silence.fenced-early", 1'199);
}

// The server cannot hear a message that arrives after its look.
TEST_F(SilenceTest, IncludesWhatArrivesAfterTheLook) {
  connect(0);
  look(500);
  look(1'000);
  hear(1'000);
  fence(1'000);
  expect_holds();
}

TEST_F(SilenceTest, IsBrokenByAMessageThatArrivedBeforeTheLook) {
  connect(0);
  look(500);
  hear(999);
  look(1'000);
  fence(1'000);
  expect_violated("silence.fenced-early", 1'000);
}

TEST_F(SilenceTest, OfAQuestionLastsOneTimeOut) {
  for (const ServerQuestion question : {ServerQuestion::quiescence, ServerQuestion::regions}) {
    silence_ = Silence(heartbeat_timeout_ns);
    now_ns_ = 0;
    connect(0);
    ask(question, 100);
    pass_until(1'100);
    fence(1'100);
    expect_holds();
  }
  connect(1'100);
  ask(ServerQuestion::quiescence, 1'200);
  pass_until(2'100);
  fence(2'100);
  expect_violated("silence.fenced-early", 2'100);
}

TEST_F(SilenceTest, OfTheEndOfOperationsLastsThreeTimeOuts) {
  connect(0);
  ask(ServerQuestion::end, 100);
  pass_until(3'100);
  fence(3'100);
  expect_holds();
  connect(3'100);
  ask(ServerQuestion::end, 3'200);
  pass_until(4'300);
  fence(4'300);
  expect_violated("silence.fenced-early", 4'300);
}

TEST_F(SilenceTest, OfAQuestionEndsWithTheAnswer) {
  connect(0);
  ask(ServerQuestion::quiescence, 100);
  silence_.on_answered(silent_client, ServerQuestion::quiescence);
  pass_until(2'000);
  fence(2'000);
  expect_violated("silence.fenced-early", 2'000);
}

TEST_F(SilenceTest, MayConcernAQuestionOnItsWay) {
  connect(0);
  pass_until(2'000);
  fence(2'000, 1'000);
  expect_holds();
  connect(2'000);
  pass_until(3'000);
  fence(3'000, 2'001);
  expect_violated("silence.fenced-early", 3'000);
}

TEST_F(SilenceTest, IsExcusedAfterAStall) {
  look(0);
  connect(0);
  look(100);
  look_after_stall(1'300);
  look(2'300);
  fence(2'300);
  expect_holds();
}

TEST_F(SilenceTest, IsExcusedForAWholeTimeOut) {
  look(0);
  connect(0);
  look(100);
  look_after_stall(1'300);
  look(2'200);
  fence(2'200);
  expect_violated("silence.fenced-early", 2'200);
}

// The server could have planned to look at 1,000 ns, and was hardly late.
TEST_F(SilenceTest, IsNotSurelyExcusedAfterAShortStall) {
  connect(0);
  look(100);
  look_after_stall(1'200);
  fence(1'200);
  expect_holds();
}

// The look itself reads the message, so the server plans to look again a time-out later.
TEST_F(SilenceTest, IsNotSurelyExcusedIfTheLookHeardTheClient) {
  connect(0);
  look(10);
  hear(300);
  silence_.on_waited(390);
  silence_.on_look(400, 400);
  silence_.on_look(1'400, 1'400);
  fence(1'400);
  expect_holds();
}

TEST_F(SilenceTest, EndsAtLastWithAFence) {
  look(0);
  connect(0);
  look(1'000);
  look(1'500);
  expect_holds();
  look(1'501);
  expect_violated("silence.not-fenced", 1'501);
}

TEST_F(SilenceTest, OfAQuestionEndsAtLastWithAFence) {
  for (const ServerQuestion question : {ServerQuestion::quiescence, ServerQuestion::regions}) {
    silence_ = Silence(heartbeat_timeout_ns);
    now_ns_ = 0;
    look(0);
    connect(0);
    ask(question, 100);
    pass_until(1'600);
    expect_holds();
    pass_until(1'700);
    expect_violated("silence.not-fenced", 1'700);
  }
}

TEST_F(SilenceTest, OfTheEndOfOperationsEndsAtLastWithAFence) {
  look(0);
  connect(0);
  ask(ServerQuestion::end, 100);
  pass_until(3'600);
  expect_holds();
  pass_until(3'700);
  expect_violated("silence.not-fenced", 3'700);
}

TEST_F(SilenceTest, MayLastLongerAfterAStall) {
  connect(0);
  look(100);
  look_after_stall(1'201);
  look(2'700);
  expect_holds();
  look(2'702);
  expect_violated("silence.not-fenced", 2'702);
}

// Its first look may come after a stall.
TEST_F(SilenceTest, MayLastLongerBeforeTheFirstLook) {
  connect(0);
  look(5'000);
  look(6'500);
  expect_holds();
  look(6'501);
  expect_violated("silence.not-fenced", 6'501);
}

TEST_F(SilenceTest, OfAHostileClientMayEndEarlyButNotLate) {
  connect(0, true);
  look(100);
  fence(100);
  expect_holds();
  connect(100, true);
  look(1'700);
  expect_violated("silence.not-fenced", 1'700);
}

TEST_F(SilenceTest, OfThoseWhoLeftIsNone) {
  connect(0);
  silence_.on_left(silent_client);
  look(5'000);
  fence(5'000);
  connect(5'000);
  silence_.on_server_died();
  look(9'000);
  fence(9'000);
  expect_holds();
}

}  // namespace
}  // namespace falafel::checkers
