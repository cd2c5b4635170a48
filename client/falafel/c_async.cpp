#include "falafel/c_async.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <list>

namespace falafel {

AsyncOperations::~AsyncOperations() {
  {
    std::unique_lock lock(mutex_);
    has_ended_.wait(lock, [this] { return unfinished_ == 0; });
  }
  thread_ = {};  // stops the thread
  if (descriptor_ >= 0) ::close(descriptor_);
}

// The caller's side

void AsyncOperations::submit(std::span<falafel_operation> operations) {
  std::list<falafel_operation*> submitted;
  for (falafel_operation& operation : operations) submitted.push_back(&operation);
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
    for (falafel_operation& operation : operations) operation.status = FALAFEL_OK;
    pending_.splice(pending_.end(), submitted);
    unfinished_ += operations.size();
  }
  submitted_.notify_one();
  runner_.notify();
}

std::size_t AsyncOperations::poll(std::span<falafel_operation*> ended, std::uint64_t timeout_ns) {
  // Far enough in the future for any caller, and near enough for the clock not to overflow.
  constexpr std::uint64_t longest_ns = std::uint64_t{1} << 60U;
  std::unique_lock lock(mutex_);
  has_ended_.wait_for(lock, std::chrono::nanoseconds(std::min(timeout_ns, longest_ns)),
                      [this] { return !ended_.empty() || unfinished_ == 0; });
  const std::size_t count = std::min(ended.size(), ended_.size());
  const auto last = std::next(ended_.begin(), static_cast<std::ptrdiff_t>(count));
  std::copy(ended_.begin(), last, ended.begin());
  ended_.erase(ended_.begin(), last);
  show_on_descriptor();
  return count;
}

int AsyncOperations::descriptor() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0) {
    descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    show_on_descriptor();
  }
  return descriptor_;
}

void AsyncOperations::show_on_descriptor() {
  if (descriptor_ < 0) return;
  eventfd_t ignored = 0;
  if (ended_.empty()) {
    ::eventfd_read(descriptor_, &ignored);
  } else {
    ::eventfd_write(descriptor_, 1);
  }
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
  {
    const std::lock_guard lock(mutex_);
    in_flight_.front() = &operation;
    ended_.splice(ended_.end(), in_flight_, in_flight_.begin());
    --unfinished_;
    if (ended_.size() == 1) show_on_descriptor();
  }
  has_ended_.notify_all();
}

}  // namespace falafel
