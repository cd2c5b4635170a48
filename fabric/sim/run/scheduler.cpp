#include "fabric/sim/run/scheduler.h"

#include "fabric/fabric.h"

namespace falafel::sim {

ReadySet::ReadySet(std::pmr::memory_resource& memory, std::size_t expected_count)
    : actors_(&memory), ids_(&memory) {
  actors_.reserve(expected_count);
  ids_.reserve(expected_count);
}

void ReadySet::introduce(Actor& actor) {
  actor.actor_id_ = static_cast<ActorId>(actors_.size());
  actors_.push_back(&actor);
  ids_.push_back(0);
}

Timer::~Timer() {
  if (queue_ != nullptr) queue_->cancel(*this);
}

TimerQueue::~TimerQueue() {
  for (Timer* timer : heap_) timer->queue_ = nullptr;
}

bool TimerQueue::before(const Timer& left, const Timer& right) {
  if (left.deadline_ns_ != right.deadline_ns_) return left.deadline_ns_ < right.deadline_ns_;
  return left.sequence_ < right.sequence_;
}

void TimerQueue::place(Timer* timer, std::size_t position) {
  heap_[position] = timer;
  timer->position_ = position;
}

void TimerQueue::rise(Timer* timer) {
  std::size_t position = timer->position_;
  while (position > 0) {
    const std::size_t parent = (position - 1) / 2;
    if (before(*heap_[parent], *timer)) break;
    place(heap_[parent], position);
    position = parent;
  }
  place(timer, position);
}

void TimerQueue::sink(Timer* timer) {
  std::size_t position = timer->position_;
  for (;;) {
    std::size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
    if (before(*timer, *heap_[child])) break;
    place(heap_[child], position);
    position = child;
  }
  place(timer, position);
}

void TimerQueue::refresh() {
  next_ns_ = heap_.empty() ? fabric::never_ns : heap_.front()->deadline_ns_;
}

void TimerQueue::set(Timer& timer, std::uint64_t deadline_ns) {
  cancel(timer);
  if (deadline_ns == fabric::never_ns) return;
  timer.queue_ = this;
  timer.deadline_ns_ = deadline_ns;
  timer.sequence_ = next_sequence_++;
  timer.position_ = heap_.size();
  heap_.push_back(&timer);
  rise(&timer);
  refresh();
}

void TimerQueue::cancel(Timer& timer) {
  if (timer.position_ == Timer::absent) return;
  const std::size_t position = timer.position_;
  FALAFEL_ASSERT(timer.queue_ == this && position < heap_.size() && heap_[position] == &timer,
                 "a timer is not at position {} of {} timers", position, heap_.size());
  timer.position_ = Timer::absent;
  timer.queue_ = nullptr;
  Timer* last = heap_.back();
  heap_.pop_back();
  if (last != &timer) {
    place(last, position);
    rise(last);
    sink(last);
  }
  refresh();
}

void TimerQueue::expire_due(std::uint64_t time_ns) {
  while (next_ns_ <= time_ns) {
    Timer* timer = heap_.front();
    cancel(*timer);
    timer->expired();
  }
}

}  // namespace falafel::sim
