#include "tests/stores/swarm/cluster.h"

#include <span>
#include <utility>

#include "fabric/sim/strategies/make_strategy.h"
#include "stores/swarm/invariants.h"

namespace falafel::swarm_test {
namespace {

std::string node_name(std::size_t number) { return "node " + std::to_string(number); }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

swarm::Options small_options() {
  swarm::Options options;
  options.writers = 8;
  options.registers_per_writer = 16;
  options.buffers_per_writer = 128;
  options.connect_timeout_ns = 20'000 * microsecond_ns;
  options.acknowledge_timeout_ns = 1'000 * microsecond_ns;
  options.retry_count = 1;
  return options;
}

TestCluster::TestCluster(const ClusterOptions& options)
    : options_(options),
      strategy_(sim::make_strategy(options.simulation, options.seed)),
      simulation_(std::make_unique<sim::Simulation>(options_.simulation, *strategy_, stacks_)),
      memory_(memory_nodes + (options.options.safeguards.own_index_node ? 1 : 0)) {
  for (std::size_t number = 0; number < memory_.size(); ++number) {
    simulation_->add_host({.name = node_name(number), .role = sim::Role::server},
                          [this, number](fabric::Host& host) { serve(host, number); });
  }
}

TestCluster::~TestCluster() = default;

void TestCluster::serve(fabric::Host& host, std::size_t number) {
  const auto node = swarm::start_node(host, number, options_.options).value();
  memory_[number] = node->memory();
  ++started_;
  while (unfinished_ > 0) host.sleep_until(host.now_ns() + microsecond_ns);
}

void TestCluster::add_host(std::uint32_t clients, HostBody body) {
  ++unfinished_;
  const std::uint32_t first = std::exchange(next_writer_, next_writer_ + clients);
  simulation_->add_host(
      {.name = "client " + std::to_string(first), .role = sim::Role::client},
      [this, first, clients, body = std::move(body)](fabric::Host& host) {
        const struct Presence {
          std::size_t& unfinished;
          ~Presence() { --unfinished; }
        } presence{unfinished_};
        while (started_ < memory_.size()) host.sleep_until(host.now_ns() + microsecond_ns);
        std::vector<stores::Member> members;
        for (std::size_t node = 0; node < memory_.size(); ++node) {
          members.push_back(
              {.address = {.host = node_name(node), .service = options_.options.service},
               .incarnation = node});
        }
        std::vector<std::unique_ptr<swarm::Client>> connected;
        for (std::uint32_t writer = first; writer < first + clients; ++writer) {
          connected.push_back(
              swarm::Client::create(host, writer, members, options_.options).value());
        }
        body(host, connected);
        settle(host);
      });
}

void TestCluster::add_client(Body body) {
  add_host(1, [body = std::move(body)](fabric::Host& host, auto& clients) {
    body(host, *clients.front());
  });
}

std::string TestCluster::run() {
  const sim::RunResult result = simulation_->run();
  if (result.outcome != sim::Outcome::completed) {
    return "the run ended as " + std::string(to_string(result.outcome)) + ": " +
           result.explanation + "\n";
  }
  for (const auto& problem : swarm::find_problems(memory_, options_.options)) {
    problems_ += problem + "\n";
  }
  return problems_;
}

void settle(fabric::Host& host) { host.sleep_until(host.now_ns() + 1'000 * microsecond_ns); }

std::string get(swarm::Client& client, std::string_view key) {
  const swarm::GetResult result = client.get(bytes_of(key));
  if (result.answer != swarm::Answer::found) {
    return "[" + std::string(stores::to_string(result.answer)) + "]";
  }
  return {reinterpret_cast<const char*>(result.value.data()), result.value.size()};
}

swarm::Answer set(swarm::Client& client, std::string_view key, std::string_view value) {
  return client.set(bytes_of(key), bytes_of(value));
}

swarm::Answer remove(swarm::Client& client, std::string_view key) {
  return client.remove(bytes_of(key));
}

}  // namespace falafel::swarm_test
