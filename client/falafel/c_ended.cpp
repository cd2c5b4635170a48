#include "falafel/c_ended.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>

namespace falafel {

EndedOperations::~EndedOperations() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void EndedOperations::expect(std::size_t count) {
  const std::lock_guard lock(mutex_);
  unfinished_ += count;
}

void EndedOperations::add(std::list<falafel_operation*>& ended) {
  {
    const std::lock_guard lock(mutex_);
    ended_.splice(ended_.end(), ended);
    --unfinished_;
    if (ended_.size() == 1) show_on_descriptor();
  }
  has_ended_.notify_all();
}

void EndedOperations::wait_until_all_have_ended() {
  std::unique_lock lock(mutex_);
  has_ended_.wait(lock, [this] { return unfinished_ == 0; });
}

std::size_t EndedOperations::poll(std::span<falafel_operation*> ended, std::uint64_t timeout_ns) {
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

int EndedOperations::descriptor() {
  const std::lock_guard lock(mutex_);
  if (descriptor_ < 0) {
    descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    show_on_descriptor();
  }
  return descriptor_;
}

void EndedOperations::show_on_descriptor() {
  if (descriptor_ < 0) return;
  eventfd_t ignored = 0;
  if (ended_.empty()) {
    ::eventfd_read(descriptor_, &ignored);
  } else {
    ::eventfd_write(descriptor_, 1);
  }
}

}  // namespace falafel
