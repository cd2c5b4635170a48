#include "tools/benchmarks/simulator/programs.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fabric/cooperative_cancellation.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::simulator_benchmark {
namespace {

constexpr std::uint16_t service = 1;
constexpr std::uint64_t clients_start_ns = 1'000'000;

fabric::QueuePairOptions queue_pair_options(const Endpoint& endpoint) {
  return {.protection_domain = endpoint.domain.get(),
          .send_completions = endpoint.completions.get(),
          .receive_completions = endpoint.completions.get(),
          .max_send_requests = 1,
          .max_receive_requests = 1};
}

Endpoint make_endpoint(fabric::Host& host, fabric::Access access, std::uint64_t connections) {
  const auto completions = static_cast<std::uint32_t>(2 * connections);
  Endpoint endpoint;
  endpoint.domain = host.device(0).create_protection_domain();
  endpoint.completions = host.device(0).create_completion_queue(completions).value();
  endpoint.memory = host.allocate_memory(block_bytes).value();
  endpoint.region =
      endpoint.domain->register_memory(endpoint.memory, 0, block_bytes, access).value();
  return endpoint;
}

void accept_clients(fabric::Host& host, std::uint64_t client_count,
                    std::shared_ptr<fabric::MemoryBlock>& memory) {
  Endpoint endpoint = make_endpoint(
      host, {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true},
      client_count);
  memory = endpoint.memory;
  const auto listener = host.device(0).listen(service).value();
  std::vector<std::unique_ptr<fabric::QueuePair>> connected;
  const fabric::CooperativeCancellation cooperative(host);
  while (const auto request = listener->accept(fabric::never_ns)) {
    const std::uint32_t remote_key = endpoint.region->remote_key();
    fabric::PrivateData key(sizeof remote_key);
    std::memcpy(key.data(), &remote_key, sizeof remote_key);
    connected.push_back(request->accept(queue_pair_options(endpoint), std::move(key)).value());
  }
}

Client connect(fabric::Host& host, std::uint64_t index) {
  host.sleep_until(clients_start_ns);
  Client client{host, index, make_endpoint(host, {.local_write = true}, 1), 0};
  fabric::Connection connection =
      host.device(0)
          .connect({.host = "server", .service = service}, queue_pair_options(client.endpoint), {},
                   fabric::never_ns)
          .value();
  client.endpoint.queue_pair = std::move(connection.queue_pair);
  std::memcpy(&client.server_key, connection.private_data.data(), sizeof client.server_key);
  return client;
}

std::unique_ptr<sim::Simulation> make_simulation(const Program& program,
                                                 const sim::SimulationOptions& options,
                                                 sim::Strategy& strategy,
                                                 fabric::FiberStackPool& stacks) {
  if (program.profile == nullptr) {
    return std::make_unique<sim::Simulation>(options, strategy, stacks);
  }
  return std::make_unique<sim::Simulation>(options, strategy, stacks, *program.profile);
}

}  // namespace

ProgramResult run_program(const Program& program, std::uint64_t seed,
                          fabric::FiberStackPool& stacks) {
  const sim::SimulationOptions options = run_options();
  const auto strategy = sim::make_strategy(options, seed);
  std::shared_ptr<fabric::MemoryBlock> memory;
  const auto made = make_simulation(program, options, *strategy, stacks);
  sim::Simulation& simulation = *made;
  simulation.add_host({.name = "server", .role = sim::Role::server}, [&](fabric::Host& host) {
    host.spawn({.name = "accept", .daemon = true},
               [&] { accept_clients(host, program.client_count, memory); });
  });
  for (std::uint64_t index = 0; index < program.client_count; ++index) {
    simulation.add_host({.name = fmt::format("client {}", index)},
                        [&program, index](fabric::Host& host) {
                          Client client = connect(host, index);
                          program.client(client);
                        });
  }
  ProgramResult result{.run = simulation.run()};
  FALAFEL_ASSERT(result.run.outcome == sim::Outcome::completed, "{}", result.run.explanation);
  std::memcpy(&result.first_word, memory->bytes().data(), sizeof result.first_word);
  return result;
}

fabric::WorkRequest make_request(const Client& client, fabric::Opcode opcode) {
  fabric::WorkRequest request;
  request.opcode = opcode;
  request.length_bytes = fabric::is_atomic(opcode) ? fabric::word_bytes : block_bytes;
  request.local.key = client.endpoint.region->local_key();
  request.remote.key = client.server_key;
  request.swap_or_add = 1;
  return request;
}

void repeat(Client& client, fabric::Opcode opcode, std::uint64_t count) {
  const fabric::WorkRequest request = make_request(client, opcode);
  for (std::uint64_t done = 0; done < count; ++done) {
    const auto posted = client.endpoint.queue_pair->post_send({&request, 1});
    FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
    client.endpoint.completions->wait(fabric::never_ns);
    fabric::WorkCompletion completion;
    const std::size_t polled = client.endpoint.completions->poll({&completion, 1});
    FALAFEL_ASSERT(polled == 1 && completion.status == fabric::CompletionStatus::success,
                   "{} completions, status {}", polled, to_string(completion.status));
  }
}

sim::SimulationOptions run_options() {
  sim::SimulationOptions options;
  options.step_limit = 100'000'000;
  return options;
}

}  // namespace falafel::simulator_benchmark
