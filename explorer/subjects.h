// The subjects of a run, as the simulator introduces them to an observer: hosts, fibers, queue
// pairs and blocks of memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/sim/trace.h"

namespace falafel::explorer {

class Subjects {
 public:
  struct Fiber {
    std::string host;
    std::string name;
  };
  struct Memory {
    std::string host;
    std::uint32_t number = 0;  // in the simulation
    std::uint32_t block = 0;   // among the blocks of its host, by order of allocation
    bool is_lost = false;      // its host died since
  };

  void introduce(const sim::Subject& subject);
  // Handles the kind host_died; ignores others.
  void observe(const sim::TraceEvent& event);

  // By number in the simulation. Names of subjects that were not introduced are empty.
  std::string host(std::uint32_t number) const;
  Fiber fiber(std::uint32_t number) const;
  std::string host_of_queue_pair(std::uint32_t number) const;
  const std::vector<std::string>& hosts() const { return hosts_; }

  // The number of a block; nullopt for null and for blocks that were not introduced.
  std::optional<std::uint32_t> memory(const fabric::MemoryBlock* block) const;
  const std::vector<Memory>& memories() const { return memories_; }

 private:
  void introduce_memory(const sim::Subject& subject);

  std::vector<std::string> hosts_;
  std::map<std::uint32_t, Fiber> fibers_;
  std::map<std::uint32_t, std::string> queue_pairs_;
  std::vector<Memory> memories_;
  std::map<std::string, std::uint32_t, std::less<>> blocks_of_host_;  // since the host started
  std::map<const fabric::MemoryBlock*, std::uint32_t> numbers_;       // for look-ups only
};

}  // namespace falafel::explorer
