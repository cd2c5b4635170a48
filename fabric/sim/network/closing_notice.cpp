#include "fabric/sim/network/closing_notice.h"

#include <fmt/format.h>

#include "fabric/sim/run/world.h"

namespace falafel::sim {

ClosingNotice::ClosingNotice(World& world, std::uint32_t receiver)
    : world_(world), receiver_(receiver) {
  world_.ready.introduce(*this);
}

void ClosingNotice::send(const HostLife& sender) {
  world_.touch(Touchable::actor, actor_id(), Access::writes);
  if (stage_ != Stage::not_sent) return;
  stage_ = Stage::travels;
  sender_.emplace(sender);
  if (world_.costs != nullptr) {
    world_.ready.set_due(
        *this, world_.local_time_ns() + timing::to_ns(world_.costs->profile().handshake_ps));
  }
  world_.ready.set_work(*this, true);
}

bool ClosingNotice::has_arrived() const {
  world_.touch(Touchable::actor, actor_id(), Access::reads);
  return stage_ == Stage::arrived;
}

// The sender may have died before the notice left it.
bool ClosingNotice::is_lost() const {
  return !sender_->is_alive() && world_.choose(ChoiceKind::loss, 2) == 0;
}

void ClosingNotice::step() {
  world_.trace.record(
      {.kind = EventKind::connection, .detail = closing_notice_detail, .subject = receiver_});
  world_.ready.set_work(*this, false);
  stage_ = is_lost() ? Stage::lost : Stage::arrived;
  waiters_.wake_all();
}

std::string ClosingNotice::describe() const {
  return fmt::format("notice to queue pair {} that its peer has closed, stage {}", receiver_,
                     static_cast<int>(stage_));
}

}  // namespace falafel::sim
