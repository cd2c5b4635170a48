#include "fabric/sim/network/end_of_stream.h"

#include <fmt/format.h>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

EndOfStream::EndOfStream(World& world, const Connection& connection, StreamingQueuePair& receiver)
    : world_(world), connection_(connection), receiver_(receiver) {
  world_.ready.introduce(*this);
}

void EndOfStream::send(const HostLife& sender, Cause cause) {
  world_.touch(Touchable::actor, actor_id(), Access::writes);
  if (stage_ != Stage::not_sent) return;
  stage_ = Stage::travels;
  sender_.emplace(sender);
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

// Until the receiver has its answer to connecting, nothing arrives there.
bool EndOfStream::may_arrive() const {
  const bool is_connecting = connection_.state() == Connection::State::connecting;
  if (stage_ != Stage::travels || is_connecting) return false;
  const bool sender_sends = receiver_.peer_has_undelivered_sends();
  const bool receiver_sends = receiver_.has_undelivered_sends();
  const bool is_orderly = cause_ == Cause::closed && sender_->is_alive();
  return !is_orderly || !sender_sends || receiver_sends;
}

bool EndOfStream::is_lost() const {
  const bool may_be_lost = cause_ == Cause::broken || !sender_->is_alive();
  return may_be_lost && world_.choose(ChoiceKind::loss, 2) == 0;
}

void EndOfStream::step() {
  world_.trace.record({.kind = EventKind::connection,
                       .detail = end_of_stream_detail,
                       .subject = connection_.number()});
  stage_ = is_lost() ? Stage::lost : Stage::arrived;
  world_.ready.set_work(*this, false);
  if (stage_ == Stage::arrived) receiver_.hear_end_of_stream();
}

std::string EndOfStream::describe() const {
  return fmt::format("end of the stream of queue pair {}, stage {}", connection_.number(),
                     static_cast<int>(stage_));
}

}  // namespace falafel::sim
