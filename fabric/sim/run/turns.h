// With the option fibers_take_turns: the fibers of a host that can run, in the order in which they
// became able to. Only the first of them is in the ready set. The real backends run fibers in the
// same order (fabric/realtime).
//
// For an exploration, entering at the back commutes with a step of the first fiber in which nobody
// enters: in both orders, the fiber that entered runs afterwards.
#pragma once

#include <cstdint>
#include <deque>

namespace falafel::sim {

class Actor;
struct World;

class Turns {
 public:
  Turns(World& world, std::uint32_t host) : world_(world), host_(host) {}

  void enter(Actor& fiber);  // nothing if the fiber has a turn already
  void leave(Actor& fiber);

 private:
  World& world_;
  std::uint32_t host_;
  std::deque<Actor*> fibers_;
};

}  // namespace falafel::sim
