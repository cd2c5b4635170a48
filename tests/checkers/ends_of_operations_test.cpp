// Tests of the checker of the end of operations.
#include "checkers/ends_of_operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

constexpr std::uint64_t asking_fiber = 1;
constexpr std::uint64_t calling_fiber = 2;
constexpr std::uint32_t calling_connection = 5;

class EndsTest : public testing::Test {
 protected:
  void call(std::uint64_t call_time) {
    ends_.on_called(calling_fiber, calling_connection,
                    {.client = 3, .key = "key", .call_time = call_time});
  }
  void expect_holds() const {
    EXPECT_EQ(ends_.judgement().verdict, Verdict::holds) << ends_.judgement().explanation;
  }

  EndsOfOperations ends_;
};

TEST_F(EndsTest, ComeAfterTheOperationsFromBefore) {
  call(10);
  ends_.on_asked(asking_fiber);
  ends_.on_ended(calling_fiber);
  ends_.on_told(asking_fiber, 7);
  expect_holds();
}

TEST_F(EndsTest, DoNotComeBefore) {
  call(10);
  ends_.on_asked(asking_fiber);
  ends_.on_told(asking_fiber, 7);
  expect_violation(ends_.judgement(), "end.operation-left");
  EXPECT_THAT(ends_.judgement().calls, testing::ElementsAre(10));
  EXPECT_EQ(ends_.judgement().step, 7U);
}

TEST_F(EndsTest, DoNotConcernLaterOperations) {
  call(10);
  ends_.on_asked(asking_fiber);
  ends_.on_ended(calling_fiber);
  call(11);
  ends_.on_told(asking_fiber, 7);
  expect_holds();
}

TEST_F(EndsTest, DoNotConcernThoseWhoLostTheirConnection) {
  call(10);
  ends_.on_asked(asking_fiber);
  ends_.on_connection_lost(calling_connection + 1);
  ends_.on_connection_lost(calling_connection);
  ends_.on_told(asking_fiber, 7);
  expect_holds();
}

TEST_F(EndsTest, DoNotConcernTheFormerServer) {
  call(10);
  ends_.on_asked(asking_fiber);
  ends_.on_server_died(calling_connection);
  call(11);
  ends_.on_told(asking_fiber, 7);
  ends_.on_asked(asking_fiber);
  ends_.on_told(asking_fiber, 8);
  expect_holds();
  ends_.on_called(calling_fiber, calling_connection + 1,
                  {.client = 3, .key = "key", .call_time = 12});
  ends_.on_asked(asking_fiber);
  ends_.on_told(asking_fiber, 9);
  expect_violation(ends_.judgement(), "end.operation-left");
}

TEST_F(EndsTest, AreJudgedForTheQuestionAlone) {
  call(10);
  ends_.on_asked(asking_fiber);
  ends_.on_not_told(asking_fiber);
  ends_.on_ended(calling_fiber);
  ends_.on_asked(asking_fiber);
  call(11);
  ends_.on_told(asking_fiber, 7);
  expect_holds();
}

// The last request before the question has place 3.
class LandedRequests : public EndsTest {
 protected:
  LandedRequests() {
    ends_.on_posted(calling_connection, 3);
    ends_.on_asked(asking_fiber);
    ends_.on_posted(calling_connection, 4);
    ends_.on_connection_lost(calling_connection);
  }
  void land(std::uint64_t place) { ends_.on_landed(calling_connection, place, 8); }
};

TEST_F(LandedRequests, ChangeNothingAfterTheEnd) {
  ends_.on_told(asking_fiber, 7);
  land(3);
  expect_violation(ends_.judgement(), "end.landed-later");
  EXPECT_EQ(ends_.judgement().step, 8U);
}

TEST_F(LandedRequests, MayChangeMemoryUntilTheEnd) {
  land(3);
  ends_.on_told(asking_fiber, 7);
  expect_holds();
}

TEST_F(LandedRequests, MayBePostedAfterTheQuestion) {
  ends_.on_told(asking_fiber, 7);
  land(4);
  expect_holds();
}

TEST_F(LandedRequests, AreJudgedByTheLatestQuestionThatWasAnswered) {
  constexpr std::uint64_t other_fiber = asking_fiber + 10;
  ends_.on_asked(other_fiber);  // after place 4
  ends_.on_told(other_fiber, 6);
  ends_.on_told(asking_fiber, 7);
  land(4);
  expect_violation(ends_.judgement(), "end.landed-later");
}

TEST_F(LandedRequests, AreNotJudgedWithoutAnAnswer) {
  ends_.on_not_told(asking_fiber);
  land(3);
  ends_.on_asked(asking_fiber);
  ends_.on_server_died(calling_connection);
  ends_.on_told(asking_fiber, 7);
  land(3);
  expect_holds();
}

}  // namespace
}  // namespace falafel::checkers
