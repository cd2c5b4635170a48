// Answers and costs of single operations on every transport, and the server's treatment of
// connections and messages that no correct client makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "stores/bytes.h"
#include "stores/two_sided/layout.h"
#include "stores/two_sided/port.h"
#include "tests/stores/two_sided/bytes.h"
#include "tests/stores/two_sided/store.h"

namespace falafel::two_sided_test {
namespace {

using fabric::Transport;
using two_sided::Answer;
using two_sided::Client;
using two_sided::Method;
using two_sided::Request;
using two_sided::Response;
using two_sided::ResponseCode;
using two_sided::Safeguards;
using two_sided::Waiting;

void store_read_and_delete(Client& client) {
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
  EXPECT_EQ(text_of(client.get(bytes_of("key")).value), "value");
  EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::stored);
  const auto empty = client.get(bytes_of("key"));
  EXPECT_EQ(empty.answer, Answer::found);
  EXPECT_TRUE(empty.value.empty());
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::deleted);
  EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
  EXPECT_EQ(client.ping().answer, Answer::found);
  EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
  EXPECT_EQ(client.reset().answer, Answer::deleted);
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
  client.close();
  EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
}

class Operations : public testing::TestWithParam<std::tuple<Transport, Waiting>> {
 protected:
  StoreOptions options() const {
    StoreOptions store;
    std::tie(store.options.transport, store.options.waiting) = GetParam();
    return store;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, Operations,
                         testing::Combine(testing::Values(Transport::reliable_connection,
                                                          Transport::unreliable_connection,
                                                          Transport::unreliable_datagram,
                                                          Transport::message_stream),
                                          testing::Values(Waiting::polling, Waiting::blocking)));

TEST_P(Operations, StoreReadAndDelete) {
  const StoreRun run =
      run_client(options(), [](fabric::Host&, Client& client) { store_read_and_delete(client); });
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.workers, 0U);
}

TEST_P(Operations, CostOneMessageEachWay) {
  const StoreRun run = run_client(options(), [&](fabric::Host&, Client& client) {
    const auto statistics = client.set(bytes_of("key"), bytes_of("value")).statistics;
    EXPECT_EQ(statistics.verbs, 1U);
    EXPECT_EQ(statistics.round_trips, 1U);
    EXPECT_EQ(statistics.bytes_sent, 352U);
    const bool has_header = options().options.uses_datagrams();
    EXPECT_EQ(statistics.bytes_received, 272U + (has_header ? 40U : 0U));
  });
  EXPECT_EQ(describe(run), "");
}

TEST_P(Operations, HaveLimits) {
  StoreOptions store = options();
  store.options.most_pairs = 1;
  const StoreRun run = run_client(store, [](fabric::Host&, Client& client) {
    const Bytes longest_key(two_sided::most_key_bytes, std::byte{'k'});
    const Bytes longest_value(two_sided::most_value_bytes, std::byte{'v'});
    EXPECT_EQ(client.set(longest_key, longest_value).answer, Answer::stored);
    EXPECT_EQ(client.get(longest_key).value, longest_value);
    EXPECT_EQ(client.set(bytes_of("another"), {}).answer, Answer::out_of_memory);
    const Bytes long_key(two_sided::most_key_bytes + 1, std::byte{'k'});
    const Bytes long_value(two_sided::most_value_bytes + 1, std::byte{'v'});
    EXPECT_EQ(client.set(long_key, {}).answer, Answer::value_too_large);
    EXPECT_EQ(client.set(bytes_of("key"), long_value).answer, Answer::value_too_large);
    EXPECT_EQ(client.get(long_key).answer, Answer::not_found);
    EXPECT_EQ(client.remove(long_key).answer, Answer::not_found);
    EXPECT_EQ(client.set({}, {}).answer, Answer::invalid_key);
    EXPECT_EQ(client.get({}).answer, Answer::invalid_key);
    EXPECT_EQ(client.remove({}).answer, Answer::invalid_key);
  });
  EXPECT_EQ(describe(run), "");
}

TEST_P(Operations, OfSeveralClientsAtOnce) {
  TestStore store(options());
  for (int number = 0; number < 4; ++number) {
    store.add_client([number](fabric::Host&, Client& client) {
      const Bytes key = bytes_of("key " + std::to_string(number));
      for (int round = 0; round < 10; ++round) {
        const Bytes value = bytes_of(std::to_string(round));
        EXPECT_EQ(client.set(key, value).answer, Answer::stored);
        EXPECT_EQ(client.get(key).value, value);
      }
      client.close();
    });
  }
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.statistics.pairs, 4U);
  EXPECT_EQ(run.server.statistics.workers, 0U);
}

TEST_P(Operations, EndIfTheServerHasStopped) {
  TestStore store(options());
  store.add_client([&](fabric::Host&, Client& client) {
    EXPECT_EQ(client.ping().answer, Answer::found);
    store.stop_server();
    EXPECT_EQ(client.set(bytes_of("key"), {}).answer, Answer::unknown_outcome);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
    // Only a client of RC or TCP gives its connection up.
    const bool is_reliable = options().options.is_reliable();
    EXPECT_EQ(client.remove(bytes_of("key")).answer,
              is_reliable ? Answer::disconnected : Answer::unknown_outcome);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST_P(Operations, AreOfOneTransport) {
  TestStore store(options());
  store.add_host("client", [&](fabric::Host& host) {
    two_sided::Options other = options().options;
    other.transport =
        other.is_reliable() ? Transport::unreliable_datagram : Transport::reliable_connection;
    const auto client = Client::connect(host, store.address(), other);
    ASSERT_FALSE(client);
    EXPECT_THAT(client.error().detail, testing::HasSubstr("the server uses"));
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST_P(Operations, OfAWorkerForEachClient) {
  StoreOptions single = options();
  single.options.max_clients = 1;
  TestStore store(single);
  store.add_host("client", [&](fabric::Host& host) {
    for (int round = 0; round < 3; ++round) {
      const auto client = Client::connect(host, store.address(), single.options);
      ASSERT_TRUE(client) << client.error().detail;
      EXPECT_EQ(store.server().statistics().workers, 1U);
      const auto refused = Client::connect(host, store.address(), single.options);
      ASSERT_FALSE(refused);
      EXPECT_THAT(refused.error().detail, testing::HasSubstr("the server has its 1 workers"));
      const Answer closed = (*client)->close().answer;
      const bool may_be_in_doubt = single.options.transport == Transport::unreliable_connection;
      EXPECT_TRUE(closed == Answer::deleted ||
                  (may_be_in_doubt && closed == Answer::unknown_outcome));
      while (store.server().statistics().workers > 0) {
        host.sleep_until(host.now_ns() + microsecond_ns);
      }
    }
  });
  EXPECT_EQ(describe(store.run()), "");
}

// -------------------------------------------------------------------------------------------------

// Sends a request as it is, and returns the code of the response.
ResponseCode answer_to(TestStore& store, fabric::Host& host, const two_sided::Options& options,
                       std::span<const std::byte> message) {
  auto port = two_sided::Port::create(
      host, options, {.received_bytes = sizeof(Response), .sent_bytes = sizeof(Request)});
  auto connected = host.device(0).connect(
      store.address(), (*port)->queue_pair_options(options.transport),
      stores::to_private_data(two_sided::ClientHello{}), host.now_ns() + millisecond_ns);
  (*port)->attach(std::move(connected->queue_pair));
  (*port)->post_receive(0);
  EXPECT_EQ((*port)->send(0, message, {}, fabric::never_ns), two_sided::PortOutcome::done);
  two_sided::Arrival arrival;
  EXPECT_EQ((*port)->receive(arrival, fabric::never_ns), two_sided::PortOutcome::done);
  return stores::from_bytes<Response>((*port)->message(arrival))->code;
}

TEST(Server, AnswersRequestsThatItCannotParse) {
  const two_sided::Options options = Types::small_options();
  TestStore store({.options = options});
  store.add_host("client", [&](fabric::Host& host) {
    Request request;
    request.request_number = 1;
    request.method = Method::get;
    const auto answer = [&](std::int32_t client) {
      request.client_id = client;
      return answer_to(store, host, options, stores::bytes_of(request));
    };
    EXPECT_EQ(answer(1), ResponseCode::parsing_error) << "the key is empty";
    request.key_bytes = two_sided::most_key_bytes + 1;
    EXPECT_EQ(answer(2), ResponseCode::parsing_error);
    request.key_bytes = 1;
    request.message_bytes = ~std::uint64_t{0};
    EXPECT_EQ(answer(3), ResponseCode::parsing_error);
    request.message_bytes = 0;
    request.method = static_cast<Method>(77);
    EXPECT_EQ(answer(4), ResponseCode::unknown_error);
  });
  StoreRun run = store.run();
  EXPECT_EQ(run.server.statistics.malformed_requests, 3U);
}

TEST(Server, AnswersMessagesThatAreTooShort) {
  const two_sided::Options options = Types::small_options();
  TestStore store({.options = options});
  store.add_host("client", [&](fabric::Host& host) {
    EXPECT_EQ(answer_to(store, host, options, bytes_of("hello")), ResponseCode::parsing_error);
  });
  EXPECT_EQ(store.run().server.statistics.malformed_requests, 1U);
}

TEST(Options, OutOfRangeAreRefused) {
  fabric::DeviceAttributes device;
  device.max_queue_requests = 100;
  device.max_completions = 100;
  EXPECT_EQ(find_invalid_option(two_sided::Options{}, device), std::nullopt);
  two_sided::Options options;
  options.buckets = 0;
  EXPECT_THAT(find_invalid_option(options, device).value(), testing::HasSubstr("buckets is 0"));
  options = {.transport = Transport::unreliable_datagram};
  EXPECT_THAT(find_invalid_option(options, device).value(), testing::HasSubstr("not support UD"));
  device.supports_unreliable_datagram = true;
  EXPECT_EQ(find_invalid_option(options, device), std::nullopt);
  device.mtu_bytes = 256;
  EXPECT_THAT(find_invalid_option(options, device).value(), testing::HasSubstr("MTU of 256"));
}

}  // namespace
}  // namespace falafel::two_sided_test
