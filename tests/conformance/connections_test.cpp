// Connections: matching clients and listeners, private data, and failures.
#include <cstdint>
#include <optional>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE_WITHOUT_RC(ConnectionsTest);

constexpr std::uint16_t service = 7;
const Address server_address{.host = "server", .service = service};

// A server, whose listener exists before the client learns of it, and a client.
using ServerBody = std::function<void(Site&, Listener&)>;
using ClientBody = std::function<void(Site&, Link&)>;

// The client's link has no queue pair yet. The client retries a second service, whose existence
// tells that the listener exists.
Program server_and_client(const ServerBody& server, const ClientBody& client) {
  return [=](Backend& backend) {
    backend.add_host({.name = "server", .role = Role::server}, [=](Host& host) {
      Site site(host);
      const auto listener = require(site.device.listen(service));
      const auto ready = require(site.device.listen(service + 1));
      const Link link = accept_link(site, *ready);
      server(site, *listener);
    });
    backend.add_host({.name = "client"}, [=](Host& host) {
      Site site(host);
      const Link ready = connect_link(site, {"server", service + 1});
      Link link(site, {});
      client(site, link);
    });
  };
}

std::uint64_t soon_ns(Host& host) { return host.now_ns() + 10 * millisecond_ns; }

TEST_P(ConnectionsTest, PrivateDataGoesBothWays) {
  for (const std::size_t size_bytes : {std::size_t{0}, std::size_t{1}, max_private_data_bytes}) {
    run(server_and_client(
        [=](Site& site, Listener& listener) {
          const Link link = accept_link(site, listener, {}, pattern(size_bytes, 1));
          EXPECT_EQ(link.private_data, pattern(size_bytes, 2));
          EXPECT_EQ(link.queue_pair->state(), QueuePairState::ready);
        },
        [=](Site& site, Link&) {
          const Link link = connect_link(site, server_address, {}, pattern(size_bytes, 2));
          EXPECT_EQ(link.private_data, pattern(size_bytes, 1));
          EXPECT_EQ(link.queue_pair->state(), QueuePairState::ready);
        }));
  }
}

// The client sends as soon as it is connected, and a SEND that finds no receive request fails.
TEST_P(ConnectionsTest, FirstReceivesAreInTime) {
  constexpr int connections = 20;
  run(server_and_client(
      [](Site& site, Listener& listener) {
        const Memory memory = site.make_memory(64);
        for (int count = 0; count < connections; ++count) {
          Link link(site, {});
          const auto request = listener.accept(site.host.now_ns() + patience_ns);
          require(request != nullptr, "nobody connects");
          const ReceiveRequest receive{.id = 5, .local = memory.local(), .length_bytes = 64};
          link.queue_pair = require(request->accept(link.options, {}, {&receive, 1}));
          const WorkCompletion received = link.next_received();
          EXPECT_EQ(received.status, CompletionStatus::success);
          EXPECT_EQ(received.id, 5U);
        }
      },
      [](Site& site, Link&) {
        const Memory memory = site.make_memory(64);
        for (int count = 0; count < connections; ++count) {
          Link link = connect_link(site, server_address, {.receiver_not_ready_retry_count = 0});
          link.post({make_request(Opcode::send, memory.local(), 64)});
          EXPECT_EQ(link.next_completion().status, CompletionStatus::success);
        }
      }));
}

TEST_P(ConnectionsTest, WrongFirstReceivesRejectTheRequest) {
  run(server_and_client(
      [](Site& site, Listener& listener) {
        const Link link(site, {});
        const auto request = listener.accept(site.host.now_ns() + patience_ns);
        require(request != nullptr, "nobody connects");
        const ReceiveRequest unregistered{.id = 5, .local = {}, .length_bytes = 64};
        EXPECT_TRUE(error_of(request->accept(link.options, {}, {&unregistered, 1})).has_value());
      },
      [](Site& site, Link& link) {
        EXPECT_FALSE(site.device.connect(server_address, link.options, {}, never_ns).has_value());
      }));
}

TEST_P(ConnectionsTest, MorePrivateDataIsRefused) {
  run(server_and_client(
      [](Site& site, Listener& listener) {
        const auto request = listener.accept(never_ns);
        const Link link(site, {});
        EXPECT_EQ(error_of(request->accept(link.options, pattern(max_private_data_bytes + 1))),
                  ErrorCode::invalid_argument);
      },
      [](Site& site, Link& link) {
        EXPECT_EQ(error_of(site.device.connect(server_address, link.options,
                                               pattern(max_private_data_bytes + 1), never_ns)),
                  ErrorCode::invalid_argument);
        EXPECT_EQ(error_of(site.device.connect(server_address, link.options, {}, never_ns)),
                  ErrorCode::connection_refused);
      }));
}

TEST_P(ConnectionsTest, AcceptingNeedsQueuesThatHoldAll) {
  run(server_and_client(
      [](Site& site, Listener& listener) {
        const auto request = listener.accept(never_ns);
        Link link(site, {});
        link.options.max_send_requests += 1;
        EXPECT_EQ(error_of(request->accept(link.options, {})), ErrorCode::invalid_argument);
      },
      [](Site& site, Link& link) {
        EXPECT_EQ(error_of(site.device.connect(server_address, link.options, {}, never_ns)),
                  ErrorCode::connection_refused);
      }));
}

TEST_P(ConnectionsTest, RefusedWhereNobodyListens) {
  run(server_and_client([](Site& site, Listener&) { sleep(site.host, 20 * millisecond_ns); },
                        [](Site& site, Link& link) {
                          const Address elsewhere{.host = "server", .service = service + 2};
                          EXPECT_EQ(
                              error_of(site.device.connect(elsewhere, link.options, {}, never_ns)),
                              ErrorCode::connection_refused);
                        }));
}

TEST_P(ConnectionsTest, RejectionTellsItsReason) {
  run(server_and_client(
      [](Site&, Listener& listener) {
        const auto request = listener.accept(never_ns);
        const std::string reason = "the house is full";
        const auto bytes = std::as_bytes(std::span(reason));
        request->reject({bytes.begin(), bytes.end()});
      },
      [](Site& site, Link& link) {
        const auto result = site.device.connect(server_address, link.options, {}, never_ns);
        ASSERT_EQ(error_of(result), ErrorCode::connection_refused);
        EXPECT_NE(result.error().detail.find("the house is full"), std::string::npos)
            << result.error().detail;
      }));
}

TEST_P(ConnectionsTest, LongReasonIsCut) {
  run(server_and_client(
      [](Site&, Listener& listener) {
        PrivateData reason(max_private_data_bytes, std::byte{'y'});
        reason.push_back(std::byte{'z'});
        listener.accept(never_ns)->reject(reason);
      },
      [](Site& site, Link& link) {
        const auto result = site.device.connect(server_address, link.options, {}, never_ns);
        ASSERT_EQ(error_of(result), ErrorCode::connection_refused);
        const std::string told(max_private_data_bytes, 'y');
        EXPECT_NE(result.error().detail.find(told), std::string::npos);
        EXPECT_EQ(result.error().detail.find(told + "z"), std::string::npos);
      }));
}

TEST_P(ConnectionsTest, DroppedRequestIsRejected) {
  run(server_and_client(
      [](Site&, Listener& listener) { EXPECT_NE(listener.accept(never_ns), nullptr); },
      [](Site& site, Link& link) {
        EXPECT_EQ(error_of(site.device.connect(server_address, link.options, {}, never_ns)),
                  ErrorCode::connection_refused);
      }));
}

TEST_P(ConnectionsTest, UnknownHostIsUnreachable) {
  run_alone([](Host& host) {
    Site site(host);
    const Link link(site, {});
    EXPECT_EQ(error_of(site.device.connect({"nowhere", 1}, link.options, {}, soon_ns(host))),
              ErrorCode::unreachable);
  });
}

// The kernel refuses in place of a process that has died, if connections go through it.
TEST_P(ConnectionsTest, DeadHostIsUnreachable) {
  if (!capabilities().crashes_hosts || !capabilities().reliable_connection) GTEST_SKIP();
  run([](Backend& backend) {
    backend.add_host({.name = "server", .role = Role::server},
                     [](Host& host) { host.sleep_until(never_ns); });
    backend.add_host({.name = "client"}, [&backend](Host& host) {
      backend.crash("server");
      Site site(host);
      const Link link(site, {});
      EXPECT_EQ(error_of(site.device.connect(server_address, link.options, {}, soon_ns(host))),
                ErrorCode::unreachable);
    });
  });
}

TEST_P(ConnectionsTest, NoAnswerUntilTheDeadlineIsUnreachable) {
  // The server leaves the first request that arrives unanswered, and rejects the second one, which
  // tells it that the client is done. A request that its client withdraws early may never arrive,
  // so the client repeats the second one until it is rejected.
  const auto serve = [](Site&, Listener& listener) {
    const auto unanswered = listener.accept(never_ns);
    listener.accept(never_ns)->reject({});
  };
  const auto connect_in_vain = [](Site& site, Link& link) {
    const std::uint64_t deadline_ns = soon_ns(site.host);
    const auto result = site.device.connect(server_address, link.options, {}, deadline_ns);
    EXPECT_EQ(error_of(result), ErrorCode::unreachable) << result.error().detail;
    EXPECT_GE(site.host.now_ns(), deadline_ns);
    std::optional<ErrorCode> answer = ErrorCode::unreachable;
    while (answer == ErrorCode::unreachable) {
      answer = error_of(site.device.connect(server_address, link.options, {}, soon_ns(site.host)));
    }
    EXPECT_EQ(answer, ErrorCode::connection_refused);
  };
  run(server_and_client(serve, connect_in_vain));
}

TEST_P(ConnectionsTest, AcceptEndsAtItsDeadline) {
  run_alone([](Host& host) {
    const auto listener = require(host.device(0).listen(service));
    const std::uint64_t deadline_ns = soon_ns(host);
    EXPECT_EQ(listener->accept(deadline_ns), nullptr);
    EXPECT_GE(host.now_ns(), deadline_ns);
  });
}

TEST_P(ConnectionsTest, ServiceHasOneListenerAtATime) {
  run_alone([](Host& host) {
    auto listener = require(host.device(0).listen(service));
    EXPECT_EQ(error_of(host.device(0).listen(service)), ErrorCode::address_in_use);
    EXPECT_EQ(error_of(host.device(0).listen(service + 1)), std::nullopt);
    listener.reset();
    EXPECT_EQ(error_of(host.device(0).listen(service)), std::nullopt);
  });
}

TEST_P(ConnectionsTest, ListenerServesOneAfterTheOther) {
  run([](Backend& backend) {
    backend.add_host({.name = "server", .role = Role::server}, [](Host& host) {
      Site site(host);
      const auto listener = require(site.device.listen(service));
      std::vector<Link> links;
      for (int i = 0; i < 3; ++i) links.push_back(accept_link(site, *listener));
      EXPECT_NE(links[0].queue_pair->number(), links[1].queue_pair->number());
      EXPECT_NE(links[1].queue_pair->number(), links[2].queue_pair->number());
    });
    for (const char* name : {"client_0", "client_1", "client_2"}) {
      backend.add_host({.name = name}, [](Host& host) {
        Site site(host);
        const Link link = connect_link(site, server_address);
        EXPECT_EQ(link.queue_pair->state(), QueuePairState::ready);
      });
    }
  });
}

TEST_P(ConnectionsTest, HostConnectsToItself) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_alone([](Host& host) {
    Site site(host);
    const Memory memory = site.make_memory(4096);
    Loopback loopback = connect_to_itself(site);
    memory.block->store(0, 42);
    const MemoryAddress remote{memory.region->remote_key(), 8};
    EXPECT_EQ(loopback.near.execute(make_request(Opcode::write, memory.local(), 8, remote)).status,
              CompletionStatus::success);
    EXPECT_EQ(loopback.near.execute(make_request(Opcode::read, memory.local(16), 8, remote)).status,
              CompletionStatus::success);
    EXPECT_EQ(memory.block->load(16), 42U);
  });
}

TEST_P(ConnectionsTest, EachDeviceHasItsConnections) {
  if (!capabilities().reliable_connection) GTEST_SKIP();
  run_alone(
      [](Host& host) {
        Site first(host, 0);
        Site second(host, 1);
        const Memory memory = second.make_memory(4096);
        const auto listener = require(second.device.listen(service));
        std::optional<Link> far;
        const FiberId acceptor = spawn(host, [&] { far.emplace(accept_link(second, *listener)); });
        Link near = connect_link(first, {"host", service});
        host.join(acceptor);
        const Memory local = first.make_memory(8);
        local.block->store(0, 42);
        const auto request =
            make_request(Opcode::write, local.local(), 8, {memory.region->remote_key(), 64});
        EXPECT_EQ(near.execute(request).status, CompletionStatus::success);
        EXPECT_TRUE(wait_until(host, [&] { return memory.block->load(64) == 42; }));
      },
      2);
}

}  // namespace
}  // namespace falafel::conformance
