// Endpoint, Connection and Datagrams: what each call does, which errors it names, and that requests
// in flight keep their own buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "explorer/check.h"
#include "explorer/check/datagrams.h"
#include "explorer/check/endpoint.h"
#include "fabric/text.h"

namespace falafel::check::endpoint_test {
namespace {

using fabric::bytes_of;
using fabric::text_of;
using testing::HasSubstr;

// The body is called in other processes, so what it finds wrong is a violation.
std::string explanation_of(const Body& body, const Network& network = {}) {
  const Options options{.name = "endpoint",
                        .schedules = 100,
                        .shrink_seconds = 1,
                        .output = testing::TempDir() + "check_endpoint_test",
                        .network = network};
  const Result result =
      run_campaign(WorldProgram(options.name, options.network, body), options, {});
  if (result.holds()) return "";
  return result.failures.front().property + ": " + result.failures.front().explanation;
}

void share_and_serve(World& world) {
  world.server("server", [](fabric::Host& host) {
    Endpoint endpoint(host);
    endpoint.share("words", 128);
    endpoint.share("constants", 64, {.remote_read = true});
    endpoint.serve();
  });
}

// The message of the exception that the call throws; empty: none of this type.
template <typename Exception>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.what();
  }
  return {};
}

TEST(Endpoint, CallsForOneRequest) {
  EXPECT_EQ(explanation_of([](World& world) {
              share_and_serve(world);
              world.client("client", [&](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto connection = endpoint.connect("server");
                const RemoteRegion& words = connection->region("words");
                connection->write(words, 8, 5);
                world.check(connection->read(words, 8) == 5, "write");
                world.check(connection->fetch_and_add(words, 8, 2) == 5, "fetch-and-add");
                world.check(connection->compare_and_swap(words, 8, 6, 9) == 7, "other word");
                world.check(connection->compare_and_swap(words, 8, 7, 9) == 7, "swap");
                world.check(connection->read(words, 8) == 9, "swapped");
              });
              world.run();
            }),
            "");
}

TEST(Endpoint, AChainKeepsItsOrderAndItsWords) {
  EXPECT_EQ(explanation_of([](World& world) {
              share_and_serve(world);
              world.client("client", [&](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto connection = endpoint.connect("server");
                const RemoteRegion& words = connection->region("words");
                const Outcome outcome =
                    connection->execute(Chain()
                                            .write(words, 0, 1)
                                            .fetch_and_add(words, 0, 1)
                                            .read(words, 0)
                                            .fenced()
                                            .masked_fetch_and_add(words, 0, 0x101, 0x80)
                                            .fenced()
                                            .masked_compare_and_swap(words, 0, 3, 0xff, 7, 0xff)
                                            .fenced()
                                            .read(words, 0)
                                            .fenced());
                world.check(outcome.word(1) == 1 && outcome.word(2) == 2, "chain.words");
                world.check(outcome.word(3) == 2 && outcome.word(4) == 0x103, "chain.masked");
                world.check(outcome.word(5) == 0x107, "chain.last");
                world.check(!message_of<std::logic_error>([&] { outcome.word(0); }).empty(),
                            "chain.no-word");
              });
              world.run();
            }),
            "");
}

TEST(Endpoint, ErrorsNameThePeerAndItsRegion) {
  EXPECT_EQ(
      explanation_of(
          [](World& world) {
            share_and_serve(world);
            world.client("client", [&](fabric::Host& host) {
              Endpoint endpoint(host);
              const auto connection = endpoint.connect("server");
              world.check(message_of<std::invalid_argument>([&] { connection->region("wards"); }) ==
                              "server shares no memory 'wards'; it shares: words, constants",
                          "unknown region");
              const RemoteRegion& constants = connection->region("constants");
              world.check(
                  message_of<std::out_of_range>([&] { connection->write(constants, 8, 1); }) ==
                      "WRITE of 8 bytes at byte 8 of server's 'constants' is outside of it, or "
                      "server does "
                      "not permit it",
                  "no right");
              bool is_disconnected = false;
              try {
                connection->read(constants, 0);
              } catch (const Disconnected&) {
                is_disconnected = true;
              }
              world.check(is_disconnected, "the failure has broken the connection");
              const auto second = endpoint.connect("server");
              const Outcome outcome = second->try_execute(
                  Chain().read(constants, 0).write(constants, 0, 1).read(constants, 0));
              world.check(outcome.status(0) == fabric::CompletionStatus::success &&
                              outcome.status(1) == fabric::CompletionStatus::remote_access_error &&
                              outcome.status(2) == fabric::CompletionStatus::flushed,
                          "statuses");
            });
            world.run();
          },
          // A delayed refusal can be a time-out.
          {.faults = {}}),
      "");
}

TEST(Endpoint, RequestsInFlightAreBounded) {
  EXPECT_EQ(explanation_of([](World& world) {
              share_and_serve(world);
              world.client("client", [&](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto connection =
                    endpoint.connect("server", {.send_buffers = 2, .buffer_bytes = 16});
                const RemoteRegion& words = connection->region("words");
                const Connection::Posted first = connection->post(Chain().write(words, 0, 1));
                const Connection::Posted second = connection->post(Chain().write(words, 8, 2));
                world.check(message_of<std::logic_error>([&] {
                              connection->post(Chain().write(words, 0, 3));
                            }) == "3 requests to server in flight are more than send_buffers, 2",
                            "too many");
                connection->wait(second);
                connection->wait(first);
                world.check(!message_of<std::logic_error>([&] { connection->wait(first); }).empty(),
                            "waited for twice");
                const auto words_read = connection->execute(Chain().read(words, 0).read(words, 8));
                world.check(words_read.word(0) == 1 && words_read.word(1) == 2, "both");
                world.check(!message_of<std::logic_error>([&] {
                               connection->execute(Chain().read(words, 0, 24));
                             }).empty(),
                            "too long");
              });
              world.run();
            }),
            "");
}

TEST(Endpoint, MessagesTravelBothWays) {
  EXPECT_EQ(explanation_of([](World& world) {
              world.server("server", [](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto connection = endpoint.accept();
                while (true) {
                  const std::string answer = "got " + text_of(connection->receive());
                  connection->send(bytes_of(answer));
                }
              });
              world.client("client", [&](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto connection = endpoint.connect("server");
                for (int message = 0; message < 6; ++message) {
                  connection->send(bytes_of(std::to_string(message)));
                  world.check(text_of(connection->receive()) == "got " + std::to_string(message),
                              "answer");
                }
                world.check(!connection->receive_until(host.now_ns() + 1'000), "silence");
              });
              world.run();
            }),
            "");
}

TEST(Endpoint, BothSidesShareMemory) {
  EXPECT_EQ(explanation_of([](World& world) {
              world.server("server", [](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto connection = endpoint.accept();
                connection->write(connection->region("inbox"), 0, 7);
                host.sleep_until(fabric::never_ns);
              });
              world.client("client", [&](fabric::Host& host) {
                Endpoint endpoint(host);
                const auto inbox = endpoint.share("inbox", 8);
                const auto connection = endpoint.connect("server");
                world.check(inbox->wait_until_changed(0, 0, fabric::never_ns) == 7, "inbox");
              });
              world.run();
            }),
            "");
}

TEST(Endpoint, RefusesNamesThatDoNotFit) {
  EXPECT_EQ(explanation_of([](World& world) {
              world.client("client", [&](fabric::Host& host) {
                Endpoint endpoint(host);
                endpoint.share("a name of twenty-four let", 8);
                world.check(!message_of<std::logic_error>([&] {
                               endpoint.share("and another one of that length", 8);
                             }).empty(),
                            "names");
              });
              world.run();
            }),
            "");
}

TEST(Datagrams, ArriveOrAreLost) {
  const auto body = [](World& world) {
    std::optional<std::uint32_t> number;
    std::vector<std::string> received;
    world.server("server", [&](fabric::Host& host) {
      Datagrams datagrams(host);
      number = datagrams.number();
      while (true) {
        const Datagrams::Received request = datagrams.receive();
        received.push_back(text_of(request.message));
        datagrams.send(request.source, request.message);
      }
    });
    world.client("client", [&](fabric::Host& host) {
      while (!number) host.sleep_until(host.now_ns() + 100);
      Datagrams datagrams(host);
      const fabric::DatagramAddress server = datagrams.resolve("server", *number);
      datagrams.send(server, bytes_of("hello"));
      const auto answer = datagrams.receive_until(host.now_ns() + 1'000'000'000);
      world.check(!answer || text_of(answer->message) == "hello", "answer");
      world.check(!message_of<std::logic_error>([&] {
                     datagrams.send(server, std::vector<std::byte>(257));
                   }).empty(),
                  "too long");
    });
    world.run();
    world.check(received.size() <= 1, "once");
    world.check(received.empty() || received.front() == "hello", "message");
  };
  EXPECT_EQ(explanation_of(body), "");
}

}  // namespace
}  // namespace falafel::check::endpoint_test
