// The hostile client judges its server: whether the server expels it, and whether it can still
// write to a region that it has released. Here, it meets servers that do neither as they should.
#include "tools/scenarios/store/hostile_party.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/layout/control_message.h"
#include "engine/local_memory.h"
#include "fabric/at_end.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::store_scenario {
namespace {

using engine::ControlMessage;
using engine::MessageKind;

constexpr std::uint16_t service = 7;
constexpr std::uint32_t queue_length = 16;
constexpr std::uint64_t longest_silence_ns = 1'000'000'000;

struct Conduct {
  bool revokes_right = true;
  bool expels = true;
};

// A server for one client, which has one region and knows the messages that these tests need.
class SmallServer {
 public:
  SmallServer(const engine::Geometry& geometry, const Conduct& conduct)
      : geometry_(geometry), conduct_(conduct) {}

  void run(fabric::Host& host) {
    fabric::Device& device = host.device(0);
    const auto listener = device.listen(service).value();
    const auto domain = device.create_protection_domain();
    const auto sends = device.create_completion_queue(queue_length).value();
    const auto receives = device.create_completion_queue(queue_length).value();
    const fabric::AtEnd leave([this] {
      queue_pair_.reset();
      region_.reset();
      messages_ = {};
    });
    messages_ = engine::allocate_local_memory(host, *domain,
                                              (queue_length + 1) * engine::control_message_bytes)
                    .value();
    const auto chunk = host.allocate_memory(geometry_.chunk_bytes()).value();
    const auto readable =
        domain->register_memory(chunk, 0, geometry_.chunk_bytes(), {.remote_read = true}).value();
    region_ = domain
                  ->register_memory(chunk, geometry_.region_offset(0), geometry_.region_bytes,
                                    {.local_write = true, .remote_write = true})
                  .value();
    std::vector<fabric::ReceiveRequest> first_receives;
    for (std::uint64_t index = 0; index < queue_length; ++index) {
      first_receives.push_back(receive_request(index));
    }
    const auto request = listener->accept(fabric::never_ns);
    queue_pair_ =
        request
            ->accept({.protection_domain = domain.get(),
                      .send_completions = sends.get(),
                      .receive_completions = receives.get(),
                      .max_send_requests = queue_length,
                      .max_receive_requests = queue_length},
                     engine::to_bytes(engine::ServerHello{.chunk_key = readable->remote_key()}),
                     first_receives)
            .value();
    while (receives->wait(host.now_ns() + longest_silence_ns)) {
      fabric::WorkCompletion completion;
      if (receives->poll({&completion, 1}) == 0) continue;
      if (completion.status != fabric::CompletionStatus::success) return;
      handle(*engine::from_bytes<ControlMessage>(messages_.bytes(
          completion.id * engine::control_message_bytes, engine::control_message_bytes)));
      if (queue_pair_ == nullptr) return;
      const fabric::ReceiveRequest next = receive_request(completion.id);
      ASSERT_TRUE(queue_pair_->post_receive({&next, 1}));
      sends->wait(fabric::never_ns);
      sends->poll({&completion, 1});
    }
  }

 private:
  fabric::ReceiveRequest receive_request(std::uint64_t index) const {
    return {.id = index,
            .local = messages_.at(index * engine::control_message_bytes),
            .length_bytes = engine::control_message_bytes};
  }

  void handle(const ControlMessage& message) {
    ++received_;
    switch (message.kind) {
      case MessageKind::request_region:
        return send({.kind = MessageKind::grant_region,
                     .incarnation = 1,
                     .remote_key = region_->remote_key(),
                     .received = received_});
      case MessageKind::release_region:
        if (message.incarnation != 1 && conduct_.expels) return queue_pair_.reset();
        if (message.incarnation == 1 && conduct_.revokes_right) region_->revoke();
        break;
      default: break;
    }
    send({.kind = MessageKind::acknowledge, .received = received_});
  }

  void send(const ControlMessage& message) {
    constexpr std::uint64_t place = queue_length * engine::control_message_bytes;
    std::ranges::copy(engine::bytes_of(message),
                      messages_.bytes(place, engine::control_message_bytes).begin());
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::send;
    request.length_bytes = engine::control_message_bytes;
    request.local = messages_.at(place);
    ASSERT_TRUE(queue_pair_->post_send({&request, 1}));
  }

  const engine::Geometry& geometry_;
  const Conduct conduct_;
  engine::LocalMemory messages_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::uint64_t received_ = 0;
};

// The property that the client finds violated; empty if it finds none.
std::string violated_by(const Conduct& conduct, AttackKind attack) {
  Scenario scenario;
  scenario.geometry = {.table_entries = 8, .region_bytes = 256, .region_count = 1};
  scenario.heartbeat_timeout_ns = 100'000;
  scenario.simulation.longest_stall_ns = 100'000;
  scenario.attacks = {{.kind = attack, .number = 3}};
  HostileParty party(
      scenario, [] { return true; }, [] { return false; },
      [] { return engine::ServerInspection{}; });
  SmallServer server(scenario.geometry, conduct);
  fabric::FiberStackPool stacks;
  const auto strategy = sim::make_strategy(scenario.simulation, 1);
  sim::Simulation simulation(scenario.simulation, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server},
                      [&](fabric::Host& host) { server.run(host); });
  simulation.add_host({.name = "client"}, [&](fabric::Host& host) {
    party.run(host, {.host = "server", .service = service});
  });
  const sim::RunResult result = simulation.run();
  EXPECT_EQ(result.outcome, sim::Outcome::completed) << result.explanation;
  return party.violation() ? party.violation()->property : "";
}

TEST(HostileParty, FindsThatItCanWriteToAReleasedRegion) {
  EXPECT_EQ(violated_by({.revokes_right = false}, AttackKind::late_write), "hostile.wrote-late");
}

TEST(HostileParty, CannotWriteToARevokedRegion) {
  EXPECT_EQ(violated_by({}, AttackKind::late_write), "");
}

TEST(HostileParty, FindsThatItIsNotExpelled) {
  EXPECT_EQ(violated_by({.expels = false}, AttackKind::foreign_release), "hostile.not-expelled");
}

TEST(HostileParty, IsExpelled) { EXPECT_EQ(violated_by({}, AttackKind::foreign_release), ""); }

}  // namespace
}  // namespace falafel::store_scenario
