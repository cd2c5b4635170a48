#include "fabric/fiber_context.h"

#include <boost/context/preallocated.hpp>
#include <memory>
#include <utility>

#include "fabric/assert.h"

#if defined(FALAFEL_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace falafel::fabric {
namespace {

// The stack belongs to the pool: Boost.Context neither allocates nor frees it.
struct StackOfPool {
  static void deallocate(boost::context::stack_context& /*stack*/) {}
};

}  // namespace

FiberContext::FiberContext(FiberStackPool& pool, std::string_view name, Entry entry, void* argument)
    : pool_(pool), stack_(pool.acquire()), entry_(entry), argument_(argument) {
  stack_.set_name(name);
}

FiberContext::~FiberContext() {
  FALAFEL_ASSERT(!started_ || finished_, "a fiber that is still running was destroyed");
  if (!finished_) pool_.release(stack_);
}

// Not in the constructor, because Boost.Context switches to a context that was never resumed in
// order to unwind it.
void FiberContext::start() {
  started_ = true;
  boost::context::stack_context stack;
  stack.sp = stack_.highest;
  stack.size = stack_.size_bytes();
  const boost::context::preallocated whole(stack_.highest, stack_.size_bytes(), stack);
  fiber_ = boost::context::fiber(
      std::allocator_arg, whole, StackOfPool{},
      [this](boost::context::fiber&& scheduler) { return run(std::move(scheduler)); });
}

boost::context::fiber FiberContext::run(boost::context::fiber scheduler) {
  scheduler_ = std::move(scheduler);
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
  entry_(argument_);
  finished_ = true;
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(nullptr, scheduler_stack_, scheduler_stack_bytes_);
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
  __tsan_switch_to_fiber(scheduler_thread_sanitizer_fiber_, 0);
#endif
  return std::move(scheduler_);
}

void FiberContext::resume() {
  thread_ = std::this_thread::get_id();
  if (!started_) start();
#if defined(FALAFEL_ADDRESS_SANITIZER)
  void* scheduler_fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&scheduler_fake_stack, stack_.lowest, stack_.size_bytes());
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
  scheduler_thread_sanitizer_fiber_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(stack_.thread_sanitizer_fiber, 0);
#endif
  fiber_ = std::move(fiber_).resume();
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
  if (finished_) pool_.release(stack_);
}

void FiberContext::suspend() {
  FALAFEL_ASSERT(thread_ == std::this_thread::get_id(),
                 "a call that waits comes from another thread than the one that runs the fibers; "
                 "begin a fiber by Host::spawn instead of a thread");
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(&fiber_fake_stack_, scheduler_stack_, scheduler_stack_bytes_);
#endif
#if defined(FALAFEL_THREAD_SANITIZER)
  __tsan_switch_to_fiber(scheduler_thread_sanitizer_fiber_, 0);
#endif
  scheduler_ = std::move(scheduler_).resume();
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fiber_fake_stack_, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
}

}  // namespace falafel::fabric
