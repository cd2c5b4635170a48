#include "simulated_verbs/unmodified/processors_of_workers.h"

#include <unistd.h>

namespace falafel::simulated_verbs {

std::optional<unsigned> ProcessorsOfWorkers::own() {
  if (workers_ < 2) return std::nullopt;
  const pid_t self = ::getpid();
  if (owner_ != self) {
    owner_ = self;
    place_ = taken_->fetch_add(1);
  }
  return place_;
}

}  // namespace falafel::simulated_verbs
