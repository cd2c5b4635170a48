// A client's connection to a memory node, over which it executes chains of one-sided requests. A
// chain that breaks its connection is repeated on the next one, so repeating a chain that has had
// its effect must change nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/fabric.h"
#include "stores/registered_memory.h"

namespace falafel::stores {

// A node as the clients know it.
struct Member {
  fabric::Address address;
  std::uint64_t incarnation = 0;
};

struct NodeConnectionOptions {
  std::uint64_t buffer_bytes = 0;  // of the client's own memory, which requests read and write
  // A node with another incarnation than that of its member counts as gone.
  bool checks_incarnation = true;
  std::uint64_t connect_timeout_ns = 0;
  std::uint64_t acknowledge_timeout_ns = 0;
  std::uint32_t retry_count = 0;
  std::uint32_t connections_per_chain = 0;  // that may break before execute() fails
};

// Requests between the client's buffer and the node's memory.
fabric::WorkRequest read_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                 std::uint64_t length_bytes);
// The word before the swap is left at local_offset.
fabric::WorkRequest swap_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                 std::uint64_t expected, std::uint64_t desired);

class NodeConnection {
 public:
  // The host outlives the connection, which is made when a request needs it. Errors: those of
  // RegisteredMemory::create.
  static fabric::Result<std::unique_ptr<NodeConnection>> create(
      fabric::Host& host, const Member& member, const NodeConnectionOptions& options);

  fabric::MemoryBlock& buffer() { return *buffer_.block; }
  // Copies the bytes into the buffer first.
  fabric::WorkRequest write_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                    std::span<const std::byte> bytes);

  // Waits for all requests of the chain, at most most_chain_requests. False if the node does not
  // answer, or is gone: each request may then have had its effect, or may have it later.
  static constexpr std::uint32_t most_chain_requests = 16;
  bool execute(std::span<fabric::WorkRequest> chain);
  // An earlier attempt of the last chain may have had its effect.
  bool is_repeated() const { return is_repeated_; }
  // Does not wait, except for a connection, and does not say whether the request succeeds. Nothing
  // is posted if the queue is full.
  void post(fabric::WorkRequest request);

 private:
  NodeConnection(fabric::Host& host, Member member, const NodeConnectionOptions& options);
  bool connect();
  bool try_to_execute(std::span<fabric::WorkRequest> chain);
  void set_keys(fabric::WorkRequest& request) const;

  fabric::Host& host_;
  Member member_;
  NodeConnectionOptions options_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  RegisteredMemory buffer_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;  // null: not connected
  std::uint32_t remote_key_ = 0;
  bool is_repeated_ = false;
  bool is_gone_ = false;  // the node has another incarnation
};

}  // namespace falafel::stores
