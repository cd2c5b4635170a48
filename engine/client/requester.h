// Chains of requests on the client's queue pair. Many fibers post chains, and each waits for its
// own. The fibers of a batch share chains (gathering.h): each waits for its part.
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
#include "fabric/immediate_reads.h"

namespace falafel::engine {

// How a chain of requests ended.
enum class ChainOutcome : std::uint8_t {
  completed,   // all of it took effect
  not_posted,  // the connection was broken before; nothing was sent
  in_doubt,    // the connection broke while the chain was in flight; some of it may take effect
};

class Gathering;

class Requester {
 public:
  using ChainIndex = std::size_t;
  // Some requests of a chain that several fibers share.
  struct Part {
    ChainIndex chain = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  class Waiting;

  // `capacity` is the number of requests that the queue pair holds at once. `on_broken` is called
  // once, when the requester finds that the connection is broken.
  Requester(fabric::Host& host, fabric::CompletionQueue& completions, std::uint32_t capacity,
            std::function<void()> on_broken);
  void attach(fabric::QueuePair& queue_pair);

  // Posts the chain with one doorbell and waits until all of it has completed. Sets identifiers and
  // signals of the requests. If the fiber is cancelled while it waits, its buffers remain in use.
  // Throws std::bad_alloc if there is no memory to post; nothing was sent.
  ChainOutcome post_and_wait(std::span<fabric::WorkRequest> chain);

  // Carries out a READ at once, without a completion. Returns false if it has to be posted.
  bool read_at_once(const fabric::WorkRequest& request) {
    return immediate_reads_ != nullptr && !broken_ && immediate_reads_->read_at_once(request);
  }

  // The same in steps, for a chain that fibers share. When it has completed, the gathering learns
  // how many fibers waited for it. A chain that no fiber waits for must not be used.
  ChainIndex open_chain(std::shared_ptr<Gathering> gathering);
  // Waits for room and posts. Sets identifiers and signals of the requests, at most `capacity`. If
  // there is no memory to post, nothing is sent, and all fibers that wait for the chain learn it.
  void post(ChainIndex chain, std::span<fabric::WorkRequest> requests);
  // Call after post() unless the calling fiber waits for the chain: another fiber has to poll.
  void let_poll(ChainIndex chain);
  // The calling fiber must have a Waiting for the chain. Throws std::bad_alloc if there was no
  // memory to post the chain.
  ChainOutcome wait_for(const Part& part);
  std::uint32_t capacity() const { return capacity_; }

  // Makes all waiting and future chains fail.
  void break_off();
  bool is_broken() const { return broken_; }

 private:
  struct Chain {
    std::unique_ptr<fabric::Event> completed;
    std::shared_ptr<Gathering> gathering{};  // null: one fiber uses the chain alone
    std::uint32_t fibers = 0;                // waiting for it; cancelled ones do not wait
    std::uint32_t requests = 0;              // 0: not posted
    std::uint32_t finished = 0;
    std::uint32_t succeeded = 0;  // requests before the first that failed
    bool used = false;
    bool refused = false;        // the connection was broken before the chain was posted
    bool lacked_memory = false;  // refused, because there was no memory to post it

    bool is_posted() const { return requests > 0; }
    bool is_done() const { return refused || (is_posted() && finished == requests); }
    bool is_awaited() const { return is_posted() && !is_done() && fibers > 0; }
    void set_unused();
  };
  class Polling;
  class Sleep;

  ChainIndex take_chain();
  void wait_for_room(std::size_t requests);
  void post_now(ChainIndex index, std::span<fabric::WorkRequest> requests);
  // Polls the queue, or waits for `event` while another fiber polls or this one may not, until
  // `condition` holds.
  template <typename Condition, typename MayPoll>
  void wait_until(const Condition& condition, const MayPoll& may_poll, fabric::Event& event);
  void dispatch();
  void complete(const fabric::WorkCompletion& completion);
  void finish(Chain& chain);
  // Call when the fiber that waits for `own` stops waiting.
  void wake_another(const fabric::Event& own);

  fabric::Host& host_;
  fabric::CompletionQueue& completions_;
  fabric::QueuePair* queue_pair_ = nullptr;
  fabric::ImmediateReads* immediate_reads_ = nullptr;  // of the queue pair, if it has them
  std::function<void()> on_broken_;
  std::uint32_t capacity_;
  std::uint32_t queued_ = 0;  // number of posted requests whose completion has not been polled
  std::vector<Chain> chains_;
  std::unique_ptr<fabric::Event> room_;
  std::array<fabric::WorkCompletion, 16> batch_{};  // the completions polled last
  bool polling_ = false;                            // a fiber polls the queue
  std::uint32_t asleep_ = 0;                        // fibers that wait for an event
  bool broken_ = false;
};

// A fiber that waits for a chain. The chain is free when all are done with it. If they are
// cancelled earlier, the chain's completion frees it.
class Requester::Waiting {
 public:
  Waiting(Requester& requester, ChainIndex index) : requester_(requester), index_(index) {
    ++requester_.chains_[index_].fibers;
  }
  ~Waiting() {
    Chain& chain = requester_.chains_[index_];
    --chain.fibers;
    if (chain.fibers == 0 && (chain.is_done() || !chain.is_posted())) chain.set_unused();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Requester& requester_;
  ChainIndex index_;
};

}  // namespace falafel::engine
