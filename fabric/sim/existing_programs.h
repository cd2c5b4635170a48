// Programs that were written for libibverbs need more than the contract has: memory that they own,
// queue pairs that are connected by number, requests that their own device refuses, and completion
// queues that raise events. All objects are those of the simulator; the calls come from the fibers
// of their host, as those of the contract do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/fabric.h"
#include "fabric/sim/network/connection.h"
#include "fabric/sim/options/options.h"

namespace falafel::sim {

// Memory that the program owns, as a block that can be registered. It exists until the run is over.
// The program reads and writes it by plain loads and stores, which the simulator does not see
// unless they are announced. So stores are never late, and the program sees the words of a WRITE as
// soon as they are in memory.
std::shared_ptr<fabric::MemoryBlock> adopt_memory(fabric::Host& host, std::span<std::byte> memory);

// A program whose loads and stores are announced. MemoryBlock::read says what its processor sees.
// expect_store: it is about to store, and others may move first. note_store: it has stored.
void expect_store(fabric::MemoryBlock& memory, std::uint64_t offset);
void note_store(fabric::MemoryBlock& memory, std::uint64_t offset, std::uint64_t length_bytes);
// As MemoryBlock::write, but no store is late.
void write_through(fabric::MemoryBlock& memory, std::uint64_t offset,
                   std::span<const std::byte> source);

// As long as the watch exists, each change of the memory by a device notifies the event. Both end
// before the run does.
class MemoryWatch {
 public:
  virtual ~MemoryWatch() = default;
};
std::unique_ptr<MemoryWatch> watch_memory(fabric::Host& host, std::span<const std::byte> memory,
                                          fabric::Event& event);

// The device's part of SimulationOptions that its contract does not have.
OnDemandPaging on_demand_paging_of(fabric::Host& host);

// A queue pair without a peer: it admits nothing, and cannot reach anybody. For UD as well. Errors:
// see Device::connect.
fabric::Result<std::unique_ptr<fabric::QueuePair>> create_unconnected(
    fabric::Device& device, const fabric::QueuePairOptions& options);
// From now on, it admits requests of its peer, and its own requests reach a peer that is ready.
// Until it has a peer, requests on RC wait for one, and those on UC are lost.
void become_ready(fabric::QueuePair& queue_pair);
// The peer that it waits for does not exist: requests on RC fail when the time for their answer has
// passed.
void give_up_waiting_for_peer(fabric::QueuePair& queue_pair);
// Both have named each other as their peers.
void join(fabric::QueuePair& left, fabric::QueuePair& right);
// Before it sends.
void set_limits_as_requester(fabric::QueuePair& queue_pair, const LimitsAsRequester& limits);
// Requests of its peer may do this, as far as the regions permit it.
void set_rights_of_peer(fabric::QueuePair& queue_pair, const fabric::Access& rights);

// The device finds the request wrong when its turn has come: it completes with the status, and the
// queue pair goes to error. Errors: queue_pair_closed, queue_full.
fabric::Result<void> post_faulty(fabric::QueuePair& queue_pair, const fabric::WorkRequest& work,
                                 fabric::CompletionStatus status);

// A receive request whose buffer the device may not use: when a message arrives for it, it
// completes with local_protection_error, and the sender's request with remote_operation_error.
// Errors: queue_pair_closed, queue_full.
fabric::Result<void> post_faulty_receive(fabric::QueuePair& queue_pair,
                                         const fabric::ReceiveRequest& receive);
fabric::Result<void> post_faulty_receive(fabric::SharedReceiveQueue& queue,
                                         const fabric::ReceiveRequest& receive);
// Revokes the region. Receive requests with buffers in it are faulty from now on.
void withdraw(fabric::Host& host, fabric::MemoryRegion& region);

// The event is notified when the queue pair goes to error, and when it is fenced then. It exists
// until the queue pair is closed.
void set_event_of_end(fabric::QueuePair& queue_pair, fabric::Event& event);
// The queue pair is in error, and all that it has admitted of its peer is in memory.
bool is_fenced(const fabric::QueuePair& queue_pair);
// Its error has this cause: the peer may not do what it requested.
bool has_refused_access(const fabric::QueuePair& queue_pair);

// How many requests the send queue has, up to the one whose completion was polled last.
std::uint32_t taken_places(const fabric::QueuePair& queue_pair);

// The message that was posted last asks the receiver to look at it.
void mark_solicited(fabric::QueuePair& queue_pair);

// All that the queue pair has admitted of its peer is in memory, and the processor sees it, as when
// the system has taken memory away from a device.
void receive_what_lands(fabric::QueuePair& queue_pair);

// How many completions have ever arrived; how many of these were failures, or of solicited
// messages; how many wait to be polled.
std::uint64_t arrivals(const fabric::CompletionQueue& queue);
std::uint64_t urgent_arrivals(const fabric::CompletionQueue& queue);
std::uint64_t size(const fabric::CompletionQueue& queue);
// How many receive requests wait for messages.
std::uint64_t size(const fabric::SharedReceiveQueue& queue);
// From now on, each arrival notifies the event. Null: none. The event lives as long.
void set_event(fabric::CompletionQueue& queue, fabric::Event* event);

}  // namespace falafel::sim
