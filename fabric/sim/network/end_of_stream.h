// Tells one side of a message stream that the other end is gone. As in TCP, the kernel of a side
// that closes says so behind the last message, but answers a message that nobody will receive any
// more with a reset, which overtakes messages. The kernel of a machine that died says nothing, and
// a network that broke delivers nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fabric/sim/run/actor.h"
#include "fabric/sim/run/host_life.h"

namespace falafel::sim {

class Connection;
struct World;

// The queue pair of a side, as the end of the stream knows it.
class StreamingQueuePair {
 public:
  // The peer has not received all that this side has sent, or sends.
  virtual bool has_undelivered_sends() const = 0;
  virtual bool peer_has_undelivered_sends() const = 0;
  // The other end of the message stream is gone.
  virtual void hear_end_of_stream() = 0;

 protected:
  ~StreamingQueuePair() = default;
};

class EndOfStream final : public Actor {
 public:
  // `closed`: by the program of the other end, or with its host. `broken`: by the network.
  enum class Cause : std::uint8_t { closed, broken };

  EndOfStream(World& world, const Connection& connection, StreamingQueuePair& receiver);

  void send(const HostLife& sender, Cause cause);
  // Determines whether it can arrive now. Call after a change of what either side has sent.
  void refresh();

  void step() override;
  std::string describe() const override;

 private:
  enum class Stage : std::uint8_t { not_sent, travels, arrived, lost };

  bool may_arrive() const;
  bool is_lost() const;

  World& world_;
  const Connection& connection_;  // the side of the receiver
  StreamingQueuePair& receiver_;
  std::optional<Sender> sender_;  // once it was sent
  Cause cause_ = Cause::closed;
  Stage stage_ = Stage::not_sent;
};

}  // namespace falafel::sim
