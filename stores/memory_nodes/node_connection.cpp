#include "stores/memory_nodes/node_connection.h"

#include <array>
#include <utility>

#include "stores/bytes.h"
#include "stores/memory_nodes/memory_node.h"

namespace falafel::stores {

fabric::WorkRequest read_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                 std::uint64_t length_bytes) {
  return {.opcode = fabric::Opcode::read,
          .length_bytes = static_cast<std::uint32_t>(length_bytes),
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset}};
}

fabric::WorkRequest swap_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                 std::uint64_t expected, std::uint64_t desired) {
  return {.opcode = fabric::Opcode::compare_and_swap,
          .length_bytes = fabric::word_bytes,
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset},
          .compare = expected,
          .swap_or_add = desired};
}

NodeConnection::NodeConnection(fabric::Host& host, Member member,
                               const NodeConnectionOptions& options)
    : host_(host),
      member_(std::move(member)),
      options_(options),
      domain_(host.device(0).create_protection_domain()) {}

fabric::Result<std::unique_ptr<NodeConnection>> NodeConnection::create(
    fabric::Host& host, const Member& member, const NodeConnectionOptions& options) {
  std::unique_ptr<NodeConnection> connection(new NodeConnection(host, member, options));
  auto buffer = RegisteredMemory::create(host, *connection->domain_, options.buffer_bytes,
                                         {.local_write = true});
  if (!buffer) return tl::unexpected(buffer.error());
  connection->buffer_ = std::move(*buffer);
  return connection;
}

bool NodeConnection::connect() {
  auto completions = host_.device(0).create_completion_queue(2 * most_chain_requests);
  if (!completions) return false;
  completions_ = std::move(*completions);
  auto connection =
      host_.device(0).connect(member_.address,
                              {.protection_domain = domain_.get(),
                               .send_completions = completions_.get(),
                               .receive_completions = completions_.get(),
                               .max_send_requests = most_chain_requests,
                               .max_receive_requests = 1,
                               .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                               .retry_count = options_.retry_count},
                              {}, host_.now_ns() + options_.connect_timeout_ns);
  if (!connection) return false;
  const auto hello = from_bytes<MemoryNodeHello>(connection->private_data);
  if (!hello) return false;
  if (options_.checks_incarnation && hello->incarnation != member_.incarnation) {
    is_gone_ = true;
    return false;
  }
  remote_key_ = static_cast<std::uint32_t>(hello->remote_key);
  queue_pair_ = std::move(connection->queue_pair);
  return true;
}

bool NodeConnection::execute(std::span<fabric::WorkRequest> chain) {
  for (std::uint32_t broken = 0; broken < options_.connections_per_chain && !is_gone_; ++broken) {
    if (queue_pair_ == nullptr && !connect()) return false;
    is_repeated_ = broken > 0;
    if (try_to_execute(chain)) return true;
    queue_pair_.reset();
  }
  return false;
}

// Only the last request of the chain is signalled, and every failure is.
bool NodeConnection::try_to_execute(std::span<fabric::WorkRequest> chain) {
  for (fabric::WorkRequest& request : chain) {
    request.signalled = &request == &chain.back();
    set_keys(request);
  }
  if (!queue_pair_->post_send(chain)) return false;
  host_.spend(fabric::Work::round_trip, 0);
  std::array<fabric::WorkCompletion, 1> completion;
  while (completions_->poll(completion) == 0) completions_->wait(fabric::never_ns);
  return completion.front().status == fabric::CompletionStatus::success;
}

// A failure of the request is found by the next chain, whose completions come behind it.
void NodeConnection::post(fabric::WorkRequest request) {
  if (is_gone_ || (queue_pair_ == nullptr && !connect())) return;
  request.signalled = false;
  set_keys(request);
  if (!queue_pair_->post_send(std::span(&request, 1))) return;
  host_.spend(fabric::Work::round_trip, 0);
}

fabric::WorkRequest NodeConnection::write_request(std::uint64_t local_offset,
                                                  std::uint64_t remote_offset,
                                                  std::span<const std::byte> bytes) {
  buffer_.block->write(local_offset, bytes);
  host_.spend(fabric::Work::copy, bytes.size());
  return {.opcode = fabric::Opcode::write,
          .length_bytes = static_cast<std::uint32_t>(bytes.size()),
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset}};
}

void NodeConnection::set_keys(fabric::WorkRequest& request) const {
  request.local.key = buffer_.region->local_key();
  request.remote.key = remote_key_;
}

}  // namespace falafel::stores
