// The life of a host: it may die, and start again as another process.
#pragma once

#include <cstdint>

namespace falafel::sim {

struct HostLife {
  bool is_alive = false;
  std::uint32_t incarnation = 0;
};

// A host in the life in which it has sent something.
class Sender {
 public:
  explicit Sender(const HostLife& life) : life_(&life), incarnation_(life.incarnation) {}

  bool is_alive() const { return life_->is_alive && life_->incarnation == incarnation_; }

 private:
  const HostLife* life_;
  std::uint32_t incarnation_;
};

}  // namespace falafel::sim
