// A process as its objects see it: the subnet and the host where it runs, its address there, its
// heap, and an event for changes that the program did not make. The process itself (process.h) owns
// these objects, which therefore need not know it.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

class ProgramHeap;
class Subnet;

class ProcessSite {
 public:
  ProcessSite(const ProcessSite&) = delete;
  ProcessSite& operator=(const ProcessSite&) = delete;

  Subnet& subnet() const { return subnet_; }
  fabric::Host& host() const { return host_; }
  // The only port's LID: 1 for the host that was added first. See Subnet for addresses.
  std::uint16_t lid() const { return lid_; }
  // It stays as long as the subnet, because requests of peers may still land there.
  ProgramHeap& heap() const { return heap_; }
  // Notified by all that happens here without the program: completions, changes of registered
  // memory, and what arrives for its sockets.
  const std::shared_ptr<fabric::Event>& activity() const { return activity_; }
  // Lets others go on, until something happens here. So a program that polls in a loop does
  // not run alone, and looks again after each change. The wait is short, but grows while nothing
  // happens.
  void wait_for_activity();

 protected:
  ProcessSite(Subnet& subnet, fabric::Host& host);
  ~ProcessSite() = default;

 private:
  Subnet& subnet_;
  fabric::Host& host_;
  std::uint16_t lid_;
  ProgramHeap& heap_;
  std::shared_ptr<fabric::Event> activity_;
  std::uint64_t patience_ns_;
};

}  // namespace falafel::simulated_verbs
