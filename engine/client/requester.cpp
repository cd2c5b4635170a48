#include "engine/client/requester.h"

#include <new>
#include <utility>

#include "engine/client/gathering.h"

namespace falafel::engine {

Requester::Requester(fabric::Host& host, fabric::CompletionQueue& completions,
                     std::uint32_t capacity, std::function<void()> on_broken)
    : host_(host),
      completions_(completions),
      on_broken_(std::move(on_broken)),
      capacity_(capacity),
      room_(host.create_event()) {}

void Requester::attach(fabric::QueuePair& queue_pair) {
  queue_pair_ = &queue_pair;
  immediate_reads_ = dynamic_cast<fabric::ImmediateReads*>(&queue_pair);
}

void Requester::Chain::set_unused() {
  used = refused = lacked_memory = false;
  requests = finished = succeeded = 0;
  gathering.reset();
}

// A fiber that stops waiting, even by cancellation, hands polling over to another fiber if any
// wait. This also applies to a fiber that did not poll, because it may have been woken to take
// over.
class Requester::Polling {
 public:
  Polling(Requester& requester, const fabric::Event& own) : requester_(requester), own_(own) {}
  ~Polling() {
    if (is_ours_) requester_.polling_ = false;
    if (!requester_.polling_ && requester_.asleep_ > 0) requester_.wake_another(own_);
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

// A fiber that waits for an event. Nobody else needs to hear of one.
class Requester::Sleep {
 public:
  explicit Sleep(Requester& requester) : requester_(requester) { ++requester_.asleep_; }
  ~Sleep() { --requester_.asleep_; }
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

 private:
  Requester& requester_;
};

template <typename Condition, typename MayPoll>
void Requester::wait_until(const Condition& condition, const MayPoll& may_poll,
                           fabric::Event& event) {
  if (condition()) return;
  Polling polling(*this, event);
  while (!condition()) {
    if (may_poll() && polling.try_to_take()) {
      completions_.wait(fabric::never_ns);
      dispatch();
    } else {
      const Sleep sleep(*this);
      event.wait(fabric::never_ns);
    }
  }
}

ChainOutcome Requester::post_and_wait(std::span<fabric::WorkRequest> chain) {
  wait_for_room(chain.size());
  if (broken_) return ChainOutcome::not_posted;
  const ChainIndex index = take_chain();
  const Waiting waiting(*this, index);
  post_now(index, chain);
  return wait_for({.chain = index, .begin = 0, .end = static_cast<std::uint32_t>(chain.size())});
}

Requester::ChainIndex Requester::open_chain(std::shared_ptr<Gathering> gathering) {
  const ChainIndex index = take_chain();
  chains_[index].gathering = std::move(gathering);
  return index;
}

void Requester::post(ChainIndex chain, std::span<fabric::WorkRequest> requests) {
  wait_for_room(requests.size());
  try {
    if (!broken_) return post_now(chain, requests);
  } catch (const std::bad_alloc&) {
    chains_[chain].lacked_memory = true;
  }
  chains_[chain].refused = true;
  finish(chains_[chain]);
}

void Requester::let_poll(ChainIndex chain) {
  if (!polling_) chains_[chain].completed->notify_all();
}

// A fiber does not poll before its chain is posted: if the chain is refused, no completion would
// end its wait.
ChainOutcome Requester::wait_for(const Part& part) {
  wait_until([&] { return chains_[part.chain].is_done(); },
             [&] { return chains_[part.chain].is_posted(); }, *chains_[part.chain].completed);
  const Chain& chain = chains_[part.chain];
  if (chain.lacked_memory) throw std::bad_alloc();
  if (chain.refused) return ChainOutcome::not_posted;
  return part.end <= chain.succeeded ? ChainOutcome::completed : ChainOutcome::in_doubt;
}

void Requester::wait_for_room(std::size_t requests) {
  FALAFEL_ASSERT(requests > 0 && requests <= capacity_,
                 "a chain of {} requests does not fit the queue pair", requests);
  wait_until([&] { return broken_ || queued_ + requests <= capacity_; }, [] { return true; },
             *room_);
}

Requester::ChainIndex Requester::take_chain() {
  ChainIndex index = 0;
  while (index < chains_.size() && chains_[index].used) ++index;
  if (index == chains_.size()) chains_.push_back({.completed = host_.create_event()});
  chains_[index].used = true;
  return index;
}

void Requester::post_now(ChainIndex index, std::span<fabric::WorkRequest> requests) {
  const auto count = static_cast<std::uint32_t>(requests.size());
  for (std::uint32_t position = 0; position < count; ++position) {
    requests[position].id = index << 32 | position;
    requests[position].signalled = position + 1 == count;
  }
  const fabric::Result<void> result = queue_pair_->post_send(requests);
  FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
  queued_ += count;
  chains_[index].requests = count;
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
// Requests before the first that failed have succeeded.
void Requester::complete(const fabric::WorkCompletion& completion) {
  Chain& chain = chains_[completion.id >> 32];
  const auto finished = static_cast<std::uint32_t>(completion.id) + 1;
  FALAFEL_ASSERT(
      chain.finished < finished && finished <= chain.requests,
      "request {} completed in a chain of {} requests, {} of which had already completed", finished,
      chain.requests, chain.finished);
  const bool has_failed = chain.succeeded < chain.finished;
  const bool is_success = completion.status == fabric::CompletionStatus::success;
  queued_ -= finished - chain.finished;
  chain.finished = finished;
  if (!has_failed) chain.succeeded = is_success ? finished : finished - 1;
  if (!is_success) break_off();
  if (!chain.is_done()) return;
  if (asleep_ > 0) room_->notify_all();
  finish(chain);
}

// The fibers count as running before they run: otherwise the first one would find that no other
// one runs.
void Requester::finish(Chain& chain) {
  if (chain.gathering != nullptr) chain.gathering->on_completed(chain.fibers);
  if (chain.fibers == 0) return chain.set_unused();
  if (asleep_ > 0) chain.completed->notify_all();
}

void Requester::wake_another(const fabric::Event& own) {
  room_->notify_all();
  for (const Chain& chain : chains_) {
    if (chain.is_awaited() && chain.completed.get() != &own) {
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
