// Requests that reach a server's memory are attributed to the run of the server to which they were
// connected (docs/findings/orphan-at-a-dead-server.md).
#include "tools/scenarios/store/server_lives.h"

#include <gtest/gtest.h>

#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

constexpr std::uint32_t first_connection = 3;
constexpr std::uint32_t second_connection = 5;

TEST(ServerLives, AQueuePairOfAnEarlierLifeReachesNothing) {
  ServerLives lives;
  lives.observe({.kind = sim::EventKind::host_started, .subject = StoreWorld::server_host});
  EXPECT_FALSE(lives.is_in_use(first_connection));
  lives.observe({.kind = sim::EventKind::connection, .subject = first_connection});
  EXPECT_TRUE(lives.is_in_use(first_connection));
  lives.observe({.kind = sim::EventKind::host_died, .subject = StoreWorld::server_host});
  EXPECT_FALSE(lives.is_in_use(first_connection));
  lives.observe({.kind = sim::EventKind::host_started, .subject = StoreWorld::server_host});
  lives.observe({.kind = sim::EventKind::connection, .subject = second_connection});
  EXPECT_FALSE(lives.is_in_use(first_connection));
  EXPECT_TRUE(lives.is_in_use(second_connection));
}

TEST(ServerLives, TheDeathOfAClientChangesNothing) {
  ServerLives lives;
  lives.observe({.kind = sim::EventKind::host_started, .subject = StoreWorld::server_host});
  lives.observe({.kind = sim::EventKind::connection, .subject = first_connection});
  lives.observe({.kind = sim::EventKind::host_died, .subject = StoreWorld::server_host + 1});
  EXPECT_TRUE(lives.is_in_use(first_connection));
}

}  // namespace
}  // namespace falafel::store_scenario
