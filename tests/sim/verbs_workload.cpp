#include "tests/sim/verbs_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace falafel::sim {
namespace verbs_workload {
namespace {

using fabric::Opcode;
using fabric::Transport;

constexpr std::uint32_t clients = 2;
constexpr std::uint32_t operations = 5;  // per client
constexpr std::uint64_t memory_bytes = 8192;
constexpr std::uint64_t messages = 4096;  // where they arrive
constexpr std::uint32_t message_bytes = 256;
constexpr std::uint16_t service = 9;
constexpr std::uint64_t patience_ns = 20'000'000'000;
constexpr std::size_t chain_requests = 3;
constexpr std::size_t most_connections = 12;

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
  std::uint32_t max_inline_bytes;

  explicit Side(fabric::Host& host)
      : domain(host.device(0).create_protection_domain()),
        completions(host.device(0).create_completion_queue(256).value()),
        memory(host.allocate_memory(memory_bytes).value()),
        region(register_memory(host, *domain, memory)),
        max_inline_bytes(host.device(0).attributes().max_inline_bytes) {}

  fabric::QueuePairOptions options(Transport transport, std::uint32_t retries) const {
    return {.transport = transport,
            .protection_domain = domain.get(),
            .send_completions = completions.get(),
            .receive_completions = completions.get(),
            .max_send_requests = 8,
            .max_receive_requests = 8,
            .max_inline_bytes = transport == Transport::message_stream ? 0 : max_inline_bytes,
            .max_send_segments = 2,
            .max_receive_segments = 2,
            .acknowledge_timeout_ns = 1'000'000,
            .receiver_not_ready_retry_count = retries,
            .hears_close = transport != Transport::message_stream};
  }

  fabric::LocalSegment segment(std::uint64_t offset, std::uint32_t length_bytes) const {
    return {.address = {region->local_key(), offset}, .length_bytes = length_bytes};
  }
};

// The transport that the client asks for.
fabric::PrivateData name_of(Transport transport) { return {static_cast<std::byte>(transport)}; }

// ------------------------------------------------------------------------------------------------
// The server

template <typename Queue>
void post_receives(const Side& side, Queue& queue, std::uint32_t count) {
  for (std::uint32_t index = 0; index < count; ++index) {
    const std::array segments = {side.segment(messages, message_bytes / 2),
                                 side.segment(messages + message_bytes, message_bytes / 2)};
    const fabric::ReceiveRequest receive{
        .id = index, .length_bytes = message_bytes, .segments = segments};
    if (!queue.post_receive({&receive, 1})) return;
  }
}

// Waits for the first word to change, and changes others.
void watch(fabric::Host& host, const std::shared_ptr<fabric::MemoryBlock>& memory) {
  std::uint64_t seen = 0;
  for (;;) {
    seen = memory->wait_until_changed(0, seen, host.now_ns() + 10'000'000);
    host.preemption_point();
    const std::array<std::uint64_t, 3> words = {seen, seen + 1, seen + 2};
    memory->write(16, std::as_bytes(std::span(words)));
    memory->compare_and_swap(8, host.random(2), 1);
    host.sleep_until(host.now_ns() + (std::uint64_t{1'000} << host.random(16)));
  }
}

class Server {
 public:
  explicit Server(fabric::Host& host)
      : host_(host), side_(host), listener_(host.device(0).listen(service).value()) {
    auto made = host.device(0).create_shared_receive_queue({.protection_domain = side_.domain.get(),
                                                            .max_receive_requests = 8,
                                                            .max_receive_segments = 2});
    shared_ = std::move(made.value());
    host.spawn({.name = "watch", .daemon = true},
               [&host, memory = side_.memory] { watch(host, memory); });
  }

  void serve() {
    post_receives(side_, *shared_, 2);
    for (;;) {
      const auto request = listener_->accept(host_.now_ns() + 1'000'000);
      take_completions();
      if (request != nullptr && accepted_.size() < most_connections) accept(*request);
    }
  }

 private:
  // Posts a receive request for each one that was used, and one for each connection without the
  // shared queue.
  void take_completions() {
    std::array<fabric::WorkCompletion, 8> completions;
    std::size_t taken = 0;
    while ((taken = side_.completions->poll(completions)) > 0) {
      post_receives(side_, *shared_, static_cast<std::uint32_t>(taken));
    }
    for (auto& queue_pair : accepted_) {
      if (queue_pair->transport() != Transport::reliable_connection) {
        post_receives(side_, *queue_pair, 1);
      }
    }
  }

  void accept(fabric::ConnectionRequest& request) {
    const auto transport = static_cast<Transport>(request.private_data().front());
    fabric::QueuePairOptions options = side_.options(transport, 7);
    if (transport == Transport::reliable_connection) options.shared_receive_queue = shared_.get();
    const std::uint32_t key = side_.region->remote_key();
    fabric::PrivateData reply(sizeof key);
    std::memcpy(reply.data(), &key, sizeof key);
    auto queue_pair = request.accept(options, std::move(reply));
    if (!queue_pair) return;
    accepted_.push_back(std::move(*queue_pair));
    if (transport == Transport::message_stream) return;
    host_.spawn({.name = "close", .daemon = true}, [&accepted = *accepted_.back()] {
      if (accepted.wait_until_peer_closed(fabric::never_ns)) accepted.close();
    });
  }

  fabric::Host& host_;
  Side side_;
  std::unique_ptr<fabric::Listener> listener_;
  std::unique_ptr<fabric::SharedReceiveQueue> shared_;
  std::vector<std::unique_ptr<fabric::QueuePair>> accepted_;
};

// ------------------------------------------------------------------------------------------------
// The clients

Opcode draw_opcode(fabric::Host& host, Transport transport) {
  constexpr std::array opcodes = {Opcode::send,
                                  Opcode::send_with_immediate,
                                  Opcode::write,
                                  Opcode::write_with_immediate,
                                  Opcode::read,
                                  Opcode::compare_and_swap,
                                  Opcode::fetch_and_add,
                                  Opcode::masked_compare_and_swap,
                                  Opcode::masked_fetch_and_add};
  switch (transport) {
    case Transport::message_stream: return Opcode::send;
    case Transport::unreliable_connection: return opcodes.at(host.random(4));
    default: return opcodes.at(host.random(opcodes.size()));
  }
}

class Client {
 public:
  explicit Client(fabric::Host& host) : host_(host), side_(host) {}

  void work() {
    for (std::uint32_t operation = 0; operation < operations; ++operation) {
      if (queue_pair_ == nullptr && !connect()) {
        host_.sleep_until(host_.now_ns() + 1'000'000);
        continue;
      }
      if (!use() || host_.random(8) == 0) leave();
    }
  }

 private:
  bool connect() {
    constexpr std::array transports = {Transport::reliable_connection,
                                       Transport::reliable_connection,
                                       Transport::unreliable_connection, Transport::message_stream};
    const Transport transport = transports.at(host_.random(transports.size()));
    const std::uint32_t retries = host_.random(2) == 0 ? 2 : 7;
    auto connection =
        host_.device(0).connect({"server", service}, side_.options(transport, retries),
                                name_of(transport), host_.now_ns() + patience_ns);
    if (!connection) return false;
    queue_pair_ = std::move(connection->queue_pair);
    std::memcpy(&remote_key_, connection->private_data.data(), sizeof remote_key_);
    return true;
  }

  fabric::WorkRequest draw_request(std::array<fabric::LocalSegment, 2>& segments) {
    const Transport transport = queue_pair_->transport();
    fabric::WorkRequest request;
    request.opcode = draw_opcode(host_, transport);
    const bool is_atomic = fabric::is_atomic(request.opcode);
    const bool needs_receive = fabric::needs_receive_request(request.opcode);
    request.length_bytes =
        is_atomic ? 8 : static_cast<std::uint32_t>(8 << host_.random(needs_receive ? 7 : 10));
    if (fabric::is_write(request.opcode) && host_.random(8) == 0) request.length_bytes = 0;
    request.signalled = host_.random(2) == 0;
    request.fenced = transport == Transport::reliable_connection && host_.random(4) == 0;
    request.local = {side_.region->local_key(), 8};
    request.remote = {remote_key_, 8 * host_.random(4)};
    if (host_.random(32) == 0) request.remote.offset += memory_bytes;  // refused
    request.compare = host_.random(2);
    request.swap_or_add = host_.random(16);
    request.compare_mask = host_.random(16);
    request.swap_mask = host_.random(16);
    request.field_boundaries = host_.random(16);
    request.immediate = static_cast<std::uint32_t>(host_.random(16));
    if (is_atomic || request.length_bytes < 16) return request;
    const bool sends_data = request.opcode != Opcode::read;
    const bool fits = request.length_bytes <= side_.max_inline_bytes;
    request.inlined =
        sends_data && fits && transport != Transport::message_stream && host_.random(2) == 0;
    if (host_.random(2) == 0) return request;
    segments = {side_.segment(8, 12), side_.segment(128, request.length_bytes - 12)};
    request.segments = segments;
    return request;
  }

  // Executes a chain; returns false if the connection breaks.
  bool use() {
    std::array<fabric::WorkRequest, chain_requests> chain;
    std::array<std::array<fabric::LocalSegment, 2>, chain_requests> segments;
    for (std::size_t index = 0; index < chain.size(); ++index) {
      chain.at(index) = draw_request(segments.at(index));
      chain.at(index).id = index;
    }
    chain.back().signalled = true;
    side_.memory->store(8, host_.random(0));
    if (!queue_pair_->post_send(chain)) return false;
    side_.memory->load(8);
    for (;;) {
      fabric::WorkCompletion completion;
      if (!side_.completions->wait(host_.now_ns() + patience_ns)) return false;
      if (side_.completions->poll({&completion, 1}) != 1) return false;
      if (completion.status != fabric::CompletionStatus::success) return false;
      if (completion.id + 1 == chain.size()) return true;
    }
  }

  // Ends the connection, now and then after a fence.
  void leave() {
    if (host_.random(2) == 0) {
      queue_pair_->move_to_error();
      fabric::WorkRequest last;
      last.opcode = Opcode::send;
      if (queue_pair_->post_send({&last, 1})) {
        side_.completions->wait(host_.now_ns() + patience_ns);
      }
    }
    queue_pair_.reset();
  }

  fabric::Host& host_;
  Side side_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::uint32_t remote_key_ = 0;
};

}  // namespace
}  // namespace verbs_workload

RunResult run_verbs_workload(const SimulationOptions& options, Strategy& strategy,
                             fabric::FiberStackPool& stacks, const timing::Profile* profile) {
  std::optional<Simulation> made;
  if (profile == nullptr) {
    made.emplace(options, strategy, stacks);
  } else {
    made.emplace(options, strategy, stacks, *profile);
  }
  made->add_host({.name = "server", .role = Role::server}, [](fabric::Host& host) {
    host.spawn({.name = "serve", .daemon = true},
               [&host] { verbs_workload::Server(host).serve(); });
  });
  for (std::uint32_t client = 0; client < verbs_workload::clients; ++client) {
    made->add_host({.name = fmt::format("client {}", client)},
                   [](fabric::Host& host) { verbs_workload::Client(host).work(); });
  }
  return made->run();
}

}  // namespace falafel::sim
