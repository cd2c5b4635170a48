// The requests that a client of NessieSD or NessieHY has a node carry out (5). It WRITEs a request
// into its slot of the node's request region, and waits for the response in its own memory. To its
// own node, it stores the request instead.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/nessie/connection.h"
#include "stores/nessie/message_slot.h"
#include "stores/nessie/node.h"
#include "stores/nessie/options.h"

namespace falafel::nessie {

class Requester {
 public:
  // Registers in the domain. `own_node` is null for a client whose host has no node. Errors:
  // out_of_memory (also if the own node has no slot left).
  static fabric::Result<std::unique_ptr<Requester>> create(fabric::Host& host,
                                                           fabric::ProtectionDomain& domain,
                                                           Node* own_node, std::uint64_t nodes,
                                                           const Options& options);

  // The message to the node when the client connects.
  ClientHello hello(std::uint64_t node) const;

  // Waits. The response, or what is known of the request. `connection` leads to that node.
  tl::expected<Message, Fate> execute(std::uint64_t node, Connection& connection, Message request);
  tl::expected<Message, Fate> execute_locally(Message request);

  std::uint64_t timeouts() const { return timeouts_; }
  std::uint64_t incomplete_looks() const;

 private:
  Requester(fabric::Host& host, const Options& options);
  fabric::Result<void> open(fabric::ProtectionDomain& domain, std::uint64_t nodes);

  std::uint64_t response_offset(std::uint64_t node) const { return node * layout_.slot_bytes(); }
  Bytes encode(Message& request);
  tl::expected<Message, Fate> wait_for_response(std::uint64_t node, std::uint32_t sequence);

  fabric::Host& host_;
  const Options options_;
  MessageLayout layout_;
  std::uint64_t client_;  // unique
  std::uint32_t sequence_ = 0;
  std::shared_ptr<fabric::MemoryBlock> block_;  // a slot for the responses of each node, a request
  std::unique_ptr<fabric::MemoryRegion> request_region_;
  std::unique_ptr<fabric::MemoryRegion> response_region_;
  std::uint64_t request_offset_ = 0;
  std::vector<MessageSlot> responses_;  // by node
  std::uint64_t own_node_ = 0;          // if the client's host has one
  Service::Place own_place_;
  std::uint64_t timeouts_ = 0;
};

}  // namespace falafel::nessie
