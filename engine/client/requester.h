// Chains of requests on the client's queue pair, posted by many fibers and waited for by each.
//
// Completions arrive in one queue. Of the fibers that wait, one at a time looks after the queue and
// hands out what it finds; when its own chain is done it passes the task on. So a client with a single
// operation waits for its completion directly, and no fiber runs for others without need.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::engine {

class Requester {
 public:
  // `capacity`: requests that the queue pair takes at once. `on_broken` is called once, when the
  // connection is found broken.
  Requester(fabric::Host& host, fabric::CompletionQueue& completions, std::uint32_t capacity,
            std::function<void()> on_broken);
  void attach(fabric::QueuePair& queue_pair) { queue_pair_ = &queue_pair; }

  // Posts the chain with one doorbell and waits until all of it has completed; identifiers and signals
  // are set here. False: the connection is broken, and what the chain did is in doubt; unless
  // `*posted` (if given) is false: then nothing of it was sent. A fiber that is cancelled meanwhile
  // leaves its buffers in use.
  bool execute(std::span<fabric::WorkRequest> chain, bool* posted = nullptr);

  // Whatever waits, and comes, fails.
  void break_off();
  bool is_broken() const { return broken_; }

 private:
  struct Chain {
    std::unique_ptr<fabric::Event> completed;
    std::uint32_t requests = 0;  // 0: unused
    std::uint32_t finished = 0;
    bool failed = false;
    bool abandoned = false;  // its fiber was cancelled

    bool is_done() const { return finished == requests; }
    void set_unused() { requests = finished = 0; }
  };
  class Waiting;
  class Polling;

  std::size_t take_chain(std::uint32_t requests);
  // Looks after the queue, or waits for `event`, until `condition` holds.
  template <typename Condition>
  void wait_until(const Condition& condition, fabric::Event& event);
  void dispatch();
  void complete(const fabric::WorkCompletion& completion);
  // Who waits for `own` is leaving.
  void wake_another(const fabric::Event& own);

  fabric::Host& host_;
  fabric::CompletionQueue& completions_;
  fabric::QueuePair* queue_pair_ = nullptr;
  std::function<void()> on_broken_;
  std::uint32_t capacity_;
  std::uint32_t queued_ = 0;  // requests posted whose completion has not been polled
  std::vector<Chain> chains_;
  std::unique_ptr<fabric::Event> room_;
  std::array<fabric::WorkCompletion, 16> batch_{};  // those polled last
  bool polling_ = false;                            // a fiber looks after the queue
  bool broken_ = false;
};

}  // namespace falafel::engine
