#include "stores/c_hint/shard_thread.h"

#include "fabric/cooperative_cancellation.h"

namespace falafel::c_hint {

void ShardThread::push(ShardWork work) {
  waiting_.push_back(std::move(work));
  has_work_->notify_all();
}

// Nothing is in progress, so the fiber may end here.
void ShardThread::wait_for_work() {
  const fabric::CooperativeCancellation cooperative(host_);
  has_work_->wait(fabric::never_ns);
}

void ShardThread::run() {
  while (true) {
    while (waiting_.empty() && !host_.is_cancelled()) wait_for_work();
    if (host_.is_cancelled()) return;
    FALAFEL_ASSERT(!is_busy_, "a shard carries out one request at a time");
    is_busy_ = true;
    const std::uint64_t begin_ns = host_.now_ns();
    ShardWork work = std::move(waiting_.front());
    waiting_.pop_front();
    carry_out_(work);
    busy_ns_ += host_.now_ns() - begin_ns;
    is_busy_ = false;
  }
}

}  // namespace falafel::c_hint
