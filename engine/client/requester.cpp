#include "engine/client/requester.h"

namespace falafel::engine {

Requester::Requester(fabric::Host& host, fabric::CompletionQueue& completions,
                     std::uint32_t capacity, std::function<void()> on_broken)
    : host_(host),
      completions_(completions),
      on_broken_(std::move(on_broken)),
      capacity_(capacity),
      room_(host.create_event()) {}

// Frees the chain when its fiber is done with it. If the fiber is cancelled earlier, the chain's
// completion frees it.
class Requester::Waiting {
 public:
  Waiting(Requester& requester, std::size_t index) : requester_(requester), index_(index) {}
  ~Waiting() {
    Chain& chain = requester_.chains_[index_];
    if (chain.is_done()) {
      chain.set_unused();
    } else {
      chain.abandoned = true;
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Requester& requester_;
  std::size_t index_;
};

// A fiber that stops waiting, even by cancellation, hands polling over to another fiber if any
// wait. This also applies to a fiber that did not poll, because it may have been woken to take
// over.
class Requester::Polling {
 public:
  Polling(Requester& requester, const fabric::Event& own) : requester_(requester), own_(own) {}
  ~Polling() {
    if (is_ours_) requester_.polling_ = false;
    if (!requester_.polling_) requester_.wake_another(own_);
  }
  Polling(const Polling&) = delete;
  Polling& operator=(const Polling&) = delete;

  bool try_to_take() {
    if (!requester_.polling_) is_ours_ = requester_.polling_ = true;
    return is_ours_;
  }

 private:
  Requester& requester_;
  const fabric::Event& own_;
  bool is_ours_ = false;
};

template <typename Condition>
void Requester::wait_until(const Condition& condition, fabric::Event& event) {
  if (condition()) return;
  Polling polling(*this, event);
  while (!condition()) {
    if (polling.try_to_take()) {
      completions_.wait(fabric::never_ns);
      dispatch();
    } else {
      event.wait(fabric::never_ns);
    }
  }
}

ChainOutcome Requester::post_and_wait(std::span<fabric::WorkRequest> chain) {
  const auto requests = static_cast<std::uint32_t>(chain.size());
  FALAFEL_ASSERT(requests > 0 && requests <= capacity_,
                 "a chain of {} requests does not fit the queue pair", requests);
  wait_until([&] { return broken_ || queued_ + requests <= capacity_; }, *room_);
  if (broken_) return ChainOutcome::not_posted;

  const std::size_t index = take_chain(requests);
  for (std::uint32_t position = 0; position < requests; ++position) {
    chain[position].id = index << 32 | position;
    chain[position].signalled = position + 1 == requests;
  }
  const fabric::Result<void> result = queue_pair_->post_send(chain);
  FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
  queued_ += requests;
  const Waiting waiting(*this, index);
  wait_until([&] { return chains_[index].is_done(); }, *chains_[index].completed);
  return chains_[index].failed ? ChainOutcome::in_doubt : ChainOutcome::completed;
}

std::size_t Requester::take_chain(std::uint32_t requests) {
  std::size_t index = 0;
  while (index < chains_.size() && chains_[index].requests != 0) ++index;
  if (index == chains_.size()) chains_.push_back({.completed = host_.create_event()});
  Chain& chain = chains_[index];
  chain.requests = requests;
  chain.finished = 0;
  chain.failed = false;
  chain.abandoned = false;
  return index;
}

void Requester::dispatch() {
  std::size_t count = 0;
  do {
    count = completions_.poll(batch_);
    for (const fabric::WorkCompletion& completion : std::span(batch_).first(count)) {
      complete(completion);
    }
  } while (count == batch_.size());
}

// Completions arrive in posting order, so the completion of one request completes all earlier ones.
void Requester::complete(const fabric::WorkCompletion& completion) {
  Chain& chain = chains_[completion.id >> 32];
  const auto finished = static_cast<std::uint32_t>(completion.id) + 1;
  FALAFEL_ASSERT(
      chain.finished < finished && finished <= chain.requests,
      "request {} completed in a chain of {} requests, {} of which had already completed", finished,
      chain.requests, chain.finished);
  queued_ -= finished - chain.finished;
  chain.finished = finished;
  if (completion.status != fabric::CompletionStatus::success) {
    chain.failed = true;
    break_off();
  }
  if (!chain.is_done()) return;
  room_->notify_all();
  if (chain.abandoned) {
    chain.set_unused();
  } else {
    chain.completed->notify_all();
  }
}

void Requester::wake_another(const fabric::Event& own) {
  room_->notify_all();
  for (const Chain& chain : chains_) {
    if (!chain.is_done() && !chain.abandoned && chain.completed.get() != &own) {
      chain.completed->notify_all();
      return;
    }
  }
}

void Requester::break_off() {
  if (broken_) return;
  broken_ = true;
  queue_pair_->move_to_error();  // flushes the posted requests
  room_->notify_all();
  on_broken_();
}

}  // namespace falafel::engine
