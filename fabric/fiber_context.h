// Switches between a scheduler and its fibers with Boost.Context, with the annotations that
// AddressSanitizer and ThreadSanitizer need. No other file depends on either.
#pragma once

#include <boost/context/fiber.hpp>
#include <string_view>
#include <thread>

#include "fabric/fiber_stack.h"
#include "fabric/sanitizers.h"

namespace falafel::fabric {

// A fiber, which runs `entry(argument)` on a stack of the pool, starting with the first resume().
// The scheduler resumes, and the fiber suspends, both on the same thread. The stack returns to the
// pool when the entry has returned. A context may be destroyed only before its first resume or
// after the entry has returned.
class FiberContext {
 public:
  using Entry = void (*)(void* argument);

  FiberContext(FiberStackPool& pool, std::string_view name, Entry entry, void* argument);
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // Called by the scheduler; returns when the fiber suspends or its entry has returned.
  void resume();
  // Called by the fiber.
  void suspend();

  bool started() const { return started_; }
  bool finished() const { return finished_; }

 private:
  void start();
  boost::context::fiber run(boost::context::fiber scheduler);

  FiberStackPool& pool_;
  FiberStack stack_;
  Entry entry_;
  void* argument_;
  std::thread::id thread_;           // that runs the fiber, or did so last
  boost::context::fiber fiber_;      // while the scheduler runs
  boost::context::fiber scheduler_;  // while the fiber runs
  bool started_ = false;
  bool finished_ = false;
#if defined(FALAFEL_ADDRESS_SANITIZER)
  void* fiber_fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
  void* scheduler_thread_sanitizer_fiber_ = nullptr;
#endif
};

}  // namespace falafel::fabric
