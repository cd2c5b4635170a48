// Hosts wait here for each other before the part of their run that an exploration explores.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::check {

class StartingLine {
 public:
  // Waits until `hosts` hosts have called it. The last one calls `start` when nothing else can
  // move, and its caller continues in a later step.
  void wait(fabric::Host& host, std::size_t hosts, const std::function<void()>& start);

 private:
  class Place;

  std::size_t arrived_ = 0;
  bool is_over_ = false;
  std::vector<fabric::Event*> waiting_;
};

}  // namespace falafel::check
