// The steps of a plain queue pair, and what it can do next. While both ends are ready and at most
// one request is in its queue, there is nothing to order, so the ordering rules are not applied.
#include "fabric/sim/network/plain_queue_pair.h"

namespace falafel::sim {

namespace {

class PlainQueuePair final : public QueuePairActor {
 public:
  using QueuePairActor::QueuePairActor;

  void step() override {
    if (const std::uint64_t chosen = choose_movable(); chosen != 0) {
      progress(sends_.at(first_of(chosen)), any_answers);
      if (may_complete_oldest() && answer_arrives_at_once()) complete_oldest();
      refresh_fencing_peer();
    } else {
      complete_or_flush();
    }
    sends_.release_done();
    touch_as_a_whole();
    if (update_alone()) return;
    QueuePairActor::update();
    notify_of_end();
  }

 private:
  static constexpr TransferAnswers any_answers{};

  void update() override {
    if (!update_alone()) QueuePairActor::update();
  }

  // Returns false if the ordering rules have to be applied.
  bool update_alone() {
    if (!connection_.is_plainly_up()) return false;
    if (sends_.empty()) {
      set_next(0, false);
      return true;
    }
    const Request& request = sends_.at(sends_.released());
    if (!sends_.has_one_request() || fabric::needs_receive_request(request.work.opcode)) {
      return false;
    }
    const bool expects_completion = !sends_.all_completed();
    if (expects_completion) connection_.peer_side()->touch(Access::reads);
    set_next(request.is_done() ? 0 : 1, expects_completion && is_oldest_answered());
    return true;
  }

  void set_next(std::uint64_t movable, bool can_complete) {
    movable_ = movable;
    can_complete_ = can_complete;
    world_.ready.set_work(*this, movable != 0 || can_complete);
  }

  bool may_complete_oldest() const {
    return connection_.is_ready() && !sends_.all_completed() && is_oldest_answered();
  }
};

}  // namespace

Owned<QueuePairActor> make_plain_queue_pair(World& world, DeviceState& device, std::uint32_t number,
                                            const fabric::QueuePairOptions& options) {
  return world.make_as<QueuePairActor, PlainQueuePair>(world, device, number, options);
}

}  // namespace falafel::sim
