#include "fabric/sim/end_of_stream.h"

#include <fmt/format.h>

#include "fabric/sim/host.h"
#include "fabric/sim/queue_pair.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

EndOfStream::EndOfStream(World& world, QueuePairActor& receiver)
    : world_(world), receiver_(receiver) {
  world_.ready.introduce(*this);
}

void EndOfStream::send(const Host& sender, Cause cause) {
  world_.touch(Touchable::actor, actor_id(), Access::writes);
  if (stage_ != Stage::not_sent) return;
  stage_ = Stage::travels;
  sender_ = &sender;
  incarnation_of_sender_ = sender.incarnation();
  cause_ = cause;
  if (world_.costs != nullptr) {
    world_.ready.set_due(
        *this, world_.local_time_ns() + timing::to_ns(world_.costs->profile().handshake_ps));
  }
  refresh();
}

void EndOfStream::refresh() {
  if (stage_ == Stage::not_sent) return;
  world_.ready.set_work(*this, may_arrive());
}

bool EndOfStream::sender_is_alive() const {
  return sender_->alive() && sender_->incarnation() == incarnation_of_sender_;
}

// Until the receiver has its answer to connecting, nothing arrives there.
bool EndOfStream::may_arrive() const {
  const Connection& connection = receiver_.connection();
  if (stage_ != Stage::travels || connection.state() == Connection::State::connecting) return false;
  const QueuePairActor& other_end = *connection.peer();
  world_.touch(Touchable::actor, other_end.actor_id(), Access::reads);
  world_.touch(Touchable::actor, receiver_.actor_id(), Access::reads);
  const bool is_orderly = cause_ == Cause::closed && sender_is_alive();
  return !is_orderly || !other_end.has_undelivered_sends() || receiver_.has_undelivered_sends();
}

bool EndOfStream::is_lost() const {
  const bool may_be_lost = cause_ == Cause::broken || !sender_is_alive();
  return may_be_lost && world_.choose(ChoiceKind::loss, 2) == 0;
}

void EndOfStream::step() {
  world_.trace.record({.kind = EventKind::connection,
                       .detail = end_of_stream_detail,
                       .subject = receiver_.number()});
  stage_ = is_lost() ? Stage::lost : Stage::arrived;
  world_.ready.set_work(*this, false);
  if (stage_ == Stage::arrived) receiver_.hear_end_of_stream();
}

std::string EndOfStream::describe() const {
  return fmt::format("end of the stream of queue pair {}, stage {}", receiver_.number(),
                     static_cast<int>(stage_));
}

}  // namespace falafel::sim
