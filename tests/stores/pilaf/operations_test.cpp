// Answers and costs of single operations, and the server's treatment of messages that no correct
// client sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "stores/bytes.h"
#include "stores/pilaf/messages.h"
#include "tests/stores/pilaf/bytes.h"
#include "tests/stores/pilaf/store.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::Answer;
using pilaf::Client;
using pilaf::GetPath;
using pilaf::GetResult;
using pilaf::Safeguards;

void store_read_and_delete(Client& client) {
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.contains(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
  EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
  EXPECT_EQ(client.contains(bytes_of("key")).answer, Answer::found);
  EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
  const GetResult empty = client.get(bytes_of("key"));
  EXPECT_EQ(empty.answer, Answer::found);
  EXPECT_TRUE(empty.value.empty());
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::deleted);
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.ping().answer, Answer::found);
}

TEST(Operations, StoreReadAndDelete) {
  for (const std::uint32_t ways : {1U, 2U, 3U}) {
    for (const Safeguards& safeguards : {Safeguards::published(), Safeguards::hardened()}) {
      StoreOptions options;
      options.options.ways = ways;
      options.options.safeguards = safeguards;
      const StoreRun run =
          run_client(options, [](fabric::Host&, Client& client) { store_read_and_delete(client); });
      EXPECT_EQ(describe(run), "");
    }
  }
}

TEST(Operations, StoreReadAndDeleteByMessagesAlone) {
  StoreOptions options;
  options.options.gets = GetPath::messages;
  const StoreRun run = run_client(options, [](fabric::Host&, Client& client) {
    store_read_and_delete(client);
    EXPECT_EQ(client.statistics().probes, 0U);
    EXPECT_EQ(client.statistics().verbs, client.statistics().round_trips);
  });
  EXPECT_EQ(describe(run), "");
}

TEST(Operations, CostWhatThePaperSays) {
  StoreOptions options;
  options.options.table_entries = 4'096;  // nearly empty: every key is in its first slot
  run_client(options, [](fabric::Host&, Client& client) {
    const auto put = client.set(bytes_of("key"), bytes_of("value")).statistics;
    EXPECT_EQ(put.verbs, 1U);
    EXPECT_EQ(put.round_trips, 1U);
    EXPECT_EQ(put.bytes_sent, 16U + 8U);
    EXPECT_EQ(put.bytes_received, 16U);
    const auto get = client.get(bytes_of("key")).statistics;
    EXPECT_EQ(get.probes, 1U);
    EXPECT_EQ(get.round_trips, 2U);
    EXPECT_EQ(get.bytes_received, 32U + 16U);
    const auto absent = client.get(bytes_of("other")).statistics;
    EXPECT_EQ(absent.probes, 3U);
    EXPECT_EQ(absent.round_trips, 3U);
  });
}

TEST(Operations, ProbeAheadSavesRoundTrips) {
  StoreOptions options;
  options.options.table_entries = 4'096;
  options.options.probe_ahead = 3;
  run_client(options, [](fabric::Host&, Client& client) {
    const auto absent = client.get(bytes_of("other")).statistics;
    EXPECT_EQ(absent.verbs, 3U);
    EXPECT_EQ(absent.round_trips, 1U);
  });
}

TEST(Operations, ValidatingAbsenceCostsOneRoundTrip) {
  StoreOptions options;
  options.options.table_entries = 4'096;
  options.options.safeguards = Safeguards::hardened();
  run_client(options, [](fabric::Host&, Client& client) {
    const auto absent = client.get(bytes_of("other")).statistics;
    EXPECT_EQ(absent.verbs, 6U);
    EXPECT_EQ(absent.round_trips, 4U);
    client.set(bytes_of("key"), bytes_of("value"));
    EXPECT_EQ(client.get(bytes_of("key")).statistics.round_trips, 2U);
  });
}

TEST(Operations, RefuseWhatDoesNotFit) {
  const StoreRun run = run_client({}, [](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set({}, bytes_of("value")).answer, Answer::invalid_key);
    EXPECT_EQ(client.get({}).answer, Answer::invalid_key);
    EXPECT_EQ(client.remove({}).answer, Answer::invalid_key);
    const Bytes key = bytes_of("key");
    EXPECT_EQ(client.set(key, Bytes(512 - 16 - 3)).answer, Answer::stored);
    EXPECT_EQ(client.set(key, Bytes(512 - 16 - 2)).answer, Answer::value_too_large);
    EXPECT_EQ(client.get(key).value.size(), 512U - 16 - 3);
    EXPECT_EQ(client.get(Bytes(600)).answer, Answer::not_found);
  });
  EXPECT_EQ(describe(run), "");
}

TEST(Operations, AnswerDisconnectedWhenTheServerIsGone) {
  TestStore store(StoreOptions{});
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    store.simulation().crash("server");
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::disconnected);
  });
  store.run();
}

TEST(Operations, GiveUpAReplyThatDoesNotCome) {
  TestStore store(StoreOptions{});
  store.add_client([&](fabric::Host&, Client& client) {
    store.stop_server();  // its device still answers READs and takes messages
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::unknown_outcome);
  });
  store.run();
}

// Sends one message of its own making.
void send_raw(fabric::Host& host, const fabric::Address& server, std::uint64_t client_id,
              const Bytes& message) {
  auto domain = host.device(0).create_protection_domain();
  auto completions = host.device(0).create_completion_queue(64).value();
  auto block = host.allocate_memory(512).value();
  auto region = domain->register_memory(block, 0, 512, {.local_write = true}).value();
  auto connection =
      host.device(0)
          .connect(server,
                   {.protection_domain = domain.get(),
                    .send_completions = completions.get(),
                    .receive_completions = completions.get()},
                   stores::to_private_data(pilaf::ClientHello{.client_id = client_id}),
                   host.now_ns() + 10 * millisecond_ns)
          .value();
  std::copy(message.begin(), message.end(), block->bytes().begin());
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(message.size());
  request.local = {.key = region->local_key(), .offset = 0};
  ASSERT_TRUE(connection.queue_pair->post_send({&request, 1}));
  completions->wait(host.now_ns() + 10 * millisecond_ns);
}

Bytes message_of(const pilaf::RequestHeader& header, std::size_t content_bytes) {
  Bytes message = stores::to_private_data(header);
  message.resize(message.size() + content_bytes, std::byte{'k'});
  return message;
}

TEST(Server, TakesDownClientsWithMalformedRequests) {
  using pilaf::RequestKind;
  const std::vector<Bytes> malformed{
      Bytes(3),
      message_of({.kind = RequestKind::put, .key_bytes = 4, .value_bytes = 4}, 7),
      message_of({.kind = RequestKind::put, .key_bytes = 0, .value_bytes = 4}, 4),
      message_of({.kind = RequestKind::put, .key_bytes = ~0U, .value_bytes = 2}, 1),
      message_of({.kind = RequestKind::remove, .key_bytes = 4, .value_bytes = 4}, 8),
      message_of({.kind = static_cast<RequestKind>(99), .key_bytes = 4}, 4)};
  TestStore store(StoreOptions{});
  store.add_host("stranger", [&](fabric::Host& host) {
    for (std::size_t index = 0; index < malformed.size(); ++index) {
      send_raw(host, store.address(), index, malformed[index]);
    }
  });
  store.add_client([](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
  });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.malformed_requests, malformed.size());
  EXPECT_EQ(run.server.statistics.keys, 1U);
}

TEST(Server, RefusesStrangersAndMoreClientsThanItTakes) {
  StoreOptions options;
  options.options.max_clients = 1;
  TestStore store(options);
  store.add_client([&](fabric::Host& host, Client&) {
    const auto second = Client::connect(host, store.address(), options.options);
    EXPECT_EQ(second.error().code, fabric::ErrorCode::connection_refused);
    const auto domain = host.device(0).create_protection_domain();
    const auto completions = host.device(0).create_completion_queue(64).value();
    const auto stranger = host.device(0).connect(store.address(),
                                                 {.protection_domain = domain.get(),
                                                  .send_completions = completions.get(),
                                                  .receive_completions = completions.get()},
                                                 bytes_of("hello"), fabric::never_ns);
    EXPECT_EQ(stranger.error().code, fabric::ErrorCode::connection_refused);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Server, NamesTheOptionThatIsOutOfRange) {
  TestStore store(StoreOptions{});
  store.add_client([&](fabric::Host& host, Client&) {
    pilaf::Options options = Types::small_options();
    options.extents_bytes = 3 * 64;
    const auto server = pilaf::Server::start(host, options);
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, fabric::ErrorCode::invalid_argument);
    EXPECT_THAT(server.error().detail, testing::HasSubstr("extents_bytes is 192"));
    options = Types::small_options();
    options.ways = 4;
    EXPECT_THAT(Client::connect(host, store.address(), options).error().detail,
                testing::HasSubstr("ways is 4"));
  });
  EXPECT_EQ(describe(store.run()), "");
}

}  // namespace
}  // namespace falafel::pilaf_test
