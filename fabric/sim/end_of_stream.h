// Tells one side of a message stream that the other end is gone. As in TCP, the kernel of a side
// that closes says so behind the last message, but answers a message that nobody will receive any
// more with a reset, which overtakes messages. The kernel of a machine that died says nothing, and
// a network that broke delivers nothing.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/sim/scheduler.h"

namespace falafel::sim {

class Host;
class QueuePairActor;
struct World;

class EndOfStream final : public Actor {
 public:
  // `closed`: by the program of the other end, or with its host. `broken`: by the network.
  enum class Cause : std::uint8_t { closed, broken };

  EndOfStream(World& world, QueuePairActor& receiver);

  void send(const Host& sender, Cause cause);
  // Determines whether it can arrive now. Call after a change of what either side has sent.
  void refresh();

  void step() override;
  std::string describe() const override;

 private:
  enum class Stage : std::uint8_t { not_sent, travels, arrived, lost };

  bool sender_is_alive() const;
  bool may_arrive() const;
  bool is_lost() const;

  World& world_;
  QueuePairActor& receiver_;
  const Host* sender_ = nullptr;
  std::uint32_t incarnation_of_sender_ = 0;
  Cause cause_ = Cause::closed;
  Stage stage_ = Stage::not_sent;
};

}  // namespace falafel::sim
