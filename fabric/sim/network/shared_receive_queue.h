// Shared receive queues of the simulator. The state stays while the world exists, because queue
// pairs refer to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/network/receive_queue.h"

namespace falafel::sim {

class CompletionQueueState;
class DeviceState;
struct World;

// A queue pair that takes its receive requests from a shared queue, as the queue knows it.
class SharingQueuePair {
 public:
  // The receive queue was empty before.
  virtual void first_receive_was_posted() const = 0;

 protected:
  ~SharingQueuePair() = default;
};

class SharedReceiveQueueState {
 public:
  SharedReceiveQueueState(World& world, const DeviceState& device, std::uint32_t index,
                          const fabric::SharedReceiveQueueOptions& options);

  const DeviceState& device() const { return device_; }
  std::uint32_t protection_domain() const { return protection_domain_; }
  ReceiveQueue& receives() { return receives_; }
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain);
  fabric::Result<void> post_faulty_receive(const fabric::ReceiveRequest& receive);
  void drop_all() { receives_.drop_all(); }

  // How many entries a queue pair that completes there must reserve: those for all requests, or
  // none if another queue pair has reserved them.
  std::uint32_t entries_needed(const CompletionQueueState& completions) const;
  // They return the number of entries to reserve, and to release.
  std::uint32_t attach(SharingQueuePair& queue_pair, const CompletionQueueState& completions);
  std::uint32_t detach(const SharingQueuePair& queue_pair, const CompletionQueueState& completions);

 private:
  struct Attached {
    SharingQueuePair* queue_pair;
    const CompletionQueueState* completions;
  };

  void enqueue(std::span<const fabric::ReceiveRequest> chain);

  World& world_;
  const DeviceState& device_;
  std::uint32_t protection_domain_;
  fabric::QueuePairOptions options_;  // only the limits of receive requests
  ReceiveQueue receives_;
  std::vector<Attached> attached_;
};

class SharedReceiveQueue final : public fabric::SharedReceiveQueue {
 public:
  SharedReceiveQueue(SharedReceiveQueueState& state, DeviceState& device)
      : state_(state), device_(device) {}
  ~SharedReceiveQueue() override;
  SharedReceiveQueue(const SharedReceiveQueue&) = delete;
  SharedReceiveQueue& operator=(const SharedReceiveQueue&) = delete;

  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override {
    return state_.post_receive(chain);
  }
  SharedReceiveQueueState& state() const { return state_; }

 private:
  SharedReceiveQueueState& state_;
  DeviceState& device_;
};

}  // namespace falafel::sim
