#include "fabric/sim/existing_programs.h"

#include "fabric/sim/host/device.h"
#include "fabric/sim/host/host.h"
#include "fabric/sim/memory/memory.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/network/queue_pair_creation.h"
#include "fabric/sim/network/shared_receive_queue.h"

namespace falafel::sim {

namespace {

CompletionQueueState& state_of(const fabric::CompletionQueue& queue) {
  return static_cast<const CompletionQueue&>(queue).state();
}

MemoryBlock& own(fabric::MemoryBlock& memory) { return static_cast<MemoryBlock&>(memory); }

class Watch final : public MemoryWatch {
 public:
  Watch(World& world, std::span<const std::byte> memory, fabric::Event& event)
      : watch_(world.word_waits, memory.data(), memory.size(), event) {}

 private:
  WordWaits::Watch watch_;
};

}  // namespace

std::shared_ptr<fabric::MemoryBlock> adopt_memory(fabric::Host& host, std::span<std::byte> memory) {
  return static_cast<Host&>(host).adopt_memory(memory);
}

OnDemandPaging on_demand_paging_of(fabric::Host& host) {
  return static_cast<Host&>(host).world().options.on_demand_paging;
}

void expect_store(fabric::MemoryBlock& memory, std::uint64_t offset) {
  own(memory).expect_store(offset);
}

void note_store(fabric::MemoryBlock& memory, std::uint64_t offset, std::uint64_t length_bytes) {
  own(memory).note_store(offset, length_bytes);
}

void write_through(fabric::MemoryBlock& memory, std::uint64_t offset,
                   std::span<const std::byte> source) {
  own(memory).write_through(offset, source);
}

std::unique_ptr<MemoryWatch> watch_memory(fabric::Host& host, std::span<const std::byte> memory,
                                          fabric::Event& event) {
  return std::make_unique<Watch>(static_cast<Host&>(host).world(), memory, event);
}

fabric::Result<std::unique_ptr<fabric::QueuePair>> create_unconnected(
    fabric::Device& device, const fabric::QueuePairOptions& options) {
  Device& own_device = static_cast<Device&>(device);
  fabric::Result<QueuePairActor*> actor =
      create_queue_pair(own_device.world(), own_device.state(), options);
  if (!actor) return tl::unexpected<fabric::Error>(actor.error());
  return std::make_unique<QueuePair>(**actor);
}

void become_ready(fabric::QueuePair& queue_pair) { actor_of(queue_pair).become_ready(); }

void give_up_waiting_for_peer(fabric::QueuePair& queue_pair) {
  actor_of(queue_pair).give_up_waiting_for_peer();
}

void join(fabric::QueuePair& left, fabric::QueuePair& right) {
  QueuePairActor::join(actor_of(left), actor_of(right));
  actor_of(left).refresh();
  actor_of(right).refresh();
}

void set_limits_as_requester(fabric::QueuePair& queue_pair, const LimitsAsRequester& limits) {
  actor_of(queue_pair).set_limits_as_requester(limits);
}

void set_rights_of_peer(fabric::QueuePair& queue_pair, const fabric::Access& rights) {
  actor_of(queue_pair).set_rights_of_peer(rights);
}

fabric::Result<void> post_faulty(fabric::QueuePair& queue_pair, const fabric::WorkRequest& work,
                                 fabric::CompletionStatus status) {
  return actor_of(queue_pair).post_faulty(work, status);
}

fabric::Result<void> post_faulty_receive(fabric::QueuePair& queue_pair,
                                         const fabric::ReceiveRequest& receive) {
  return actor_of(queue_pair).post_faulty_receive(receive);
}

fabric::Result<void> post_faulty_receive(fabric::SharedReceiveQueue& queue,
                                         const fabric::ReceiveRequest& receive) {
  return static_cast<SharedReceiveQueue&>(queue).state().post_faulty_receive(receive);
}

void withdraw(fabric::Host& host, fabric::MemoryRegion& region) {
  region.revoke();
  static_cast<Host&>(host).world().regions.withdraw(region.local_key());
}

void set_event_of_end(fabric::QueuePair& queue_pair, fabric::Event& event) {
  actor_of(queue_pair).set_event_of_end(event);
}

bool is_fenced(const fabric::QueuePair& queue_pair) { return actor_of(queue_pair).is_fenced(); }

bool has_refused_access(const fabric::QueuePair& queue_pair) {
  return actor_of(queue_pair).responder().has_refused_access();
}

std::uint32_t taken_places(const fabric::QueuePair& queue_pair) {
  return actor_of(queue_pair).taken_places();
}

void mark_solicited(fabric::QueuePair& queue_pair) { actor_of(queue_pair).mark_solicited(); }

void receive_what_lands(fabric::QueuePair& queue_pair) {
  actor_of(queue_pair).receive_what_lands();
}

std::uint64_t arrivals(const fabric::CompletionQueue& queue) { return state_of(queue).arrivals(); }

std::uint64_t urgent_arrivals(const fabric::CompletionQueue& queue) {
  return state_of(queue).urgent_arrivals();
}

std::uint64_t size(const fabric::CompletionQueue& queue) { return state_of(queue).size(); }

std::uint64_t size(const fabric::SharedReceiveQueue& queue) {
  return static_cast<const SharedReceiveQueue&>(queue).state().receives().size();
}

void set_event(fabric::CompletionQueue& queue, fabric::Event* event) {
  state_of(queue).set_event(event);
}

}  // namespace falafel::sim
