#include "tests/sim/workload.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

namespace falafel::sim {
namespace {

constexpr std::uint64_t memory_bytes = 8192;
constexpr std::uint16_t service = 7;
constexpr std::uint64_t patience_ns = 20'000'000'000;

// Retries until it succeeds, because registrations may fail.
std::unique_ptr<fabric::MemoryRegion> register_memory(
    fabric::Host& host, fabric::ProtectionDomain& domain,
    const std::shared_ptr<fabric::MemoryBlock>& memory) {
  for (;;) {
    auto region = domain.register_memory(
        memory, 0, memory_bytes,
        {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true});
    if (region) return std::move(*region);
    host.sleep_until(host.now_ns() + 1'000);
  }
}

struct Side {
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::CompletionQueue> completions;
  std::shared_ptr<fabric::MemoryBlock> memory;
  std::unique_ptr<fabric::MemoryRegion> region;

  explicit Side(fabric::Host& host)
      : domain(host.device(0).create_protection_domain()),
        completions(host.device(0).create_completion_queue(256).value()),
        memory(host.allocate_memory(memory_bytes).value()),
        region(register_memory(host, *domain, memory)) {}

  fabric::QueuePairOptions options(fabric::Transport transport) const {
    return {.transport = transport,
            .protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get(),
            .max_send_requests = 4,
            .max_receive_requests = 4,
            .acknowledge_timeout_ns = 1'000'000};
  }
};

void post_receives(const Side& side, fabric::QueuePair& queue_pair, std::uint32_t count) {
  for (std::uint32_t index = 0; index < count; ++index) {
    const fabric::ReceiveRequest receive{
        .id = index, .local = {side.region->local_key(), 4096}, .length_bytes = 128};
    if (!queue_pair.post_receive({&receive, 1})) return;
  }
}

// Posts a message for which the client has no receive request; it stays in flight until the
// connection breaks.
void post_message(const Side& side, fabric::QueuePair& queue_pair) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = 8;
  request.local = {side.region->local_key(), 0};
  static_cast<void>(queue_pair.post_send({&request, 1}));
}

// The server's own accesses: loads, stores to words that atomics use, and occasionally a new
// registration, which breaks transfers in flight.
void disturb(fabric::Host& host, Side& side) {
  for (;;) {
    host.sleep_until(host.now_ns() + (std::uint64_t{1'000} << host.random(20)));
    // a separate statement, because compilers evaluate arguments in different orders
    const std::uint64_t value = host.random(0);
    side.memory->store(8 * host.random(4), value);
    side.memory->load(8 * host.random(4));
    if (host.random(16) != 0) continue;
    const fabric::Access access = side.region->access();
    auto region = side.domain->register_memory(side.memory, 0, memory_bytes, access);
    if (region) side.region = std::move(*region);
  }
}

void listen(fabric::Host& host) {
  Side side(host);
  host.spawn({.name = "disturb", .daemon = true}, [&host, &side] { disturb(host, side); });
  auto listener = host.device(0).listen(service).value();
  auto datagrams =
      host.device(0)
          .create_datagram_queue_pair(side.options(fabric::Transport::unreliable_datagram))
          .value();
  std::vector<std::unique_ptr<fabric::QueuePair>> accepted;
  for (;;) {
    auto request = listener->accept(host.now_ns() + 1'000'000);
    std::array<fabric::WorkCompletion, 8> completions;
    while (side.completions->poll(completions) > 0) continue;
    post_receives(side, *datagrams, 1);
    for (auto& queue_pair : accepted) post_receives(side, *queue_pair, 1);
    if (request == nullptr || accepted.size() >= 16) continue;
    const std::array<std::uint32_t, 2> words = {side.region->remote_key(), datagrams->number()};
    fabric::PrivateData reply(sizeof words);
    std::memcpy(reply.data(), words.data(), sizeof words);
    const auto transport = request->private_data().empty()
                               ? fabric::Transport::reliable_connection
                               : fabric::Transport::unreliable_connection;
    auto queue_pair = request->accept(side.options(transport), std::move(reply));
    if (!queue_pair) continue;
    post_message(side, **queue_pair);
    accepted.push_back(std::move(*queue_pair));
  }
}

fabric::WorkRequest draw_request(fabric::Host& host, const Side& side, fabric::Transport transport,
                                 std::uint32_t remote_key,
                                 const fabric::DatagramAddress& destination) {
  constexpr std::array<fabric::Opcode, 5> opcodes = {
      fabric::Opcode::send, fabric::Opcode::write, fabric::Opcode::compare_and_swap,
      fabric::Opcode::fetch_and_add, fabric::Opcode::read};
  const bool is_reliable = transport == fabric::Transport::reliable_connection;
  const bool is_datagram = transport == fabric::Transport::unreliable_datagram;
  fabric::WorkRequest request;
  request.opcode = opcodes[host.random(is_reliable ? opcodes.size() : is_datagram ? 1 : 2)];
  request.fenced = is_reliable && host.random(4) == 0;
  const bool is_transfer =
      request.opcode == fabric::Opcode::read || request.opcode == fabric::Opcode::write;
  request.length_bytes = is_transfer ? static_cast<std::uint32_t>(8 << host.random(10)) : 8;
  request.local = {side.region->local_key(), 0};
  request.remote = {remote_key, 8 * host.random(4)};
  request.compare = side.memory->load(0);
  request.swap_or_add = host.random(0);
  request.destination = destination;
  return request;
}

// Executes a chain of two requests; returns false when the connection breaks.
bool use(fabric::Host& host, Side& side, fabric::QueuePair& queue_pair, std::uint32_t remote_key,
         const fabric::DatagramAddress& destination) {
  const std::array<fabric::WorkRequest, 2> chain = {
      draw_request(host, side, queue_pair.transport(), remote_key, destination),
      draw_request(host, side, queue_pair.transport(), remote_key, destination)};
  if (!queue_pair.post_send(chain)) return false;
  for (std::size_t completed = 0; completed < chain.size(); ++completed) {
    fabric::WorkCompletion completion;
    if (!side.completions->wait(host.now_ns() + patience_ns)) return false;
    if (side.completions->poll({&completion, 1}) != 1) return false;
    if (completion.status != fabric::CompletionStatus::success) return false;
  }
  return true;
}

void work(fabric::Host& host, std::uint32_t operations) {
  Side side(host);
  std::unique_ptr<fabric::QueuePair> queue_pair;
  std::unique_ptr<fabric::QueuePair> datagrams;
  std::uint32_t remote_key = 0;
  fabric::DatagramAddress destination;
  for (std::uint32_t operation = 0; operation < operations; ++operation) {
    if (queue_pair == nullptr) {
      datagrams.reset();
      const bool is_reliable = host.random(4) != 0;
      const auto transport = is_reliable ? fabric::Transport::reliable_connection
                                         : fabric::Transport::unreliable_connection;
      auto connection = host.device(0).connect({"server", service}, side.options(transport),
                                               fabric::PrivateData(is_reliable ? 0U : 1U),
                                               host.now_ns() + patience_ns);
      if (!connection) {
        host.sleep_until(host.now_ns() + 1'000'000);
        continue;
      }
      queue_pair = std::move(connection->queue_pair);
      std::memcpy(&remote_key, connection->private_data.data(), 4);
      std::memcpy(&destination.queue_pair_number, connection->private_data.data() + 4, 4);
      destination = host.device(0).resolve("server", destination.queue_pair_number).value();
      datagrams =
          host.device(0)
              .create_datagram_queue_pair(side.options(fabric::Transport::unreliable_datagram))
              .value();
    }
    const bool by_datagram = host.random(8) == 0;
    if (!use(host, side, by_datagram ? *datagrams : *queue_pair, remote_key, destination)) {
      queue_pair.reset();
    }
  }
}

}  // namespace

RunResult run_workload(const Workload& workload, const SimulationOptions& options,
                       Strategy& strategy, fabric::FiberStackPool& stacks,
                       TraceObserver* observer) {
  Simulation simulation(options, strategy, stacks, observer);
  simulation.add_host({.name = "server", .role = Role::server}, [](fabric::Host& host) {
    host.spawn({.name = "listen", .daemon = true}, [&host] { listen(host); });
  });
  for (std::uint32_t client = 0; client < workload.clients; ++client) {
    simulation.add_host(
        {.name = fmt::format("client {}", client)},
        [operations = workload.operations](fabric::Host& host) { work(host, operations); });
  }
  return simulation.run();
}

}  // namespace falafel::sim
