#include "fabric/sim/network/timed_queue_pair.h"

#include <algorithm>
#include <map>
#include <vector>

#include "fabric/sim/memory/device_writes.h"

namespace falafel::sim {

namespace {

// The answers of READs and atomics that are on their way to buffers on which the program polls.
class AnswersOnTheirWay {
 public:
  // Exchanges the buffer for what has been answered of the request, or back.
  void exchange(const Request& request) {
    const auto [answer, is_first] = answers_.try_emplace(request.place);
    std::byte* const end = request.local + request.work.length_bytes;
    if (is_first) answer->second.assign(request.local, end);
    std::swap_ranges(request.local, end, answer->second.begin());
  }
  // Puts the answer into the buffer, if it is still on its way.
  void land(World& world, const Request& request) {
    const auto answer = answers_.find(request.place);
    if (answer == answers_.end()) return;
    put_bytes(world, request.local, answer->second.data(), answer->second.size());
    answers_.erase(answer);
  }

 private:
  std::map<std::uint64_t, std::vector<std::byte>> answers_;  // by place
};

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
      case Step::landing: land(sends_.at(next.place)); break;
      case Step::completion:
        if (!sends_.all_completed()) land(sends_.oldest());
        complete_or_flush();
        break;
    }
    sends_.release_done();
    refresh();
  }

 private:
  void take_effect(Request& request) {
    const bool lands_later = world_.costs->profile().conditions.polls_buffers &&
                             request.work.segments.empty() &&
                             (request.is_read() || request.is_atomic());
    if (lands_later) answers_.exchange(request);
    progress(request, {});
    if (lands_later) answers_.exchange(request);
    request_times_->take_effect(request);
    refresh_fencing_peer();
  }

  void land(const Request& request) {
    if (connection_.is_ready()) answers_.land(world_, request);
    request_times_->land(request);
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

  AnswersOnTheirWay answers_;
};

}  // namespace

Owned<QueuePairActor> make_timed_queue_pair(World& world, DeviceState& device, std::uint32_t number,
                                            const fabric::QueuePairOptions& options) {
  return world.make_as<QueuePairActor, TimedQueuePair>(world, device, number, options);
}

}  // namespace falafel::sim
