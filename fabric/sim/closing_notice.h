// Tells one side of a connection that the other has closed its end (QueuePairOptions::hears_close).
// The notice is an actor of its own, because it takes any time and is not ordered with requests.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/sim/scheduler.h"
#include "fabric/wait_list.h"

namespace falafel::sim {

class Host;
struct World;

class ClosingNotice final : public Actor {
 public:
  // `receiver`: the number of the queue pair that hears it.
  ClosingNotice(World& world, std::uint32_t receiver);

  void send(const Host& sender);
  bool has_arrived() const;
  fabric::WaitList& waiters() { return waiters_; }

  void step() override;
  std::string describe() const override;

 private:
  enum class Stage : std::uint8_t { not_sent, travels, arrived, lost };

  bool is_lost() const;

  World& world_;
  std::uint32_t receiver_;
  const Host* sender_ = nullptr;
  std::uint32_t incarnation_of_sender_ = 0;
  Stage stage_ = Stage::not_sent;
  fabric::WaitList waiters_;
};

}  // namespace falafel::sim
