#include "fabric/fiber_context.h"

#include "fabric/assert.h"

namespace falafel::fabric {

using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

FiberContext::FiberContext(FiberStackPool& pool, std::string_view name, Entry entry, void* argument)
    : pool_(pool), stack_(pool.acquire()), entry_(entry), argument_(argument) {
  stack_.set_name(name);
  fiber_ = make_fcontext(stack_.highest, stack_.size_bytes(), &FiberContext::run);
}

FiberContext::~FiberContext() {
  FALAFEL_ASSERT(!started_ || finished_, "a fiber that is still running was destroyed");
  if (!finished_) pool_.release(stack_);
}

// The first frame of every fiber. It never returns: the last suspend() leaves it for good.
void FiberContext::run(transfer_t transfer) {
  auto* self = static_cast<FiberContext*>(transfer.data);
  self->scheduler_ = transfer.fctx;
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(nullptr, &self->scheduler_stack_, &self->scheduler_stack_bytes_);
#endif
  self->entry_(self->argument_);
  self->finished_ = true;
  self->suspend();
  FALAFEL_ASSERT(false, "a fiber was resumed after its end");
}

}  // namespace falafel::fabric
