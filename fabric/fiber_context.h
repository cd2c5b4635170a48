// Switching between a scheduler and its fibers, on Boost.Context, with the annotations that
// AddressSanitizer and ThreadSanitizer need to follow. No other file knows about either.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <string_view>

#include "fabric/fiber_stack.h"
#include "fabric/sanitizers.h"

#if defined(FALAFEL_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace falafel::fabric {

// One fiber: runs `entry(argument)` on a stack of the pool, from the first resume() on. The scheduler
// resumes, the fiber suspends; both from one thread. The stack goes back to the pool when the entry has
// returned; a context may be destroyed only before its first resume or after that.
class FiberContext {
 public:
  using Entry = void (*)(void* argument);

  FiberContext(FiberStackPool& pool, std::string_view name, Entry entry, void* argument);
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // Called by the scheduler: returns when the fiber suspends or its entry has returned.
  void resume();
  // Called by the fiber.
  void suspend();

  bool started() const { return started_; }
  bool finished() const { return finished_; }

 private:
  static void run(boost::context::detail::transfer_t transfer);

  FiberStackPool& pool_;
  FiberStack stack_;
  Entry entry_;
  void* argument_;
  boost::context::detail::fcontext_t fiber_ = nullptr;
  boost::context::detail::fcontext_t scheduler_ = nullptr;
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

// Inline, because a switch costs less than the calls around it would.

inline void FiberContext::resume() {
  started_ = true;
#if defined(FALAFEL_ADDRESS_SANITIZER)
  void* scheduler_fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&scheduler_fake_stack, stack_.lowest, stack_.size_bytes());
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
  scheduler_thread_sanitizer_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(stack_.thread_sanitizer_fiber, 0);
#endif
  fiber_ = boost::context::detail::jump_fcontext(fiber_, this).fctx;
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
  if (finished_) pool_.release(stack_);
}

inline void FiberContext::suspend() {
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(finished_ ? nullptr : &fiber_fake_stack_, scheduler_stack_,
                                 scheduler_stack_bytes_);
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
  __tsan_switch_to_fiber(scheduler_thread_sanitizer_fiber_, 0);
#endif
  scheduler_ = boost::context::detail::jump_fcontext(scheduler_, nullptr).fctx;
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fiber_fake_stack_, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
}

}  // namespace falafel::fabric
