// Tests of the checker of quiescence: clients that answer in time and too early.
#include "checkers/quiescence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr std::uint32_t answering_client = 5;
constexpr std::uint64_t old_operation = 1;
constexpr std::uint64_t asked_epoch = 40;

class QuiescenceTest : public testing::Test {
 protected:
  void ask() { quiescence_.on_question(answering_client, asked_epoch); }
  void send(std::uint64_t place) { quiescence_.on_sent(answering_client, place); }
  void arrive(std::uint64_t place, std::optional<std::uint64_t> epoch) {
    quiescence_.on_arrived(answering_client, place, epoch, 7);
  }
  void begin(std::uint64_t operation) { quiescence_.on_began(operation, answering_client); }
  void end(bool has_restarted = false) { quiescence_.on_returned(old_operation, has_restarted, 8); }
  void expect_holds() const { EXPECT_EQ(quiescence_.judgement().verdict, Verdict::holds); }
  void expect_violated(std::uint64_t step) const {
    expect_violation(quiescence_.judgement(), "quiescence.answered-early");
    EXPECT_EQ(quiescence_.judgement().step, step);
  }

  Quiescence quiescence_;
};

TEST_F(QuiescenceTest, ComesAfterTheOperationsFromBefore) {
  begin(old_operation);
  ask();
  end();
  send(1);
  arrive(1, asked_epoch);
  expect_holds();
}

TEST_F(QuiescenceTest, DoesNotComeBefore) {
  begin(old_operation);
  ask();
  send(1);
  arrive(1, asked_epoch);
  expect_holds();
  end();
  expect_violated(8);
}

TEST_F(QuiescenceTest, IsJudgedWhenTheClientSendsTheAnswer) {
  begin(old_operation);
  ask();
  send(1);
  end();
  expect_holds();
  arrive(1, asked_epoch);
  expect_violated(7);
}

TEST_F(QuiescenceTest, DoesNotConcernOperationsThatBeginAgain) {
  begin(old_operation);
  ask();
  send(1);
  arrive(1, asked_epoch);
  end(true);
  expect_holds();
}

TEST_F(QuiescenceTest, DoesNotConcernLaterOperations) {
  ask();
  begin(old_operation);
  send(1);
  arrive(1, asked_epoch);
  end();
  expect_holds();
}

TEST_F(QuiescenceTest, DoesNotConcernOtherMessages) {
  begin(old_operation);
  send(1);
  ask();
  send(2);
  arrive(1, asked_epoch);
  arrive(2, std::nullopt);
  send(3);
  arrive(3, asked_epoch - 1);
  end();
  expect_holds();
}

TEST_F(QuiescenceTest, DoesNotConcernOtherClients) {
  quiescence_.on_began(old_operation, answering_client + 1);
  ask();
  send(1);
  arrive(1, asked_epoch);
  end();
  expect_holds();
}

TEST_F(QuiescenceTest, EndsWithTheConnection) {
  begin(old_operation);
  ask();
  send(1);
  arrive(1, asked_epoch);
  quiescence_.on_left(answering_client);
  end();
  expect_holds();
}

}  // namespace
}  // namespace falafel::checkers
