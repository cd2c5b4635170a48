// Clients that do not answer requests, take too many resources, or send invalid messages. The
// server gives up on them within a bound, and other clients are not affected.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "engine/server/client_channel.h"
#include "tests/engine/store.h"
#include "tools/scenarios/store/raw_client.h"

namespace falafel::engine_test {
namespace {

using engine::ControlMessage;
using engine::MessageKind;
using store_scenario::RawClient;

constexpr std::uint64_t breach_timeout_ns = 10 * millisecond_ns;

StoreOptions short_timeouts(std::uint64_t seed) {
  StoreOptions options;
  options.seed = seed;
  options.server.heartbeat_timeout_ns = breach_timeout_ns;
  options.server.geometry = {.table_entries = 16, .region_bytes = 1'024, .region_count = 4};
  return options;
}

// Fills several regions, so that collections send quiescence requests. Returns the duration of the
// longest SET.
std::uint64_t overwrite(fabric::Host& host, Client& client, int times) {
  std::uint64_t longest_ns = 0;
  for (int number = 0; number < times; ++number) {
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_EQ(client.set(bytes_of("key"), Bytes(400, std::byte{1})).answer, Answer::stored);
    longest_ns = std::max(longest_ns, host.now_ns() - start_ns);
  }
  return longest_ns;
}

// The client sends its heartbeats but never answers requests.
TEST(ClientThatIsSilentAboutQuiescence, IsGivenUpWithinTheHeartbeatTimeout) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    TestStore store(short_timeouts(seed), stacks);
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

// The client sends its heartbeats but never answers whether its operations have ended.
TEST(ClientThatIsSilentAboutItsOperations, IsFencedInThreeTimeouts) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    TestStore store(short_timeouts(seed), stacks);
    store.add_host("talker", [&](fabric::Host& host) {
      const auto talker = RawClient::connect(host, store.address());
      ASSERT_NE(talker, nullptr);
      while (talker->send({.kind = MessageKind::heartbeat})) {
        while (talker->receive(host.now_ns())) {
        }
        host.sleep_until(host.now_ns() + breach_timeout_ns / 5);
      }
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      host.sleep_until(host.now_ns() + millisecond_ns);
      const std::uint64_t start_ns = host.now_ns();
      EXPECT_TRUE(client.wait_for_end_of_operations(10 * breach_timeout_ns));
      EXPECT_GE(host.now_ns(), start_ns + 3 * breach_timeout_ns);
      EXPECT_LE(host.now_ns(), start_ns + 4 * breach_timeout_ns);
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 1U);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
  }
}

using Offence = std::function<void(fabric::Host&, RawClient&)>;

// Commits the offense after connecting and expects to be expelled immediately.
void expect_expelled(const Offence& offence, engine::Breach breach,
                     std::uint32_t receive_requests = 16) {
  fabric::FiberStackPool stacks;
  TestStore store(short_timeouts(1), stacks);
  store.add_host("offender", [&](fabric::Host& host) {
    const auto offender =
        RawClient::connect(host, store.address(), {.receive_requests = receive_requests});
    ASSERT_NE(offender, nullptr);
    EXPECT_TRUE(offender->send({.kind = MessageKind::heartbeat}));
    host.sleep_until(host.now_ns() + millisecond_ns);
    EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, 0U);
    offence(host, *offender);
    host.sleep_until(host.now_ns() + millisecond_ns);
    const engine::ServerInspection inspection = store.server()->inspect();
    EXPECT_EQ(inspection.statistics.clients_expelled, 1U);
    EXPECT_EQ(inspection.statistics.clients_connected, 0U);
    ASSERT_TRUE(inspection.last_breach.has_value());
    EXPECT_EQ(*inspection.last_breach, breach) << to_string(*inspection.last_breach);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

void expect_expelled_for(const ControlMessage& message) {
  expect_expelled([&](fabric::Host&, RawClient& client) { client.send(message); },
                  engine::Breach::malformed_message);
}

TEST(ClientThatTalksNonsense, IsExpelled) {
  expect_expelled(
      [](fabric::Host&, RawClient& client) {
        client.send_bytes(engine::bytes_of(ControlMessage{}).first(8));
      },
      engine::Breach::malformed_message);
  expect_expelled_for({.kind = static_cast<MessageKind>(0)});
  expect_expelled_for({.kind = static_cast<MessageKind>(0xdead'beef)});
  expect_expelled_for({.kind = MessageKind::grant_region});  // a message that only servers send
  expect_expelled_for({.kind = MessageKind::release_region});
  expect_expelled_for({.kind = MessageKind::release_region, .region = 0xffff'ffff});
  expect_expelled_for({.kind = MessageKind::heartbeat, .epoch = 1});
  expect_expelled_for({.kind = MessageKind::operations_ended});  // the server has not asked
}

TEST(ClientThatReleasesARegionTwice, IsExpelled) {
  expect_expelled(
      [](fabric::Host& host, RawClient& client) {
        client.send({.kind = MessageKind::request_region});
        const auto grant = client.receive(host.now_ns() + millisecond_ns);
        ASSERT_TRUE(grant && grant->kind == MessageKind::grant_region);
        const ControlMessage release{.kind = MessageKind::release_region,
                                     .region = grant->region,
                                     .incarnation = grant->incarnation};
        client.send(release);
        client.send(release);
      },
      engine::Breach::malformed_message);
}

// Both requests arrive before an answer is sent.
TEST(ClientThatAsksAgainBeforeItWasAnswered, IsExpelled) {
  fabric::FiberStackPool stacks;
  for (const MessageKind kind : {MessageKind::request_region, MessageKind::request_end}) {
    TestStore store(short_timeouts(1), stacks);
    store.add_host("greedy", [&](fabric::Host& host) {
      const auto greedy = RawClient::connect(host, store.address());
      ASSERT_NE(greedy, nullptr);
      store.simulation().pause("server", 100 * microsecond_ns);
      EXPECT_TRUE(greedy->send({.kind = kind}));
      EXPECT_TRUE(greedy->send({.kind = kind}));
      host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_EQ(store.server()->inspect().last_breach, engine::Breach::too_many_messages);
      EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, 1U);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
  }
}

TEST(ClientThatSendsAndDoesNotReceive, IsExpelled) {
  expect_expelled(
      [](fabric::Host&, RawClient& client) {
        for (int count = 0; count < 40; ++count) client.send({.kind = MessageKind::heartbeat});
      },
      engine::Breach::too_many_messages, 0);
}

// The server's messages stay in flight. Until all its buffers are, each of them confirms half of
// the credits. The client may then use all its credits once more.
TEST(ClientThatSendsAndDoesNotReceive, MayUseAllItsCredits) {
  fabric::FiberStackPool stacks;
  TestStore store(short_timeouts(1), stacks);
  store.add_host("sender", [&](fabric::Host& host) {
    const auto sender = RawClient::connect(host, store.address(), {.receive_requests = 0});
    ASSERT_NE(sender, nullptr);
    const auto send = [&] {
      EXPECT_TRUE(sender->send({.kind = MessageKind::heartbeat}));
      host.sleep_until(host.now_ns() + 50 * microsecond_ns);
    };
    constexpr std::uint64_t confirmed =
        engine::ClientChannel::send_count * engine::message_credits / 2;
    for (std::uint64_t count = 0; count < confirmed + engine::message_credits; ++count) send();
    EXPECT_EQ(store.server()->inspect().statistics.clients_expelled, 0U);
    send();
    EXPECT_EQ(store.server()->inspect().last_breach, engine::Breach::too_many_messages);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// The client sends as fast as the network permits. A client that also reads its messages does not
// violate the protocol, but others must not wait longer than for the messages that it may have in
// flight.
TEST(ClientThatFloods, DelaysNobody) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    TestStore store(short_timeouts(seed), stacks);
    bool is_over = false;
    std::uint64_t messages = 0;
    store.add_host("flooder", [&](fabric::Host& host) {
      const auto flooder = RawClient::connect(host, store.address());
      ASSERT_NE(flooder, nullptr);
      std::uint64_t epoch = 0;
      while (!is_over) {
        EXPECT_TRUE(flooder->send({.kind = MessageKind::heartbeat, .epoch = epoch}));
        ++messages;
        while (const auto message = flooder->receive(host.now_ns())) {
          if (message->kind == MessageKind::ask_for_quiescence) epoch = message->epoch;
        }
      }
    });
    store.add_client([&](fabric::Host& host, Client& client) {
      host.sleep_until(host.now_ns() + millisecond_ns);
      EXPECT_LE(overwrite(host, client, 40), millisecond_ns);
      is_over = true;
      EXPECT_EQ(store.server()->inspect().statistics.clients_fenced, 0U);
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << describe(run);
    EXPECT_GT(messages, 100U);
  }
}

}  // namespace
}  // namespace falafel::engine_test
