#include "fabric/wait_list.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace falafel::fabric {
namespace {

class WaitListTest : public ::testing::Test {
 protected:
  class NamedWaiter final : public Waiter {
   public:
    NamedWaiter(char name, std::string& woken) : name_(name), woken_(woken) {}

   private:
    void wake() override {
      EXPECT_FALSE(is_waiting()) << name_;
      woken_ += name_;
    }

    char name_;
    std::string& woken_;
  };

  std::string woken;
  NamedWaiter a{'a', woken};
  NamedWaiter b{'b', woken};
  NamedWaiter c{'c', woken};
};

TEST_F(WaitListTest, WakesInTheOrderOfWaiting) {
  WaitList list;
  list.add(b);
  list.add(a);
  list.add(c);
  list.wake_all();
  EXPECT_EQ(woken, "bac");
  EXPECT_TRUE(list.empty());
}

TEST_F(WaitListTest, DoesNotWakeWhoHasLeft) {
  WaitList list;
  list.add(a);
  list.add(b);
  list.add(c);
  b.stop_waiting();
  EXPECT_FALSE(b.is_waiting());
  b.stop_waiting();
  list.wake_all();
  EXPECT_EQ(woken, "ac");
}

TEST_F(WaitListTest, WaiterThatIsDestroyedLeaves) {
  WaitList list;
  list.add(a);
  {
    NamedWaiter gone('x', woken);
    list.add(gone);
  }
  list.wake_all();
  EXPECT_EQ(woken, "a");
}

TEST_F(WaitListTest, ListThatIsDestroyedWakesNobody) {
  {
    WaitList list;
    list.add(a);
    EXPECT_TRUE(a.is_waiting());
  }
  EXPECT_EQ(woken, "");
  EXPECT_FALSE(a.is_waiting());
  WaitList other;
  other.add(a);
  other.wake_all();
  EXPECT_EQ(woken, "a");
}

}  // namespace
}  // namespace falafel::fabric
