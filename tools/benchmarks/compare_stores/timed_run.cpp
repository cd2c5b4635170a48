#include "tools/benchmarks/compare_stores/timed_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/fiber_stack.h"
#include "fabric/sim/strategies/random_strategy.h"
#include "tools/benchmarks/store/record.h"

namespace falafel::compare_stores {
namespace {

class Parties {
 public:
  Parties(const TimedRun& run, const std::function<std::string(const Participant&)>& body)
      : timed_(run), body_(body), run_(run.store.create(run.demand)) {}

  void add_to(sim::Simulation& simulation) {
    if (timed_.store.has_server) {
      simulation.add_host({.name = std::string(server_name), .role = sim::Role::server},
                          [this, &simulation](fabric::Host& host) { serve(simulation, host); });
    }
    for (std::uint32_t number = 0; number < timed_.store.nodes; ++number) {
      simulation.add_host(
          {.name = node_name(number), .role = sim::Role::server, .machine = machine_of(number)},
          [this, &simulation, number](fabric::Host& host) {
            serve_node(simulation, host, number);
          });
    }
    awaited_ = timed_.store.nodes + (timed_.store.has_server ? 1U : 0U);
    for (std::uint32_t number = 0; number < timed_.demand.clients; ++number) {
      simulation.add_host(
          {.name = client_name(number), .machine = machine_of(number)},
          [this, &simulation, number](fabric::Host& host) { take_part(simulation, host, number); });
    }
  }

  const std::string& failure() const { return failure_; }

 private:
  std::string machine_of(std::uint32_t number) const {
    return fmt::format("machine {}", number % timed_.machines);
  }

  void serve(sim::Simulation& simulation, fabric::Host& host) {
    host.spawn({.name = "server", .daemon = true}, [this, &simulation, &host] {
      fail(simulation, run_->serve(host, [this] { --awaited_; }));
    });
  }

  void serve_node(sim::Simulation& simulation, fabric::Host& host, std::uint32_t number) {
    host.spawn({.name = "node", .daemon = true}, [this, &simulation, &host, number] {
      fail(simulation, run_->serve_node(host, number, [this] { --awaited_; }));
    });
  }

  void take_part(sim::Simulation& simulation, fabric::Host& host, std::uint32_t number) {
    constexpr std::uint64_t interval_ns = 10'000;
    while (awaited_ > 0) host.sleep_until(host.now_ns() + interval_ns);
    const auto client = run_->connect(host, number);
    if (!client) return fail(simulation, client.error());
    if (number + 1 == timed_.demand.clients) watch(simulation, host);
    const Participant participant{simulation, host, *run_, **client, number, ended_operations_};
    if (std::string problem = body_(participant); !problem.empty()) fail(simulation, problem);
  }

  // A store whose client waits forever has other fibers that go on, so the run would not end.
  void watch(sim::Simulation& simulation, fabric::Host& host) {
    constexpr std::uint64_t interval_ns = 1'000'000'000;
    host.spawn({.name = "watch", .daemon = true}, [this, &simulation, &host] {
      std::uint64_t ended_before = 0;
      do {
        ended_before = ended_operations_;
        host.sleep_until(host.now_ns() + interval_ns);
      } while (ended_operations_ != ended_before);
      fail(simulation, "an operation does not end");
    });
  }

  void fail(sim::Simulation& simulation, std::string_view problem) {
    if (failure_.empty()) failure_ = problem;
    simulation.stop();
  }

  const TimedRun& timed_;
  const std::function<std::string(const Participant&)>& body_;
  std::unique_ptr<StoreRun> run_;
  std::uint32_t awaited_ = 0;  // servers and nodes that have not started
  std::uint64_t ended_operations_ = 0;
  std::string failure_;
};

// As Nessie's back-off (4.3.2), for every store that answers `busy`.
template <typename Attempt>
Reply repeat(const Participant& participant, std::uint64_t deadline_ns, const Attempt& attempt) {
  constexpr std::uint64_t first_pause_ns = 10'000;
  constexpr std::uint64_t longest_pause_ns = 1'000'000;
  fabric::Host& host = participant.host;
  std::uint64_t pause_ns = first_pause_ns;
  while (true) {
    const Reply reply = attempt();
    if (reply.outcome != Outcome::busy || host.now_ns() >= deadline_ns) {
      ++participant.ended_operations;
      return reply;
    }
    host.sleep_until(host.now_ns() + 1 + host.random(pause_ns));
    pause_ns = std::min(2 * pause_ns, longest_pause_ns);
  }
}

}  // namespace

tl::expected<void, std::string> run_timed(
    const TimedRun& run, const std::function<std::string(const Participant&)>& body,
    sim::TraceObserver* observer) {
  sim::SimulationOptions options;
  options.granularity = sim::Granularity::packet;
  options.step_limit = 1'000'000'000'000;
  sim::RandomStrategy strategy(run.seed);
  fabric::FiberStackPool stacks;
  Parties parties(run, body);  // outlives the simulation, whose fibers use it
  sim::Simulation simulation(options, strategy, stacks, run.profile, observer);
  parties.add_to(simulation);
  const sim::RunResult result = simulation.run();
  if (!parties.failure().empty()) return tl::unexpected(parties.failure());
  if (result.outcome != sim::Outcome::completed) return tl::unexpected(result.explanation);
  return {};
}

Bytes key_of(std::uint64_t number, const Demand& demand) {
  Bytes key(demand.key_bytes);
  store_benchmark::write_key(number, key);
  return key;
}

Bytes value_of(std::uint64_t key, std::uint64_t writer_number, const Demand& demand) {
  Bytes value(demand.value_bytes);
  store_benchmark::write_value(key, writer_number, value);
  return value;
}

Reply get_until(const Participant& participant, std::span<const std::byte> key, Bytes& value,
                std::uint64_t deadline_ns) {
  return repeat(participant, deadline_ns, [&] { return participant.client.get(key, value); });
}

Reply set_until(const Participant& participant, std::span<const std::byte> key,
                std::span<const std::byte> value, std::uint64_t deadline_ns) {
  return repeat(participant, deadline_ns, [&] { return participant.client.set(key, value); });
}

std::string load_keys(const Participant& participant, const Demand& demand) {
  for (std::uint64_t key = participant.number; key < demand.keys; key += demand.clients) {
    const Reply reply = set_until(participant, key_of(key, demand), value_of(key, 0, demand),
                                  participant.host.now_ns() + patience_ns);
    if (reply.outcome != Outcome::done) {
      return fmt::format("SET of key {} while the table is filled: {}", key, reply.answer);
    }
  }
  return {};
}

}  // namespace falafel::compare_stores
