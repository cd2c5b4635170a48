#include "fabric/realtime/fiber_scheduler.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "fabric/realtime/clock.h"
#include "fabric/realtime/processor.h"

namespace falafel::fabric {

namespace {

// How often to look at the words that fibers wait for while a host has nothing to do: often soon
// after the wait began, then less and less. A change is noticed late by a sixteenth of the wait at
// most.
constexpr std::uint64_t shortest_look_interval_ns = 20'000;
constexpr std::uint64_t longest_look_interval_ns = 1'000'000;
constexpr std::uint64_t look_intervals_per_wait = 16;

std::uint64_t load(std::uint64_t& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}

}  // namespace

class RealTimeFiber final : public Waiter {
 public:
  RealTimeFiber(FiberScheduler& owner, FiberId number, const FiberOptions& options,
                std::function<void()> program, std::exception_ptr* keep)
      : scheduler(owner),
        id(number),
        name(options.name),
        daemon(options.daemon),
        body(std::move(program)),
        thrown(keep),
        context(owner.stacks_, options.name, &RealTimeFiber::enter, this),
        timer(*this) {}

  static void enter(void* self) { static_cast<RealTimeFiber*>(self)->run_body(); }
  void run_body();
  void wake() override;

  FiberScheduler& scheduler;
  FiberId id;
  std::string name;
  bool daemon;
  std::function<void()> body;
  std::exception_ptr* thrown;
  FiberContext context;
  FiberScheduler::Timer timer;
  FiberScheduler::WordWait word_wait;
  WaitList joiners;
  RealTimeFiber* next_ready = nullptr;
  bool ready = false;
  bool woken = false;
  bool cancelled = false;
  bool is_cooperative = false;
  bool was_told_to_end = false;
  bool unwinding = false;
};

void RealTimeFiber::run_body() {
  try {
    body();
  } catch (const FiberCancelled&) {
    unwinding = true;
  } catch (const std::exception& error) {
    FALAFEL_ASSERT(thrown != nullptr, "fiber '{}' ended with an exception: {}", name, error.what());
    *thrown = std::current_exception();
  } catch (...) {
    FALAFEL_ASSERT(thrown != nullptr, "fiber '{}' ended with an exception", name);
    *thrown = std::current_exception();
  }
  body = nullptr;  // destroys what it captured while the fiber can still call the fabric
}

void RealTimeFiber::wake() {
  woken = true;
  scheduler.make_ready(*this);
}

// While it exists, the scheduler looks at the word.
class FiberScheduler::WaitingForWord {
 public:
  WaitingForWord(FiberScheduler& scheduler, std::uint64_t& word, std::uint64_t seen)
      : wait_(scheduler.running_->word_wait) {
    wait_.word = &word;
    wait_.seen = seen;
    wait_.since_ns = monotonic_ns();
    scheduler.word_waits_.push_back(wait_);
  }
  ~WaitingForWord() { wait_.unlink(); }
  WaitingForWord(const WaitingForWord&) = delete;
  WaitingForWord& operator=(const WaitingForWord&) = delete;

  WaitList& waiters() { return wait_.waiters; }

 private:
  WordWait& wait_;
};

// -------------------------------------------------------------------------------------------------
// The scheduler

FiberScheduler::FiberScheduler(Network& network, std::uint64_t spin_ns)
    : network_(network), spin_ns_(spin_ns) {}

FiberScheduler::~FiberScheduler() {
  FALAFEL_ASSERT(running_ == nullptr, "the scheduler is destroyed by its fiber '{}'",
                 running_->name);
  FALAFEL_ASSERT(free_places_.size() == fibers_.size(), "{} fibers have not ended",
                 fibers_.size() - free_places_.size());
}

FiberId FiberScheduler::spawn(const FiberOptions& options, std::function<void()> body,
                              std::exception_ptr* thrown) {
  if (free_places_.empty()) add_place();
  const std::uint16_t place = free_places_.back();
  const FiberId id = FiberId{generations_[place]} << 16U | place;
  fibers_[place] = std::make_unique<RealTimeFiber>(*this, id, options, std::move(body), thrown);
  free_places_.pop_back();
  if (!options.daemon) ++foreground_fibers_;
  make_ready(*fibers_[place]);
  return id;
}

// Changes nothing if there is no memory. free_places_ has room for all places, so a fiber can end
// without memory.
void FiberScheduler::add_place() {
  const std::size_t places = fibers_.size();
  FALAFEL_ASSERT(places < 0x1'0000, "{} fibers at the same time", places);
  if (places == fibers_.capacity()) {
    const std::size_t room = 2 * places + 8;
    free_places_.reserve(room);
    generations_.reserve(room);
    fibers_.reserve(room);
  }
  fibers_.emplace_back();
  generations_.push_back(0);
  free_places_.push_back(static_cast<std::uint16_t>(places));
}

RealTimeFiber* FiberScheduler::find(FiberId id) const {
  const std::size_t place = id & 0xffffU;
  FALAFEL_ASSERT(place < fibers_.size(), "there is no fiber {:#x}", id);
  return generations_[place] == id >> 16U ? fibers_[place].get() : nullptr;
}

void FiberScheduler::make_ready(RealTimeFiber& fiber) {
  FALAFEL_ASSERT(&fiber.scheduler == this, "fiber '{}' belongs to another host", fiber.name);
  if (fiber.ready) return;
  fiber.ready = true;
  fiber.next_ready = nullptr;
  (last_ready_ == nullptr ? first_ready_ : last_ready_->next_ready) = &fiber;
  last_ready_ = &fiber;
}

void FiberScheduler::cancel(FiberId id) {
  RealTimeFiber* const fiber = find(id);
  if (fiber == nullptr || fiber->cancelled) return;
  fiber->cancelled = true;
  if (fiber != running_) make_ready(*fiber);
}

void FiberScheduler::join(FiberId id) {
  throw_if_cancelled();
  while (RealTimeFiber* const fiber = find(id)) wait(&fiber->joiners, never_ns);
}

void FiberScheduler::throw_if_cancelled() {
  FALAFEL_ASSERT(running_ != nullptr,
                 "a call that waits was made outside of all fibers; call it "
                 "from a fiber of the host");
  FALAFEL_ASSERT(!running_->unwinding, "fiber '{}' waits while it is being unwound",
                 running_->name);
  if (!running_->cancelled) return;
  running_->unwinding = true;
  throw FiberCancelled{};
}

void FiberScheduler::suspend() { running_->context.suspend(); }

void FiberScheduler::yield() {
  throw_if_cancelled();
  make_ready(*running_);
  suspend();
  throw_if_cancelled();
}

bool FiberScheduler::is_cancelled() const {
  FALAFEL_ASSERT(running_ != nullptr, "is_cancelled() was called outside of all fibers");
  return running_->cancelled;
}

bool FiberScheduler::gives_up(std::uint64_t deadline_ns) const {
  return is_cancelled() || (deadline_ns != never_ns && monotonic_ns() >= deadline_ns);
}

void FiberScheduler::set_cooperative(bool is_cooperative) {
  FALAFEL_ASSERT(running_ != nullptr, "set_cooperative() was called outside of all fibers");
  running_->is_cooperative = is_cooperative;
}

// Returns whether the wait of a cancelled fiber returns instead of throwing. That happens once.
bool FiberScheduler::ends_here() {
  return running_->cancelled && running_->is_cooperative &&
         !std::exchange(running_->was_told_to_end, true);
}

bool FiberScheduler::wait(WaitList* list, std::uint64_t deadline_ns) {
  if (ends_here()) return false;
  throw_if_cancelled();
  RealTimeFiber& fiber = *running_;
  if (deadline_ns != never_ns && deadline_ns <= monotonic_ns()) {
    yield();
    return false;
  }
  fiber.woken = false;
  if (list != nullptr) list->add(fiber);
  if (deadline_ns != never_ns) {
    fiber.timer.deadline_ns = deadline_ns;
    timers_.insert(fiber.timer);
  }
  suspend();
  fiber.timer.unlink();
  fiber.stop_waiting();
  FALAFEL_ASSERT(running_ == &fiber, "fiber '{}' was resumed in place of another", fiber.name);
  if (!ends_here()) throw_if_cancelled();
  return fiber.woken;
}

std::uint64_t FiberScheduler::wait_until_changed(std::uint64_t& word, std::uint64_t seen,
                                                 std::uint64_t deadline_ns) {
  std::uint64_t found = load(word);
  if (found != seen) {
    waited_for_nothing();
    return found;
  }
  WaitingForWord waiting(*this, word, seen);
  while (found == seen) {
    wait(&waiting.waiters(), deadline_ns);
    found = load(word);
    if (gives_up(deadline_ns)) break;
  }
  return found;
}

void FiberScheduler::look_at_words() {
  for (WordWait& awaited : word_waits_) {
    if (load(*awaited.word) != awaited.seen) awaited.waiters.wake_all();
  }
}

std::uint64_t FiberScheduler::next_look_ns(std::uint64_t now_ns) const {
  std::uint64_t interval_ns = never_ns - now_ns;
  for (const WordWait& awaited : word_waits_) {
    const std::uint64_t waited_ns = now_ns - awaited.since_ns;
    interval_ns =
        std::min(interval_ns, std::clamp(waited_ns / look_intervals_per_wait,
                                         shortest_look_interval_ns, longest_look_interval_ns));
  }
  return now_ns + interval_ns;
}

void FiberScheduler::expire_timers() {
  if (timers_.empty()) return;
  const std::uint64_t now_ns = monotonic_ns();
  while (!timers_.empty() && timers_.begin()->deadline_ns <= now_ns) {
    Timer& timer = *timers_.begin();
    timer.unlink();
    make_ready(timer.fiber);
  }
}

void FiberScheduler::run(RealTimeFiber& fiber) {
  FALAFEL_ASSERT(running_ == nullptr, "fiber '{}' is run by fiber '{}'", fiber.name,
                 running_->name);
  if (fiber.cancelled && !fiber.context.started()) {
    fiber.body = nullptr;
    return finish(fiber);
  }
  running_ = &fiber;
  fiber.context.resume();
  running_ = nullptr;
  if (fiber.context.finished()) finish(fiber);
}

void FiberScheduler::finish(RealTimeFiber& fiber) {
  FALAFEL_ASSERT(!fiber.ready && !fiber.is_waiting(), "fiber '{}' ended and still waits",
                 fiber.name);
  if (!fiber.daemon) --foreground_fibers_;
  fiber.joiners.wake_all();
  const auto place = static_cast<std::uint16_t>(fiber.id & 0xffffU);
  ++generations_[place];
  free_places_.push_back(place);
  fibers_[place].reset();
}

// Runs each fiber that is ready now once. Fibers that become ready meanwhile run in the next round,
// after the network.
void FiberScheduler::run_ready() noexcept {
  network_.progress();
  look_at_words();
  expire_timers();
  RealTimeFiber* const last = last_ready_;
  for (bool more = last != nullptr; more;) {
    RealTimeFiber& fiber = *first_ready_;
    more = &fiber != last;
    first_ready_ = fiber.next_ready;
    if (first_ready_ == nullptr) last_ready_ = nullptr;
    fiber.ready = false;
    run(fiber);
  }
}

void FiberScheduler::run_until(const std::function<bool()>& condition) {
  std::uint64_t idle_since_ns = not_idle;
  while (!condition()) {
    if (first_ready_ != nullptr) idle_since_ns = not_idle;
    run_ready();
    if (first_ready_ == nullptr && !condition()) rest(idle_since_ns);
  }
}

void FiberScheduler::rest(std::uint64_t& idle_since_ns) {
  const std::uint64_t now_ns = monotonic_ns();
  if (idle_since_ns == not_idle) idle_since_ns = now_ns;
  if (now_ns - idle_since_ns < spin_ns_) return pause_processor();
  const std::uint64_t timer_ns = timers_.empty() ? never_ns : timers_.begin()->deadline_ns;
  network_.idle_until(std::min({timer_ns, network_.next_deadline_ns(), next_look_ns(now_ns)}));
}

void FiberScheduler::unwind_all() {
  while (free_places_.size() != fibers_.size()) {
    for (const auto& fiber : fibers_) {
      if (fiber != nullptr) cancel(fiber->id);
    }
    run_ready();
  }
}

}  // namespace falafel::fabric
