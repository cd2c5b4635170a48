// Gathers the chains of a batch's operations, so that one doorbell posts many of them.
//
// Each operation of a batch runs on a fiber of its own. While any of these fibers runs, or a chain
// of the batch is in flight, further chains are collected. Then one doorbell posts all of them as
// one chain. The operations of a batch therefore take their round trips together. One that was
// absent (see below) joins the next round trip; it waits for the one in flight at most.
//
// A longer chain has the same effect as several chains that are posted one after the other: it
// only adds order. The requests of one operation stay together and keep their order.
//
// A fiber must not wait for anything else while the others count on it; see Absence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/client/requester.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Gathering : public std::enable_shared_from_this<Gathering> {
 public:
  class Absence;

  // `fibers` is the number of fibers that take part; all count as running. The requester must
  // outlive all calls.
  Gathering(Requester& requester, std::uint32_t fibers) : requester_(requester), running_(fibers) {}

  // Has the chain posted together with those of other fibers, and waits until all of it has
  // completed. Increments `doorbells` if this is the first chain that the doorbell posts. The fiber
  // that posts for all may first wait until the queue pair has room. Throws std::bad_alloc if there
  // is no memory to post; nothing was sent.
  ChainOutcome post_together(std::span<const fabric::WorkRequest> chain, std::uint64_t& doorbells);
  // The calling fiber takes no part any more. May wait for room.
  void leave();

  // For the requester: a chain has completed, and the `fibers` that waited for it run again.
  void on_completed(std::uint32_t fibers) {
    running_ += fibers;
    --in_flight_;
  }

 private:
  // Returns whether it is time to post.
  bool stop_running();
  void make_room(std::size_t requests);
  void post();
  void post_for_others();

  Requester& requester_;
  std::uint32_t running_;                       // fibers
  std::uint32_t in_flight_ = 0;                 // chains
  std::optional<Requester::ChainIndex> chain_;  // the one that is being collected
  std::vector<fabric::WorkRequest> requests_;   // of that chain
};

// While it exists, the calling fiber may wait for anything, and the others do not count on it.
// Creating it may wait. With a null pointer, it does nothing.
class Gathering::Absence {
 public:
  explicit Absence(std::shared_ptr<Gathering> gathering) : gathering_(std::move(gathering)) {
    if (gathering_ != nullptr) gathering_->leave();
  }
  ~Absence() {
    if (gathering_ != nullptr) ++gathering_->running_;
  }
  Absence(const Absence&) = delete;
  Absence& operator=(const Absence&) = delete;

 private:
  std::shared_ptr<Gathering> gathering_;
};

}  // namespace falafel::engine
