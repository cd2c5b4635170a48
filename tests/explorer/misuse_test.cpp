// Test bodies that break a rule of the simulator: the report names the rule and what to do instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "explorer/campaign.h"
#include "explorer/check.h"

namespace falafel::check::misuse_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Result run_once(const std::string& name, const Body& body) {
  const Options options{.name = name,
                        .schedules = 3,
                        .shrink_seconds = 0,
                        .output = testing::TempDir() + "misuse_test"};
  return run_campaign(WorldProgram(name, options.network, body), options, {});
}

TEST(Misuse, OfAnotherHostsConnectionIsNamed) {
  const auto body = [](World& world) {
    std::shared_ptr<RemoteMemory> of_first;
    world.server("server", [&](fabric::Host& host) { MemoryServer(host, 64).serve(); });
    world.client("first", [&](fabric::Host& host) {
      of_first = std::make_shared<RemoteMemory>(host, "server");
      host.sleep_until(1'000'000'000);
    });
    world.client("second", [&](fabric::Host& host) {
      host.sleep_until(500'000'000);
      of_first->write(0, 1);
    });
    world.run();
  };
  const Result result = run_once("connection", body);
  ASSERT_FALSE(result.holds());
  EXPECT_THAT(result.story(), AllOf(HasSubstr("of host second uses"), HasSubstr("of host first")));
}

TEST(Misuse, OfThreadsIsNamed) {
  const auto body = [](World& world) {
    world.server("server", [&](fabric::Host& host) { MemoryServer(host, 64).serve(); });
    world.client("client", [&](fabric::Host& host) {
      RemoteMemory memory(host, "server");
      std::thread([&] { memory.write(0, 1); }).join();
    });
    world.run();
  };
  const Result result = run_once("thread", body);
  ASSERT_FALSE(result.holds());
  EXPECT_THAT(result.story(), HasSubstr("begin a fiber by Host::spawn instead of a thread"));
}

TEST(Misuse, OfAWorldThatIsNotRunIsNamed) {
  const Result result =
      run_once("unrun", [](World& world) { world.client("client", [](fabric::Host&) {}); });
  ASSERT_FALSE(result.holds());
  EXPECT_THAT(result.story(), HasSubstr("without a call of World::run"));
}

[[gnu::noinline]] void follow_a_null_pointer() {
  volatile int* volatile nothing = nullptr;
  *nothing = 1;
}

[[gnu::noinline]] void give_up() { std::abort(); }

// The functions of the simulator that called the body are left out.
TEST(Misuse, ACrashOfTheBodyShowsItsStack) {
  for (const auto& [function, crash] : std::map<std::string, std::function<void()>>{
           {"follow_a_null_pointer", follow_a_null_pointer}, {"give_up", give_up}}) {
    const Result result = run_once(function, [&](World& world) {
      world.client("client", [&](fabric::Host&) { crash(); });
      world.run();
    });
    ASSERT_FALSE(result.holds());
    EXPECT_THAT(result.story(),
                AllOf(HasSubstr("misuse_test::(anonymous namespace)::" + function + "()"),
                      HasSubstr("_M_invoke"), Not(HasSubstr("sim::Fiber"))));
  }
}

// The campaign runs some schedules twice, to see whether they repeat.
TEST(Conditions, CountSchedules) {
  const Result result = run_once("condition", [](World& world) {
    auto& condition = world.sometimes("a client runs");
    world.client("client", [&](fabric::Host&) { condition.reached(); });
    world.run();
  });
  ASSERT_TRUE(result.holds()) << result.story();
  EXPECT_EQ(result.conditions.at("a client runs"), result.schedules);
}

}  // namespace
}  // namespace falafel::check::misuse_test
