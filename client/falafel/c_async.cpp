#include "falafel/c_async.h"

namespace falafel {

AsyncOperations::~AsyncOperations() {
  ended_.wait_until_all_have_ended();
  thread_ = {};  // stops the thread
}

// The caller's side

void AsyncOperations::start() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void AsyncOperations::submit(std::list<falafel_operation*>& operations) {
  {
    const std::lock_guard lock(mutex_);
    for (falafel_operation* const operation : operations) operation->status = FALAFEL_OK;
    ended_.expect(operations.size());
    pending_.splice(pending_.end(), operations);
  }
  submitted_.notify_one();
  runner_.notify();
}

// The thread's side

void AsyncOperations::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      submitted_.wait(lock, stop, [this] { return !pending_.empty(); });
    }
    runner_.run(*this);
  }
}

bool AsyncOperations::is_empty() {
  const std::lock_guard lock(mutex_);
  return pending_.empty();
}

falafel_operation* AsyncOperations::take() {
  const std::lock_guard lock(mutex_);
  if (pending_.empty()) return nullptr;
  in_flight_.splice(in_flight_.end(), pending_, pending_.begin());
  return in_flight_.back();
}

void AsyncOperations::put_back(falafel_operation& operation) {
  const std::lock_guard lock(mutex_);
  in_flight_.front() = &operation;
  pending_.splice(pending_.begin(), in_flight_, in_flight_.begin());
}

void AsyncOperations::finish(falafel_operation& operation) {
  std::list<falafel_operation*> ended;
  {
    const std::lock_guard lock(mutex_);
    in_flight_.front() = &operation;
    ended.splice(ended.end(), in_flight_, in_flight_.begin());
  }
  ended_.add(ended);
}

}  // namespace falafel
