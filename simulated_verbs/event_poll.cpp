#include "simulated_verbs/event_poll.h"

#include <algorithm>
#include <cerrno>

#include "simulated_verbs/not_simulated.h"

namespace falafel::simulated_verbs {

namespace {

constexpr unsigned reported_without_request = EPOLLERR | EPOLLHUP;
constexpr unsigned known_events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDNORM | EPOLLWRNORM |
                                  EPOLLRDHUP | EPOLLONESHOT | EPOLLWAKEUP | EPOLLET |
                                  reported_without_request;

long check(const epoll_event& wanted) {
  if ((wanted.events & ~known_events) == 0) return 0;
  report_not_simulated("epoll_ctl: EPOLLEXCLUSIVE");
  return -EINVAL;
}

}  // namespace

unsigned EventPoll::ready_events_of(const Watched& watched) {
  const std::shared_ptr<Descriptor> descriptor = watched.descriptor.lock();
  if (descriptor == nullptr || !watched.is_enabled) return 0;
  const auto ready = static_cast<unsigned short>(descriptor->ready_events());
  const unsigned asked = ready & (watched.wanted.events | reported_without_request);
  return descriptor->uses() == watched.uses_at_report ? asked & ~watched.reported : asked;
}

void EventPoll::note_report(Watched& watched, unsigned events) {
  const std::uint64_t uses = watched.descriptor.lock()->uses();
  watched.reported = (watched.uses_at_report == uses ? watched.reported : 0) | events;
  watched.uses_at_report = uses;
}

short EventPoll::ready_events() const {
  const bool is_ready = std::ranges::any_of(
      watched_, [](const auto& entry) { return ready_events_of(entry.second) != 0; });
  return is_ready ? short{EPOLLIN} : short{0};
}

// A number that was given again is another descriptor.
EventPoll::Watched* EventPoll::find(int number, const std::shared_ptr<Descriptor>& descriptor) {
  const auto found = watched_.find(number);
  if (found == watched_.end() || found->second.descriptor.lock() != descriptor) return nullptr;
  return &found->second;
}

long EventPoll::add(int number, const std::shared_ptr<Descriptor>& descriptor,
                    const epoll_event& wanted) {
  if (find(number, descriptor) != nullptr) return -EEXIST;
  if (const long error = check(wanted); error != 0) return error;
  watched_[number] = {.descriptor = descriptor, .wanted = wanted};
  return 0;
}

long EventPoll::change(int number, const std::shared_ptr<Descriptor>& descriptor,
                       const epoll_event& wanted) {
  Watched* const watched = find(number, descriptor);
  if (watched == nullptr) return -ENOENT;
  if (const long error = check(wanted); error != 0) return error;
  watched->wanted = wanted;
  watched->is_enabled = true;
  watched->reported = 0;
  return 0;
}

long EventPoll::remove(int number, const std::shared_ptr<Descriptor>& descriptor) {
  if (find(number, descriptor) == nullptr) return -ENOENT;
  watched_.erase(number);
  return 0;
}

int EventPoll::take_ready(std::span<epoll_event> events) {
  std::erase_if(watched_, [](const auto& entry) { return entry.second.descriptor.expired(); });
  std::size_t taken = 0;
  auto next = watched_.lower_bound(first_examined_);
  for (std::size_t examined = 0; examined < watched_.size() && taken < events.size(); ++examined) {
    if (next == watched_.end()) next = watched_.begin();
    Watched& watched = next->second;
    if (const unsigned ready = ready_events_of(watched); ready != 0) {
      events[taken++] = {.events = ready, .data = watched.wanted.data};
      if ((watched.wanted.events & EPOLLONESHOT) != 0) watched.is_enabled = false;
      if ((watched.wanted.events & EPOLLET) != 0) note_report(watched, ready);
      first_examined_ = next->first + 1;
    }
    ++next;
  }
  return static_cast<int>(taken);
}

}  // namespace falafel::simulated_verbs
