// The services of a host that somebody listens on.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "fabric/sim/touches.h"

namespace falafel::sim {

class Listener;
struct World;

class Services {
 public:
  // `host`: the index of the host.
  Services(World& world, std::uint32_t host);

  void add(std::uint16_t service, Listener& listener);
  void remove(const Listener& listener);
  // Null if nobody listens.
  Listener* find(std::uint16_t service) const;
  // Reports that a step looks at a listener, or changes one.
  void touch(Access access) const;

 private:
  struct Entry {
    std::uint16_t service;
    Listener* listener;
  };

  World& world_;
  std::uint32_t host_;
  std::pmr::vector<Entry> entries_;
};

}  // namespace falafel::sim
