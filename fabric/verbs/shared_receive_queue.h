// Shared receive queues. Several queue pairs take the requests, so they complete in any order. The
// device identifies each by its slot, which is free again once the completion has been polled.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/verbs/memory.h"
#include "fabric/verbs/request_reference.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {

class CompletionQueueState;

// Shared by the program's shared receive queue and the queue pairs attached to it.
class SharedReceiveQueueState {
 public:
  SharedReceiveQueueState(SharedQueueHandle raw, std::shared_ptr<DomainState> domain,
                          const fabric::SharedReceiveQueueOptions& options);

  ibv_srq* raw() const { return raw_.get(); }
  const std::shared_ptr<DomainState>& domain() const { return domain_; }
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain);

  // The entries that a queue pair that completes there must reserve: those for all requests, or
  // none if another queue pair has reserved them.
  std::uint32_t entries_needed(const CompletionQueueState& completions) const;
  // They return the number of entries to reserve, and to release.
  std::uint32_t attach(const CompletionQueueState& completions);
  std::uint32_t detach(const CompletionQueueState& completions);

  const RequestReference& reference(std::uint64_t slot) const;
  void release(std::uint64_t slot);

 private:
  ibv_recv_wr translate(const fabric::ReceiveRequest& request);

  SharedQueueHandle raw_;
  std::shared_ptr<DomainState> domain_;
  fabric::QueuePairOptions options_;  // only the limits of receive requests
  std::vector<RequestReference> slots_;
  std::vector<std::uint64_t> free_slots_;
  std::vector<const CompletionQueueState*> completions_;  // one entry per queue pair
  // Members only to reuse their memory.
  std::vector<ibv_recv_wr> list_;
  std::vector<ibv_sge> buffers_;
};

class SharedReceiveQueue final : public fabric::SharedReceiveQueue {
 public:
  explicit SharedReceiveQueue(std::shared_ptr<SharedReceiveQueueState> state)
      : state_(std::move(state)) {}
  fabric::Result<void> post_receive(std::span<const fabric::ReceiveRequest> chain) override {
    return state_->post_receive(chain);
  }
  const std::shared_ptr<SharedReceiveQueueState>& state() const { return state_; }

 private:
  std::shared_ptr<SharedReceiveQueueState> state_;
};

// Errors: see fabric::Device::create_shared_receive_queue.
fabric::Result<std::unique_ptr<fabric::SharedReceiveQueue>> make_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options, const fabric::DeviceAttributes& device);

}  // namespace falafel::verbs
