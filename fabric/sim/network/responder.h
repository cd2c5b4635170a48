// A queue pair in the role of the responder. It admits requests of its peer by key, protection
// domain, bounds and rights, and delivers messages into receive buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/receive_queue.h"

namespace falafel::sim {

// The queue pair of a responder, as the responder knows it.
class ReceivingQueuePair {
 public:
  // When the completion is polled, the processor sees the WRITEs before the place `shows_before` in
  // the peer's send queue. `is_urgent`: it is of a solicited message.
  virtual void complete_receive(const fabric::WorkCompletion& completion,
                                std::uint64_t shows_before, bool is_urgent) = 0;
  virtual void fail_receive(const fabric::WorkCompletion& completion) = 0;
  virtual void move_to_error() = 0;

 protected:
  ~ReceivingQueuePair() = default;
};

class Responder {
 public:
  Responder(Connection& connection, ReceiveQueue& receives, ReceivingQueuePair& queue_pair)
      : connection_(connection), receives_(receives), queue_pair_(queue_pair) {}

  const Connection& connection() const { return connection_; }
  bool is_ready() const { return connection_.is_ready(); }
  // Returns false if the responder refuses the request, or its next packet. Otherwise notes its
  // place in memory, which exists until the run ends, even if the region is revoked.
  bool admit(Request& request) const {
    const fabric::WorkRequest& work = request.work;
    World& world = connection_.world();
    const std::uint32_t key = world.regions.key_of_remote(work.remote.key);
    world.touch(Touchable::region, key, Access::reads);
    const Region* region = world.regions.find(key, connection_.protection_domain());
    if (region == nullptr || !permits(region->access, work.opcode)) return false;
    if (region->queue_pair != 0 && region->queue_pair != connection_.number()) return false;
    if (!permits(connection_.rights_of_peer(), work.opcode)) return false;
    const bool is_within = region->contains(work.remote.offset, work.length_bytes);
    if (!is_within && !contains_next_packet(request)) return false;
    request.target = region->base + work.remote.offset;
    request.target_block = region->block.get();
    request.target_block_number = region->block_number;
    request.ordering = region->ordering;
    return true;
  }
  // The order of the region that the request refers to.
  fabric::RegionOrdering ordering_for(const fabric::WorkRequest& work) const;
  // Tells if the option bounds_per_packet is set and the region of the request, which exists,
  // contains the next packet. A region never moves, so this is no access of memory or of rights.
  [[gnu::cold]] bool contains_next_packet(const Request& request) const;
  // Atomics of its device exclude each other.
  HeldWords& held_words() const { return connection_.held_words(); }

  bool has_receive_request() const {
    receives_.touch_front(connection_.world(), Access::reads);
    return !receives_.empty();
  }
  std::uint32_t next_buffer_bytes() const { return receives_.front().length_bytes; }
  // The buffer of the oldest receive request, which a message of this length needs, is one.
  bool has_usable_buffer(std::uint64_t length_bytes) const {
    const RegionTable& regions = connection_.world().regions;
    if (length_bytes == 0 || !regions.has_faulty_buffers()) return true;
    return is_usable(receives_.front());
  }
  // Ends the window that a SEND of the peer invalidates. Returns false if the peer may not.
  bool invalidate(std::uint32_t remote_key) const;
  // Copies the message of a SEND into the buffer of the oldest receive request, and completes the
  // receive request. The buffer must be long enough.
  void deliver(const Connection& sender, const Request& request);
  // Removes the oldest receive request for a WRITE with immediate, and returns its id.
  std::uint64_t take_receive_request() { return take().id; }
  // Completes the receive request that a WRITE with immediate consumed, whose data is in memory.
  void complete_write(const Connection& sender, const Request& request);
  // Fails the oldest receive request, because the message is too long for its buffer.
  void fail_receive();
  // The same because its buffer is not usable.
  void fail_receive_of_faulty_buffer();
  // Completes the oldest receive request as flushed.
  void flush_receive();
  // Moves this side to error, because it refused a request of the peer with this status.
  void fail_access(fabric::CompletionStatus status);
  bool has_refused_access() const { return has_refused_access_; }

  void touch_connection() const { connection_.touch(Access::reads); }

 private:
  static bool permits(const fabric::Access& access, fabric::Opcode opcode) {
    if (opcode == fabric::Opcode::read) return access.remote_read;
    return fabric::is_write(opcode) ? access.remote_write
                                    : fabric::is_atomic(opcode) && access.remote_atomic;
  }
  bool is_usable(const fabric::ReceiveRequest& receive) const;
  fabric::ReceiveRequest take() {
    receives_.touch_front(connection_.world(), Access::writes);
    return receives_.take();
  }
  void complete_receive(fabric::WorkCompletion completion, std::uint64_t shows_before,
                        bool is_urgent);
  void complete_failed(std::uint64_t receive_id, fabric::CompletionStatus status);

  Connection& connection_;
  ReceiveQueue& receives_;
  ReceivingQueuePair& queue_pair_;
  bool has_refused_access_ = false;
  std::vector<std::byte> scratch_;  // a member only to reuse its memory
};

}  // namespace falafel::sim
