// Chains of requests on the client's queue pair. Many fibers post chains, and each waits for its
// own.
//
// All completions arrive in one queue. One of the waiting fibers polls the queue and distributes
// the completions. When its own chain is complete, it passes this task on. A client with a single
// operation therefore waits for its completion directly, without switching fibers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::engine {

// How a chain of requests ended.
enum class ChainOutcome : std::uint8_t {
  completed,   // all of it took effect
  not_posted,  // the connection was broken before; nothing was sent
  in_doubt,    // the connection broke while the chain was in flight; some of it may take effect
};

class Requester {
 public:
  // `capacity` is the number of requests that the queue pair holds at once. `on_broken` is called
  // once, when the requester finds that the connection is broken.
  Requester(fabric::Host& host, fabric::CompletionQueue& completions, std::uint32_t capacity,
            std::function<void()> on_broken);
  void attach(fabric::QueuePair& queue_pair) { queue_pair_ = &queue_pair; }

  // Posts the chain with one doorbell and waits until all of it has completed. Sets identifiers and
  // signals of the requests. If the fiber is cancelled while it waits, its buffers remain in use.
  ChainOutcome post_and_wait(std::span<fabric::WorkRequest> chain);

  // Makes all waiting and future chains fail.
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
  // Polls the queue, or waits for `event` while another fiber polls, until `condition` holds.
  template <typename Condition>
  void wait_until(const Condition& condition, fabric::Event& event);
  void dispatch();
  void complete(const fabric::WorkCompletion& completion);
  // Call when the fiber that waits for `own` stops waiting.
  void wake_another(const fabric::Event& own);

  fabric::Host& host_;
  fabric::CompletionQueue& completions_;
  fabric::QueuePair* queue_pair_ = nullptr;
  std::function<void()> on_broken_;
  std::uint32_t capacity_;
  std::uint32_t queued_ = 0;  // number of posted requests whose completion has not been polled
  std::vector<Chain> chains_;
  std::unique_ptr<fabric::Event> room_;
  std::array<fabric::WorkCompletion, 16> batch_{};  // the completions polled last
  bool polling_ = false;                            // whether a fiber polls the queue
  bool broken_ = false;
};

}  // namespace falafel::engine
