#include "simulated_verbs/threads.h"

#include <cerrno>
#include <utility>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"

namespace falafel::simulated_verbs {

Threads::Threads(Process& process)
    : process_(process), finished_(process.host().create_event()), locks_(process.host()) {
  threads_.push_back(std::make_unique<Thread>(process, process, 1));
}

int Threads::run_main(const std::function<int()>& main) {
  try {
    const ProgramCode code(*threads_.front());
    return main();
  } catch (const ProcessExit& exit) {
    return exit.status;
  }
}

void Threads::end_all() {
  for (std::size_t index = 1; index < threads_.size(); ++index) {
    process_.host().cancel(threads_[index]->fiber_);
    process_.host().join(threads_[index]->fiber_);
  }
}

Thread& Threads::start(bool is_detached, Body body) {
  threads_.push_back(std::make_unique<Thread>(process_, process_, threads_.size() + 1));
  Thread& thread = *threads_.back();
  thread.is_detached_ = is_detached;
  // If the host crashes, its fibers end one by one, and the process with the last of them. One that
  // has not begun never will.
  thread.fiber_ =
      process_.host().spawn({.name = "thread", .daemon = true},
                            [&thread, body = std::move(body), process = process_.weak_from_this()] {
                              const std::shared_ptr<Process> kept = process.lock();
                              kept->threads().run(thread, body);
                            });
  return thread;
}

void Threads::run(Thread& thread, const Body& body) {
  try {
    const ProgramCode code(thread);
    thread.result_ = body();
  } catch (const ThreadExit& exit) {
    thread.result_ = exit.result;
  }
  destroy_values(thread);
  thread.is_finished_ = true;
  finished_->notify_all();
}

// Destructors may set values again; POSIX gives them four rounds.
void Threads::destroy_values(Thread& thread) {
  constexpr int most_rounds = 4;
  for (int round = 0; round < most_rounds && !thread.values_.empty(); ++round) {
    for (const auto& [key, value] : std::exchange(thread.values_, {})) {
      const auto found = keys_.find(key);
      if (value == nullptr || found == keys_.end() || found->second == nullptr) continue;
      const ProgramCode code(thread);
      found->second(value);
    }
  }
}

Thread* Threads::find(pthread_t number) const {
  return number == 0 || number > threads_.size() ? nullptr : threads_[number - 1].get();
}

int Threads::join(const Thread& self, pthread_t number, void** result) {
  Thread* const thread = find(number);
  if (thread == nullptr || thread->is_joined_) return ESRCH;
  if (thread == &self) return EDEADLK;
  if (thread->is_detached_) return EINVAL;
  thread->is_joined_ = true;
  while (!thread->is_finished_) finished_->wait(fabric::never_ns);
  if (result != nullptr) *result = thread->result_;
  return 0;
}

int Threads::try_join(const Thread& self, pthread_t number, void** result) {
  const Thread* const thread = find(number);
  const bool may_join = thread != nullptr && !thread->is_joined_ && !thread->is_detached_;
  if (may_join && !thread->is_finished_) return thread == &self ? EDEADLK : EBUSY;
  return join(self, number, result);
}

int Threads::detach(pthread_t number) {
  Thread* const thread = find(number);
  if (thread == nullptr) return ESRCH;
  if (thread->is_detached_) return EINVAL;
  thread->is_detached_ = true;
  return 0;
}

pthread_key_t Threads::add_key(Destructor destructor) {
  keys_.emplace(next_key_, destructor);
  return next_key_++;
}

}  // namespace falafel::simulated_verbs
