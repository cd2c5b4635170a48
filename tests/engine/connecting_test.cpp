// Starting and connecting: options out of range, peers that are not servers, servers of another
// version, and invalid superblocks. Each case is an error that names the problem.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/layout/control_message.h"
#include "engine/layout/superblock.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using fabric::ErrorCode;

constexpr std::uint16_t service = 7;
const fabric::Address server_address{.host = "server", .service = service};

std::optional<fabric::Error> error_of(const auto& result) {
  if (result.has_value()) return std::nullopt;
  return result.error();
}

void expect_error(const std::optional<fabric::Error>& error, ErrorCode code,
                  std::string_view named) {
  ASSERT_TRUE(error.has_value()) << "no error about " << named;
  EXPECT_EQ(error->code, code) << error->detail;
  EXPECT_NE(error->detail.find(named), std::string::npos) << named << ": " << error->detail;
}

struct HostOfTest {
  HostBody body = [](fabric::Host&) {};
  std::uint32_t max_queue_requests = 100;
  std::uint32_t max_completions = 10'000;
};

// Runs two hosts, named "server" and "client".
void run_hosts(const HostOfTest& server, const HostOfTest& client) {
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions options;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "server",
                       .role = sim::Role::server,
                       .max_queue_requests = server.max_queue_requests,
                       .max_completions = server.max_completions},
                      server.body);
  simulation.add_host({.name = "client",
                       .max_queue_requests = client.max_queue_requests,
                       .max_completions = client.max_completions},
                      client.body);
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
}

// Options

void expect_server_refused(const engine::ServerOptions& options, std::string_view named) {
  run_hosts({[&](fabric::Host& host) {
              expect_error(error_of(Server::start(host, options)), ErrorCode::invalid_argument,
                           named);
            }},
            {});
}

TEST(ServerOptions, OutOfRangeAreNamed) {
  expect_server_refused({.geometry = {.unit_bytes = 16}}, "unit_bytes");
  expect_server_refused({.geometry = {.table_entries = 0}}, "table_entries");
  expect_server_refused({.geometry = {.region_bytes = 65'537}}, "region_bytes");
  expect_server_refused({.geometry = {.region_count = 0}}, "region_count");
  expect_server_refused({.geometry = {.mature_bytes = 65'528}}, "mature_bytes");
  expect_server_refused({.geometry = {.tag_bits = 31}}, "tag_bits");
  expect_server_refused({.max_clients = 0}, "max_clients");
  expect_server_refused({.heartbeat_timeout_ns = 0}, "heartbeat_timeout_ns");
  expect_server_refused({.cleanup_percent = 101}, "cleanup_percent");
  expect_server_refused({.cleanup_interval_ns = 0}, "cleanup_interval_ns");
  expect_server_refused({.pipelined_updates = 0}, "pipelined_updates");
  expect_server_refused({.pipelined_updates = 65}, "pipelined_updates");
}

TEST(ServerOptions, ServiceMustBeFree) {
  run_hosts({[](fabric::Host& host) {
              const auto first = Server::start(host, {.service = service});
              ASSERT_TRUE(first) << first.error().detail;
              expect_error(error_of(Server::start(host, {.service = service})),
                           ErrorCode::address_in_use, "");
            }},
            {});
}

// A failed start undoes its earlier steps, so that the program can retry immediately.
TEST(ServerOptions, AStartThatFailsLeavesTheServiceFree) {
  fabric::FiberStackPool stacks;
  sim::SimulationOptions options;
  options.set_fault_rate(sim::FaultKind::registration_failure, 4);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto strategy = sim::make_strategy(options, seed);
    sim::Simulation simulation(options, *strategy, stacks);
    simulation.add_host({.name = "server", .role = sim::Role::server}, [](fabric::Host& host) {
      for (;;) {
        const auto server = Server::start(host, {.service = service});
        if (server) return;
        ASSERT_EQ(server.error().code, ErrorCode::out_of_memory) << server.error().detail;
      }
    });
    const sim::RunResult result = simulation.run();
    EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
  }
}

void expect_client_refused(const engine::ClientOptions& options, std::string_view named) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_host("client", [&](fabric::Host& host) {
    expect_error(error_of(Client::connect(host, store.address(), options)),
                 ErrorCode::invalid_argument, named);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(ClientOptions, OutOfRangeAreNamed) {
  expect_client_refused({.readahead = {.chunk_entries = 0}}, "chunk_entries");
  expect_client_refused({.readahead = {.container_bytes = 23}}, "container_bytes");
  expect_client_refused({.readahead = {.containers = 0}}, "containers");
  expect_client_refused({.readahead = {.containers = 9}}, "containers");
  expect_client_refused({.max_operations_in_flight = 0}, "max_operations_in_flight");
  expect_client_refused({.renewal_percent = 0}, "renewal_percent");
  expect_client_refused({.renewal_percent = 101}, "renewal_percent");
  expect_client_refused({.connect_timeout_ns = fabric::never_ns}, "connect_timeout_ns");
  expect_client_refused({.server_timeout_ns = fabric::never_ns}, "server_timeout_ns");
}

TEST(ClientOptions, ReadAheadNoMoreThanOneRequestOfTheDevice) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.simulation.max_message_bytes = 4'096;
  TestStore store(options, stacks);
  store.add_host("client", [&](fabric::Host& host) {
    const auto connect = [&](const engine::ReadaheadOptions& readahead) {
      return error_of(Client::connect(host, store.address(), {.readahead = readahead}));
    };
    EXPECT_FALSE(connect({.chunk_entries = 512, .container_bytes = 4'096}));
    expect_error(connect({.chunk_entries = 513}), ErrorCode::invalid_argument, "chunk_entries");
    expect_error(connect({.container_bytes = 4'097}), ErrorCode::invalid_argument,
                 "container_bytes");
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(ClientOptions, AtTheEndsOfTheirRangesWork) {
  std::vector<engine::ClientOptions> extremes(5);
  extremes[0].readahead = {.chunk_entries = 1, .container_bytes = 24, .containers = 1};
  extremes[1].readahead = {.chunk_entries = 10'000, .container_bytes = 70'000, .containers = 8};
  extremes[2].max_operations_in_flight = 1;
  extremes[3].renewal_percent = 1;
  extremes[4].renewal_percent = 100;
  for (std::size_t index = 0; index < extremes.size(); ++index) {
    fabric::FiberStackPool stacks;
    StoreOptions options;
    options.client = extremes[index];
    options.server.geometry = {.table_entries = 3, .region_bytes = 256};
    TestStore store(options, stacks);
    store.add_client([&](fabric::Host&, Client& client) {
      for (int number = 0; number < 40; ++number) {
        const Bytes key = bytes_of(fmt::format("key {}", number % 3));
        const Bytes value(static_cast<std::size_t>(number), std::byte{1});
        EXPECT_EQ(client.set(key, value).answer, Answer::stored) << index;
        EXPECT_EQ(client.get(key).value, value) << index;
      }
    });
    const StoreRun run = store.run();
    EXPECT_TRUE(run.problems.empty()) << index << ": " << describe(run);
  }
}

// Devices with short queues

std::optional<fabric::Error> start_server(std::uint32_t max_queue_requests,
                                          std::uint32_t max_completions,
                                          const engine::ServerOptions& options) {
  std::optional<fabric::Error> error;
  run_hosts({.body = [&](fabric::Host& host) { error = error_of(Server::start(host, options)); },
             .max_queue_requests = max_queue_requests,
             .max_completions = max_completions},
            {});
  return error;
}

TEST(SmallDevices, OfServersAreNamed) {
  const engine::ServerOptions small{.max_clients = 1, .pipelined_updates = 8};
  EXPECT_FALSE(start_server(8, 12, small));
  expect_error(start_server(7, 12, small), ErrorCode::unsupported, "max_queue_requests");
  expect_error(start_server(8, 11, small), ErrorCode::unsupported, "max_completions");
  expect_error(start_server(8, 100, {.max_clients = 9, .pipelined_updates = 8}),
               ErrorCode::invalid_argument, "max_clients is 9 but must be from 1 to 8");
  expect_error(start_server(8, 100, {.max_clients = 1, .pipelined_updates = 9}),
               ErrorCode::invalid_argument, "pipelined_updates is 9 but must be from 1 to 8");
  expect_error(start_server(100, 12, {.max_clients = 1, .pipelined_updates = 12}),
               ErrorCode::invalid_argument, "pipelined_updates is 12 but must be from 1 to 11");
}

// Connects a client and uses it. One chain of requests reads up to `containers` and the entries
// again.
std::optional<fabric::Error> use_client(std::uint32_t max_queue_requests,
                                        std::uint32_t max_completions, std::uint32_t containers) {
  std::optional<fabric::Error> error;
  run_hosts({[](fabric::Host& host) {
              host.spawn({.name = "serving", .daemon = true}, [&host] {
                const auto server =
                    Server::start(host, {.geometry = {.table_entries = 16}, .service = service});
                host.sleep_until(fabric::never_ns);
              });
            }},
            {.body =
                 [&](fabric::Host& host) {
                   host.sleep_until(millisecond_ns);
                   const auto client = Client::connect(
                       host, server_address,
                       {.readahead = {.containers = containers, .adaptive = false}});
                   error = error_of(client);
                   for (int number = 0; client && number < 14; ++number) {
                     const Bytes key = bytes_of(fmt::format("key {}", number));
                     EXPECT_EQ((*client)->set(key, key).answer, Answer::stored);
                     EXPECT_EQ((*client)->get(key).value, key);
                     EXPECT_EQ((*client)->get(bytes_of("none")).answer, Answer::not_found);
                   }
                 },
             .max_queue_requests = max_queue_requests,
             .max_completions = max_completions});
  return error;
}

TEST(SmallDevices, OfClientsAreNamed) {
  EXPECT_FALSE(use_client(9, 9, 8));
  EXPECT_FALSE(use_client(4, 4, 3));
  expect_error(use_client(8, 9, 8), ErrorCode::invalid_argument,
               "readahead.containers is 8 but must be from 1 to 7");
  expect_error(use_client(9, 8, 8), ErrorCode::invalid_argument,
               "readahead.containers is 8 but must be from 1 to 7");
  expect_error(use_client(3, 9, 1), ErrorCode::unsupported, "max_queue_requests");
  expect_error(use_client(9, 3, 1), ErrorCode::unsupported, "max_completions");
}

// No server, or too many clients

TEST(Connecting, WhereNobodyListensIsRefused) {
  run_hosts({}, {[](fabric::Host& host) {
              expect_error(error_of(Client::connect(host, server_address, {})),
                           ErrorCode::connection_refused, "");
            }});
}

TEST(Connecting, ToADeadServerIsGivenUpInTime) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.client.connect_timeout_ns = 20 * millisecond_ns;
  TestStore store(options, stacks);
  store.add_host("client", [&](fabric::Host& host) {
    store.simulation().crash("server");
    const std::uint64_t start_ns = host.now_ns();
    EXPECT_FALSE(store.connect(host));
    EXPECT_LE(host.now_ns(), start_ns + 30 * millisecond_ns);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

TEST(Connecting, OneClientTooManyIsToldSo) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.max_clients = 2;
  TestStore store(options, stacks);
  store.add_host("clients", [&](fabric::Host& host) {
    const auto first = store.connect(host);
    auto second = store.connect(host);
    ASSERT_TRUE(first && second);
    expect_error(error_of(store.connect(host)), ErrorCode::connection_refused,
                 "maximum of 2 clients");
    EXPECT_EQ((*first)->set(bytes_of("key"), {}).answer, Answer::stored);
    second->reset();
    host.sleep_until(host.now_ns() + 2 * engine::ServerOptions{}.heartbeat_timeout_ns);
    const auto third = store.connect(host);
    ASSERT_TRUE(third) << third.error().detail;
    EXPECT_EQ((*third)->get(bytes_of("key")).answer, Answer::found);
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

// Peers that are not servers

struct FakeServer {
  std::function<void(engine::ServerHello&)> alter_hello = [](engine::ServerHello&) {};
  std::function<void(engine::Superblock&)> alter_superblock = [](engine::Superblock&) {};
  std::size_t hello_bytes = sizeof(engine::ServerHello);
};

// Replies like a server with the default geometry, with alterations; keeps its memory until the
// end.
void serve_falsely(fabric::Host& host, const FakeServer& fake) {
  const engine::Geometry geometry;
  const auto domain = host.device(0).create_protection_domain();
  const auto completions = host.device(0).create_completion_queue(128).value();
  const auto memory = host.allocate_memory(geometry.chunk_bytes()).value();
  engine::Superblock superblock = engine::make_superblock(geometry, {}, 1);
  fake.alter_superblock(superblock);
  memory->write(0, engine::to_bytes(superblock));
  const auto region =
      domain->register_memory(memory, 0, geometry.chunk_bytes(), {.remote_read = true}).value();
  engine::ServerHello hello{.chunk_key = region->remote_key(),
                            .table_key = region->remote_key(),
                            .chunk_bytes = geometry.chunk_bytes(),
                            .heartbeat_timeout_ns = second_ns};
  fake.alter_hello(hello);
  fabric::PrivateData private_data = engine::to_bytes(hello);
  private_data.resize(fake.hello_bytes);
  const auto listener = host.device(0).listen(service).value();
  const auto request = listener->accept(fabric::never_ns);
  const auto queue_pair = request->accept({.protection_domain = domain.get(),
                                           .send_completions = completions.get(),
                                           .receive_completions = completions.get()},
                                          private_data);
  host.sleep_until(fabric::never_ns);
}

std::optional<fabric::Error> connect_to(
    const FakeServer& fake, const std::function<void(Client&)>& body = [](Client&) {}) {
  std::optional<fabric::Error> error;
  run_hosts({[&](fabric::Host& host) {
              host.spawn({.name = "fake", .daemon = true}, [&] { serve_falsely(host, fake); });
            }},
            {[&](fabric::Host& host) {
              host.sleep_until(millisecond_ns);
              const auto client = Client::connect(host, server_address, {});
              if (client) body(**client);
              error = error_of(client);
            }});
  return error;
}

TEST(FakeServers, AreSeenThroughByTheirHello) {
  EXPECT_FALSE(connect_to({})) << "the fake itself is not what is refused";
  expect_error(connect_to({.alter_hello = [](engine::ServerHello& hello) { hello.magic ^= 1; }}),
               ErrorCode::invalid_argument, "not a Falafel server");
  expect_error(connect_to({.hello_bytes = sizeof(engine::ServerHello) - 1}),
               ErrorCode::invalid_argument, "not a Falafel server");
  expect_error(connect_to({.hello_bytes = 0}), ErrorCode::invalid_argument, "not a Falafel server");
  expect_error(connect_to({.alter_hello = [](engine::ServerHello& hello) { hello.version = 9; }}),
               ErrorCode::invalid_argument, "version 9");
}

// A time-out of zero would make the client send heartbeats without a pause; a huge one overflows.
TEST(FakeServers, AreSeenThroughByTheirTimes) {
  for (const std::uint64_t timeout_ns : {std::uint64_t{0}, std::uint64_t{999}, fabric::never_ns}) {
    expect_error(
        connect_to(
            {.alter_hello =
                 [&](engine::ServerHello& hello) { hello.heartbeat_timeout_ns = timeout_ns; }}),
        ErrorCode::invalid_argument, fmt::format("heartbeat_timeout_ns is {}", timeout_ns));
  }
}

TEST(FakeServers, AreSeenThroughByTheirSuperblock) {
  expect_error(
      connect_to({.alter_hello = [](engine::ServerHello& hello) { hello.chunk_bytes = 64; }}),
      ErrorCode::invalid_argument, "announced 64");
  expect_error(connect_to({.alter_superblock =
                               [](engine::Superblock& superblock) { superblock.magic = 0; }}),
               ErrorCode::invalid_argument, "magic");
  expect_error(connect_to({.alter_superblock =
                               [](engine::Superblock& superblock) { superblock.version = 7; }}),
               ErrorCode::invalid_argument, "version 7");
  expect_error(
      connect_to({.alter_superblock = [](engine::Superblock& superblock) { superblock.crc ^= 1; }}),
      ErrorCode::invalid_argument, "checksum");
}

TEST(FakeServers, WhoseMemoryCannotBeReadAreUnreachable) {
  expect_error(
      connect_to({.alter_hello = [](engine::ServerHello& hello) { hello.chunk_key ^= 1; }}),
      ErrorCode::unreachable, "superblock");
}

TEST(FakeServers, WhoseTableCannotBeReadLoseTheClient) {
  const auto alter = [](engine::ServerHello& hello) { hello.table_key ^= 1; };
  EXPECT_FALSE(connect_to({.alter_hello = alter}, [](Client& client) {
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
    EXPECT_FALSE(client.is_connected());
  }));
}

// The server rejects peers that are not clients and continues to work.
TEST(FakeClients, AreTurnedAway) {
  fabric::FiberStackPool stacks;
  TestStore store({}, stacks);
  store.add_host("client", [&](fabric::Host& host) {
    const auto domain = host.device(0).create_protection_domain();
    const auto completions = host.device(0).create_completion_queue(128).value();
    fabric::QueuePairOptions options{.protection_domain = domain.get(),
                                     .send_completions = completions.get(),
                                     .receive_completions = completions.get()};
    const std::uint64_t deadline_ns = host.now_ns() + second_ns;
    const auto try_hello = [&](fabric::PrivateData hello) {
      return error_of(host.device(0).connect(store.address(), options, hello, deadline_ns));
    };
    expect_error(try_hello({}), ErrorCode::connection_refused, "not from a Falafel client");
    engine::ClientHello hello{.magic = 1};
    expect_error(try_hello(engine::to_bytes(hello)), ErrorCode::connection_refused,
                 "not from a Falafel client");
    hello = {.version = 9};
    expect_error(try_hello(engine::to_bytes(hello)), ErrorCode::connection_refused,
                 fmt::format("speaks version {}", engine::message_version));
    options.transport = fabric::Transport::unreliable_connection;
    expect_error(try_hello(engine::to_bytes(engine::ClientHello{})), ErrorCode::connection_refused,
                 "transport");
    EXPECT_TRUE(store.connect(host));
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

}  // namespace
}  // namespace falafel::engine_test
