// Clients that are silent about a question, greedy, or hostile in what they say: the server gives them
// up within a bound, and nobody else notices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/raw_client.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::ControlMessage;
using engine::MessageKind;

constexpr std::uint64_t breach_timeout_ns = 10 * millisecond_ns;

StoreOptions short_timeouts(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.heartbeat_timeout_ns = breach_timeout_ns;
  options.server.geometry = {.table_entries = 16, .region_bytes = 1'024, .region_count = 4};
  return options;
}

// Fills several regions, so that collections put questions; the longest of its SETs.
std::uint64_t overwrite(fabric::Host& host, Client& client, int times) {
  std::uint64_t longest_ns = 0;
  for (int number = 0; number < times; ++number) {
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(bytes_of("key"), Bytes(400, std::byte{1})).answer, Answer::stored);
    longest_ns = std::max(longest_ns, host.now_ns() - start_ns);
  }
  return longest_ns;
}

// It sends heartbeats as often as it should, and never answers what it is asked.
TEST(ClientThatIsSilentAboutQuiescence, IsGivenUpWithinTheHeartbeatTimeout) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Store store(short_timeouts(seed), stacks);
    bool is_over = false;
    store.add_host("talker", [&](fabric::Host& host) {
      const auto talker = RawClient::connect(host, store.address());
      ASSERT_NE(talker, nullptr);
      while (talker->send({.kind = MessageKind::heartbeat}) && !is_over) {
        host.sleep_until(host.now_ns() + breach_timeout_ns / 5);
      }
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_LE(overwrite(host, client, 40), 2 * breach_timeout_ns);
      host.sleep_until(host.now_ns() + 2 * breach_timeout_ns);
      is_over = true;
      EXPECT_EQ(store.server()->inspect().statistics.clients_connected, 1U);
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 1U);
      EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, 0U);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
  }
}

TEST(ClientWhoseMessageHasTheWrongLength, IsExpelled) {
  fabric::FiberStackPool stacks;
  Store store(short_timeouts(1), stacks);
  store.add_host("babbler", [&](fabric::Host& host) {
    const auto babbler = RawClient::connect(host, store.address());
    ASSERT_NE(babbler, nullptr);
    const ControlMessage message;
    babbler->send_bytes(engine::bytes_of(message).first(8));
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, 1U);
    EXPECT_EQ(store.server()->inspect().last_breach, engine::Breach::malformed_message);
    EXPECT_EQ(store.server()->inspect().statistics.clients_connected, 0U);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
