#include "fabric/sim/network/timed_queue_pair.h"

namespace falafel::sim {

namespace {

class TimedQueuePair final : public QueuePairActor {
 public:
  using QueuePairActor::QueuePairActor;

  void step() override {
    using Step = timing::RequestTimes::Step;
    const timing::RequestTimes::Next next = request_times_->next(movable_, can_complete_);
    switch (next.step) {
      case Step::none: FALAFEL_ASSERT(false, "{} has no work", describe());
      case Step::arrival: request_times_->arrive(sends_.at(next.place)); break;
      case Step::effect: take_effect(sends_.at(next.place)); break;
      case Step::completion: complete_or_flush(); break;
    }
    sends_.release_done();
    refresh();
  }

 private:
  void take_effect(Request& request) {
    progress(request, {});
    request_times_->take_effect(request);
    refresh_fencing_peer();
  }

  // The queue pair moves when the earliest of its requests does.
  void update() override {
    find_next();
    if (!sends_.empty()) request_times_->set_out_until(ordering_.end_of_window());
    const timing::RequestTimes::Next next = request_times_->next(movable_, can_complete_);
    const bool has_work = next.step != timing::RequestTimes::Step::none;
    if (has_work) world_.ready.set_due(*this, next.due_ns);
    world_.ready.set_work(*this, has_work);
    connection_.watch_responder(expects_answer());
  }
};

}  // namespace

Owned<QueuePairActor> make_timed_queue_pair(World& world, DeviceState& device, std::uint32_t number,
                                            const fabric::QueuePairOptions& options) {
  return world.make_as<QueuePairActor, TimedQueuePair>(world, device, number, options);
}

}  // namespace falafel::sim
