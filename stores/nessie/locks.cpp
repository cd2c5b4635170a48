#include "stores/nessie/locks.h"

namespace falafel::nessie {

Locks::Locks(fabric::Host& host, std::uint64_t count)
    : host_(host), is_held_(count), released_(host.create_event()) {}

void Locks::lock(std::uint64_t number) {
  host_.preemption_point();
  host_.spend(fabric::Work::lock, 0);
  while (is_held_[number]) {
    ++waits_;
    released_->wait(fabric::never_ns);
  }
  is_held_[number] = true;
}

void LockHolder::lock(const Locks::Numbers& numbers) {
  release();
  for (const std::uint64_t number : numbers) {
    locks_.lock(number);
    held_.push_back(number);
  }
}

void LockHolder::release() {
  if (held_.empty()) return;
  for (const std::uint64_t number : held_) locks_.is_held_[number] = false;
  held_.clear();
  locks_.released_->notify_all();
}

}  // namespace falafel::nessie
