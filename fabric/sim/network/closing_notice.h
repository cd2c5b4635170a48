// Tells one side of a connection that the other has closed its end (QueuePairOptions::hears_close).
// The notice is an actor of its own, because it takes any time and is not ordered with requests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fabric/sim/run/actor.h"
#include "fabric/sim/run/host_life.h"
#include "fabric/wait_list.h"

namespace falafel::sim {

struct World;

class ClosingNotice final : public Actor {
 public:
  // `receiver`: the number of the queue pair that hears it.
  ClosingNotice(World& world, std::uint32_t receiver);

  void send(const HostLife& sender);
  bool has_arrived() const;
  fabric::WaitList& waiters() { return waiters_; }

  void step() override;
  std::string describe() const override;

 private:
  enum class Stage : std::uint8_t { not_sent, travels, arrived, lost };

  bool is_lost() const;

  World& world_;
  std::uint32_t receiver_;
  std::optional<Sender> sender_;  // once it was sent
  Stage stage_ = Stage::not_sent;
  fabric::WaitList waiters_;
};

}  // namespace falafel::sim
