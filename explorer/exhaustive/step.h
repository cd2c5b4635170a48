// A step of an execution, and the dependence relation between steps.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/touches.h"

namespace falafel::explorer {

// A process makes the steps of one actor of the simulator, or of one lane of it. The environment is
// a process that can make a step only while no other process but faults can.
using Process = std::uint64_t;
inline constexpr Process environment = 0;
// Set in processes that are faults. These can also make their step while the environment can.
inline constexpr Process fault_flag = Process{1} << 31U;
constexpr bool is_fault(Process process) { return (process & fault_flag) != 0; }

// The accesses of a step, at most one entry for accesses of one kind to one range.
class Footprint {
 public:
  void clear();
  void add(const sim::Touch& touch);
  void add(const Footprint& other);
  bool commutes_with(const Footprint& other) const;
  // Tells if both add to the same part of an object.
  bool adds_with(const Footprint& other) const;
  // Tells if the step is impossible before the other one.
  bool awaits(const Footprint& other) const;

 private:
  // Bit i: a kind of object, to tell most footprints apart quickly.
  using Objects = std::uint32_t;

  std::vector<sim::Touch> touches_;
  Objects touched_ = 0;
  Objects changed_ = 0;  // not only read
};

struct Step {
  Process process = environment;
  Footprint footprint;
};

// Steps of one process depend on each other. Steps of two processes depend on each other if they
// access the same part of an object in a way that does not commute.
bool dependent(const Step& left, const Step& right);

}  // namespace falafel::explorer
