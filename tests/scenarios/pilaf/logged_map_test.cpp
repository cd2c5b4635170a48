// Histories of a server with an asynchronous log: what a restart may lose.
#include "tools/scenarios/pilaf/logged_map.h"

#include <gtest/gtest.h>

#include "checkers/specification_history.h"
#include "checkers/specification_linearizability.h"

namespace falafel::pilaf_scenario {
namespace {

using Contents = LoggedMap::Contents;
using Map = LoggedMap::Map;

// Operations one after the other, of a server's life and of the next one.
class TwoLives {
 public:
  TwoLives& set(const std::string& key, const std::string& value) {
    return add(LoggedMap::Set{key, value}, {});
  }
  TwoLives& remove(const std::string& key) { return add(LoggedMap::Remove{key}, Map::removed()); }
  TwoLives& found(const std::string& key, const std::string& value) {
    return add(LoggedMap::Get{key}, Map::found(value));
  }
  TwoLives& absent(const std::string& key) { return add(LoggedMap::Get{key}, Map::absent()); }
  // Nobody knows whether it takes effect.
  TwoLives& pending_set(const std::string& key, const std::string& value) {
    history_.call(++time_, 0, LoggedMap::Set{key, value});
    return *this;
  }
  TwoLives& restart(const Contents& contents) {
    const std::size_t survive = history_.call(0, 1, LoggedMap::Survive{contents});
    history_.complete(++time_, survive, {});
    return add(LoggedMap::Restart{contents}, {});
  }
  checkers::Verdict judge() const { return checkers::check_linearizability(history_).verdict; }

 private:
  TwoLives& add(LoggedMap::Operation operation, Map::Result result) {
    const std::size_t number = history_.call(++time_, 0, std::move(operation));
    history_.complete(++time_, number, std::move(result));
    return *this;
  }

  checkers::SpecificationHistory<LoggedMap> history_;
  std::uint64_t time_ = 0;
};

constexpr auto holds = checkers::Verdict::holds;
constexpr auto violated = checkers::Verdict::violated;

TwoLives two_changes() { return TwoLives().set("a", "1").set("b", "2"); }

TEST(LoggedMap, LosesTheLastChanges) {
  EXPECT_EQ(two_changes().restart({{"a", "1"}, {"b", "2"}}).found("b", "2").judge(), holds);
  EXPECT_EQ(two_changes().restart({{"a", "1"}}).absent("b").judge(), holds);
  EXPECT_EQ(two_changes().restart({}).absent("a").set("a", "3").found("a", "3").judge(), holds);
}

TEST(LoggedMap, LosesNoChangeInFrontOfOneThatItKeeps) {
  EXPECT_EQ(two_changes().restart({{"b", "2"}}).judge(), violated);
}

TEST(LoggedMap, IsReplayedInOrder) {
  const auto change_twice = [] { return TwoLives().set("a", "1").set("a", "2").set("b", "3"); };
  EXPECT_EQ(change_twice().restart({{"a", "1"}}).judge(), holds);
  EXPECT_EQ(change_twice().restart({{"a", "1"}, {"b", "3"}}).judge(), violated);
  const auto change_and_remove = [] { return TwoLives().set("a", "1").remove("a").set("b", "3"); };
  EXPECT_EQ(change_and_remove().restart({{"a", "1"}, {"b", "3"}}).judge(), violated);
  EXPECT_EQ(change_and_remove().restart({{"b", "3"}}).judge(), holds);
}

TEST(LoggedMap, FindsOnlyWhatSomebodyWrote) {
  EXPECT_EQ(two_changes().restart({{"a", "1"}, {"b", "8 bytes that nobody wrote"}}).judge(),
            violated);
}

TEST(LoggedMap, KeepsOrLosesAPendingChange) {
  const auto pending = [] { return TwoLives().set("a", "1").pending_set("b", "2"); };
  EXPECT_EQ(pending().restart({{"a", "1"}, {"b", "2"}}).judge(), holds);
  EXPECT_EQ(pending().restart({{"a", "1"}}).judge(), holds);
  EXPECT_EQ(pending().restart({{"b", "2"}}).judge(), violated);
}

TEST(LoggedMap, HasTheFoundContentsAfterTheRestart) {
  EXPECT_EQ(two_changes().restart({{"a", "1"}}).found("b", "2").judge(), violated);
  EXPECT_EQ(two_changes().restart({{"a", "1"}}).absent("a").judge(), violated);
}

}  // namespace
}  // namespace falafel::pilaf_scenario
