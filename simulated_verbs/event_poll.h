// The object behind epoll: which descriptors a program watches, and which of them are ready.
// Whatever is ready is reported again and again; with EPOLLET, only once until the program uses the
// descriptor or calls epoll_ctl for it.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "simulated_verbs/descriptor.h"

namespace falafel::simulated_verbs {

class EventPoll final : public Descriptor {
 public:
  short ready_events() const override;

  // As epoll_ctl, whose results these are.
  long add(int number, const std::shared_ptr<Descriptor>& descriptor, const epoll_event& wanted);
  long change(int number, const std::shared_ptr<Descriptor>& descriptor, const epoll_event& wanted);
  long remove(int number, const std::shared_ptr<Descriptor>& descriptor);
  // Reports descriptors that are ready, and returns how many.
  int take_ready(std::span<epoll_event> events);

 private:
  struct Watched {
    std::weak_ptr<Descriptor> descriptor;  // once it is closed, it is no longer watched
    epoll_event wanted{};
    bool is_enabled = true;  // EPOLLONESHOT disables it after its report
    // With EPOLLET: the events that were reported, and how often the descriptor had been used then.
    unsigned reported = 0;
    std::uint64_t uses_at_report = 0;
  };
  Watched* find(int number, const std::shared_ptr<Descriptor>& descriptor);
  static unsigned ready_events_of(const Watched& watched);
  static void note_report(Watched& watched, unsigned events);

  std::map<int, Watched> watched_;
  int first_examined_ = 0;  // moves on, so that all are reported in turn
};

}  // namespace falafel::simulated_verbs
