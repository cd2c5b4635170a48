#include "fabric/realtime/host.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include "fabric/realtime/kept_gates.h"

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

// While it exists, the calling thread runs the host's fibers.
class RealTimeHost::Driving {
 public:
  explicit Driving(RealTimeHost& host) : host_(host), lock_(host.driving_, std::defer_lock) {
    // A thread only looks for itself, so the order of stores does not matter.
    if (host.driver_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      throw std::logic_error(
          fmt::format("a callback or a fiber of host '{}' made a call that waits until it has "
                      "returned; make the call afterwards",
                      host.name_));
    }
    lock_.lock();
    host.driver_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Driving() { host_.driver_.store(std::thread::id(), std::memory_order_relaxed); }
  Driving(const Driving&) = delete;
  Driving& operator=(const Driving&) = delete;

 private:
  RealTimeHost& host_;
  std::unique_lock<std::mutex> lock_;
};

Result<KeptMemory> RealTimeHost::keep(const std::string& name, std::uint64_t size_bytes,
                                      KeptFile::Space space) {
  if (size_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "size_bytes: 0; ask for at least one byte");
  }
  auto opened = KeptFile::open(name, size_bytes, space);
  if (!opened) return tl::unexpected(opened.error());
  const auto file = std::make_shared<KeptFile>(std::move(*opened));
  static constexpr std::uint64_t pause_ns = 1'000'000;
  const auto pause = [this] {
    if (scheduler_.is_running_fiber()) return sleep_until(now_ns() + pause_ns);
    std::this_thread::sleep_for(std::chrono::nanoseconds(pause_ns));
  };
  if (auto fenced = fence_former_peers(*file, pause); !fenced) {
    return tl::unexpected(fenced.error());
  }
  auto block = map_kept(file);
  if (!block) return tl::unexpected(block.error());
  if (auto completed = file->complete(); !completed) return tl::unexpected(completed.error());
  return KeptMemory{.block = std::move(*block), .is_new = file->is_new()};
}

void RealTimeHost::run(std::function<void()> body) {
  const Driving driving(*this);
  std::exception_ptr thrown;
  const FiberId fiber = scheduler_.spawn({.name = name_}, std::move(body), &thrown);
  scheduler_.run_until([&] { return scheduler_.has_ended(fiber); });
  if (thrown) std::rethrow_exception(thrown);
}

void RealTimeHost::run_program(std::function<void()> body) {
  const Driving driving(*this);
  std::exception_ptr thrown;
  try {
    scheduler_.spawn({.name = name_}, std::move(body), &thrown);
  } catch (const std::bad_alloc&) {
    thrown = std::current_exception();
  }
  scheduler_.run_until([&] { return thrown || !scheduler_.has_foreground_fibers(); });
  scheduler_.unwind_all();
  if (thrown) std::rethrow_exception(thrown);
}

void RealTimeHost::run_daemons() {
  const std::unique_lock driving(driving_, std::try_to_lock);
  if (driving.owns_lock()) scheduler_.run_ready();
}

}  // namespace falafel::fabric
