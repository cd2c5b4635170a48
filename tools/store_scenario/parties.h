// Who reads entries and swaps them: a client by its queue pair, the server by the fiber that does it. A fiber
// of the server reads by the processor and swaps by the processor or through a queue pair of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/trace.h"

namespace falafel::store_scenario {

class Parties {
 public:
  void introduce(const sim::Subject& subject);
  // A request was posted on a queue pair, by that fiber.
  void on_posted(std::uint32_t queue_pair, fabric::FiberId fiber);

  // Numbers of queue pairs and of fibers never meet.
  static constexpr std::uint32_t of_fiber(fabric::FiberId fiber) { return fiber | fiber_bit; }
  std::uint32_t of_queue_pair(std::uint32_t queue_pair) const;
  static constexpr bool is_client(std::uint32_t party) { return (party & fiber_bit) == 0; }
  static std::string name(std::uint32_t party);

 private:
  static constexpr std::uint32_t fiber_bit = std::uint32_t{1} << 31;

  std::vector<std::uint32_t> party_of_queue_pair_;
};

}  // namespace falafel::store_scenario
