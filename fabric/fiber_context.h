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
  using Context = boost::context::detail::fcontext_t;  // where a side that does not run goes on

  static void run(boost::context::detail::transfer_t transfer);
  // Goes on at `to`, where `argument` arrives; returns the context of whoever comes back here.
  static Context jump(Context to, void* argument);

  FiberStackPool& pool_;
  FiberStack stack_;
  Entry entry_;
  void* argument_;
  Context fiber_ = nullptr;
  Context scheduler_ = nullptr;
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

// A call of jump_fcontext would leave its return address on the processor's own stack of return addresses, where the
// side that goes on does not look for it: its next return would be guessed wrong. So it is reached by a jump. What
// fibers find there then, others of them left, and as most of them wait in the same place, it is right. Otherwise this
// is a call: what the callee may change is clobbered, and nothing is pushed into the 128 bytes below the stack pointer
// that a leaf function may use. (With AVX-512 there are more registers than are named here.) Always inlined, because
// ThreadSanitizer would count an entry on the side that is left and the exit on the other.
[[gnu::always_inline]] inline FiberContext::Context FiberContext::jump(Context to, void* argument) {
#if defined(__x86_64__) && !defined(__AVX512F__)
  Context from = nullptr;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "jmp jump_fcontext@PLT\n"
      "1:\n\t"
      "leaq 128(%%rsp), %%rsp\n\t"
      : "=a"(from), "+D"(to), "+S"(argument)
      :
      : "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
  return from;
#else
  return boost::context::detail::jump_fcontext(to, argument).fctx;
#endif
}

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
  fiber_ = jump(fiber_, this);
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
  scheduler_ = jump(scheduler_, nullptr);
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fiber_fake_stack_, &scheduler_stack_, &scheduler_stack_bytes_);
#endif
}

}  // namespace falafel::fabric
