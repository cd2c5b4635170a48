// How many round trips each operation of the replicated registers takes, alone and after a write of
// another client.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/check.h"
#include "stores/replicated/client.h"
#include "stores/replicated/server.h"

namespace falafel::replicated_test {
namespace {

using replicated::Answer;
using replicated::Client;

constexpr std::uint64_t servers = 3;
constexpr std::uint64_t key = 1;
constexpr std::string_view value = "0123456789abcdef";

std::string name_of(std::uint64_t server) { return "server " + std::to_string(server); }

std::unique_ptr<Client> connect(fabric::Host& host, std::uint32_t writer,
                                const replicated::Options& options) {
  std::vector<stores::Member> members;
  for (std::uint64_t server = 0; server < servers; ++server) {
    members.push_back(
        {.address = {.host = name_of(server), .service = options.service}, .incarnation = server});
  }
  return *Client::create(host, writer, members, options);
}

Answer set(Client& client) { return client.set(key, std::as_bytes(std::span(value))); }

// One client's host, with two clients of the registers that act in turns. The body returns a
// message, or nothing.
using Body = std::function<std::string(fabric::Host& host, Client& client, Client& other)>;

void run_in_many_schedules(const replicated::Options& options, const Body& body) {
  const auto result = check::random(
      {.schedules = 100, .network = {.faults = {}}}, [&options, &body](check::World& world) {
        std::uint64_t started = 0;
        for (std::uint64_t server = 0; server < servers; ++server) {
          world.server(name_of(server), [&, server](fabric::Host& host) {
            const auto running = replicated::start_server(host, server, options);
            ++started;
            host.create_event()->wait(fabric::never_ns);
          });
        }
        world.client("client", [&](fabric::Host& host) {
          while (started < servers) host.sleep_until(host.now_ns() + 1'000);
          const auto client = connect(host, 0, options);
          const auto other = connect(host, 1, options);
          const std::string problem = body(host, *client, *other);
          world.check(problem.empty(), "replicated.round-trips", problem);
        });
        world.run();
      });
  EXPECT_TRUE(result.holds()) << result.story();
}

// Lets what an operation has left to do arrive at all servers.
void settle(fabric::Host& host) { host.sleep_until(host.now_ns() + 10'000'000); }

std::string expect(std::string_view what, const Client& client, std::uint64_t before,
                   std::uint64_t expected) {
  const std::uint64_t taken = client.round_trips() - before;
  if (taken == expected) return {};
  return std::string(what) + " took " + std::to_string(taken) + " round trips, not " +
         std::to_string(expected);
}

TEST(ReplicatedRoundTrips, ASetOfAnUnknownKeyTakesTwoAndOfAKnownOneTakesOne) {
  run_in_many_schedules({}, [](fabric::Host& host, Client& client, Client&) -> std::string {
    if (set(client) != Answer::stored) return "not stored";
    if (auto problem = expect("the first SET", client, 0, 2); !problem.empty()) return problem;
    settle(host);
    if (set(client) != Answer::stored) return "not stored";
    return expect("the second SET", client, 2, 1);
  });
}

TEST(ReplicatedRoundTrips, WithoutGuessesEverySetTakesTwo) {
  run_in_many_schedules({.guesses = false},
                        [](fabric::Host& host, Client& client, Client&) -> std::string {
                          set(client);
                          settle(host);
                          set(client);
                          return expect("two SETs", client, 0, 4);
                        });
}

TEST(ReplicatedRoundTrips, AGetTakesTwoAndOneIfTheLocationIsKnown) {
  run_in_many_schedules({}, [](fabric::Host& host, Client& client, Client& other) -> std::string {
    set(other);
    settle(host);
    if (client.get(key).answer != Answer::found) return "not found";
    if (auto problem = expect("the first GET", client, 0, 2); !problem.empty()) return problem;
    // The home server may have been the last one to answer, and is then not known yet.
    settle(host);
    client.get(key);
    const std::uint64_t before = client.round_trips();
    client.get(key);
    const std::uint64_t taken = client.round_trips() - before;
    return taken <= 2 ? std::string() : "a later GET took " + std::to_string(taken);
  });
}

TEST(ReplicatedRoundTrips, ASetThatAnotherClientHasOvertakenTakesThree) {
  run_in_many_schedules({}, [](fabric::Host& host, Client& client, Client& other) -> std::string {
    set(client);
    settle(host);
    // Two writes, so that their stamps are higher than the guess.
    set(other);
    set(other);
    settle(host);
    const std::uint64_t before = client.round_trips();
    if (set(client) != Answer::stored) return "not stored";
    if (client.statistics().withdrawn != 1) return "the guess was not withdrawn";
    return expect("the SET", client, before, 3);
  });
}

TEST(ReplicatedRoundTrips, AReaderThatFindsAGuessMarksIt) {
  run_in_many_schedules({}, [](fabric::Host& host, Client& client, Client& other) -> std::string {
    set(client);
    settle(host);
    set(client);
    if (other.get(key).answer != Answer::found) return "not found";
    // READ, READ, mark, container: or READ and container if the word was settled meanwhile.
    return other.round_trips() <= 5 ? std::string() : "the GET took too many round trips";
  });
}

}  // namespace
}  // namespace falafel::replicated_test
