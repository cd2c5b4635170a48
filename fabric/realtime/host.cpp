#include "fabric/realtime/host.h"

namespace falafel::fabric {
namespace {

class RealTimeEvent final : public Event {
 public:
  explicit RealTimeEvent(FiberScheduler& scheduler) : scheduler_(scheduler) {}
  bool wait(std::uint64_t deadline_ns) override { return scheduler_.wait(&waiters_, deadline_ns); }
  void notify_all() override { waiters_.wake_all(); }

 private:
  FiberScheduler& scheduler_;
  WaitList waiters_;
};

}  // namespace

std::unique_ptr<Event> RealTimeHost::create_event() {
  return std::make_unique<RealTimeEvent>(scheduler_);
}

void RealTimeHost::run(std::function<void()> body) {
  const std::lock_guard driving(driving_);
  const FiberId fiber = scheduler_.spawn({.name = name_}, std::move(body));
  scheduler_.run_until([&] { return scheduler_.has_ended(fiber); });
}

void RealTimeHost::run_program(std::function<void()> body) {
  const std::lock_guard driving(driving_);
  scheduler_.spawn({.name = name_}, std::move(body));
  scheduler_.run_until([&] { return !scheduler_.has_foreground_fibers(); });
  scheduler_.unwind_all();
}

void RealTimeHost::run_daemons() {
  const std::unique_lock driving(driving_, std::try_to_lock);
  if (driving.owns_lock()) scheduler_.run_ready();
}

}  // namespace falafel::fabric
