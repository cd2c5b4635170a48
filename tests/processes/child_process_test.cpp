#include "processes/child_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace falafel::processes {
namespace {

using namespace std::chrono_literals;

int sleep_forever() {
  for (;;) ::pause();
}

TEST(ChildProcess, ReportsTheStatusThatTheBodyReturns) {
  ChildProcess successful([] { return 0; });
  EXPECT_TRUE(successful.wait().is_success());
  ChildProcess failing([] { return 3; });
  const Ending ending = failing.wait();
  EXPECT_FALSE(ending.is_success());
  EXPECT_EQ(ending.exit_status(), 3);
  EXPECT_EQ(ending.signal(), std::nullopt);
  EXPECT_EQ(ending.describe(), "exited with status 3");
}

TEST(ChildProcess, ReportsTheSignalThatKilledIt) {
  ChildProcess child(sleep_forever);
  EXPECT_FALSE(child.poll());
  child.kill();
  const Ending ending = child.wait();
  EXPECT_FALSE(ending.is_success());
  EXPECT_EQ(ending.signal(), SIGKILL);
  EXPECT_EQ(ending.describe(), "was killed by signal 9");
  EXPECT_EQ(child.wait().signal(), SIGKILL) << "it can be asked again";
  child.kill();
}

TEST(ChildProcess, WaitsNoLongerThanItIsTold) {
  ChildProcess child(sleep_forever);
  EXPECT_FALSE(child.wait_for(1ms));
  child.kill();
  EXPECT_TRUE(child.wait_for(60s));
}

TEST(ChildProcess, IsKilledWithItsObject) {
  pid_t id = 0;
  {
    ChildProcess child(sleep_forever);
    ChildProcess moved = std::move(child);
    id = moved.id();
    EXPECT_EQ(::kill(id, 0), 0);
  }
  EXPECT_NE(::kill(id, 0), 0) << "nobody has this number any more";
}

TEST(ChildProcess, DiesWithItsParentOnRequest) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe(ends), 0);
  ChildProcess parent([&]() -> int {
    const ChildProcess grandchild(sleep_forever, {.dies_with_parent = true});
    ::close(ends[0]);
    ::_exit(0);  // without the destructor
  });
  ::close(ends[1]);
  EXPECT_TRUE(parent.wait().is_success());
  char nothing = 0;
  EXPECT_EQ(::read(ends[0], &nothing, 1), 0) << "the grandchild still has the pipe open";
  ::close(ends[0]);
}

}  // namespace
}  // namespace falafel::processes
