#include "simulated_verbs/event_counter.h"

#include <poll.h>

#include <cerrno>
#include <cstring>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

short EventCounter::ready_events() const {
  const int readable = value_ > 0 ? POLLIN : 0;
  const int writable = value_ < most ? POLLOUT : 0;
  return static_cast<short>(readable | writable);
}

long EventCounter::read(std::span<std::byte> destination) {
  if (destination.size() < sizeof value_) return -EINVAL;
  if (value_ == 0 && is_nonblocking()) {
    stack_->yield();
    return -EAGAIN;
  }
  stack_->wait_until([this] { return value_ > 0; }, fabric::never_ns);
  const std::uint64_t taken = is_semaphore_ ? 1 : value_;
  value_ -= taken;
  std::memcpy(destination.data(), &taken, sizeof taken);
  stack_->notify();
  return sizeof taken;
}

long EventCounter::write(std::span<const std::byte> source) {
  std::uint64_t added = 0;
  if (source.size() < sizeof added) return -EINVAL;
  std::memcpy(&added, source.data(), sizeof added);
  if (added > most) return -EINVAL;
  const auto fits = [&] { return added <= most - value_; };
  if (!fits() && is_nonblocking()) {
    stack_->yield();
    return -EAGAIN;
  }
  stack_->wait_until(fits, fabric::never_ns);
  value_ += added;
  stack_->notify();
  return sizeof added;
}

}  // namespace falafel::simulated_verbs
