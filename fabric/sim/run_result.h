// How a run ended, and what it has counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fabric/fabric.h"
#include "fabric/sim/options/options.h"

namespace falafel::sim {

enum class Outcome : std::uint8_t {
  completed,   // all fibers returned, except daemons and those of stopped hosts
  stuck,       // fibers wait for events that can no longer happen
  step_limit,  // the step limit was reached
  stopped,     // stop() was called
  spinning,    // a fiber makes call after call and never waits, so nothing else can move
  diverged,    // a replay got a question that was not recorded (ReplayStrategy)
};
std::string_view to_string(Outcome outcome);

// Rare branches of the simulator itself.
enum class SimulatorProbe : std::uint8_t {
  completion_before_placement,  // a WRITE completed before all its words were in memory
  read_overtaken_by_write,      // an unfenced WRITE took effect before an earlier READ
  atomic_met_held_word,         // an atomic arrived between the read and the write of another one
  processor_store_lost,         // the processor stored between the read and the write of an atomic
  request_waited_for_fence,
  request_waited_for_outstanding_limit,
  send_waited_for_receive,
  orphan_applied,            // a request took effect after its requester failed
  orphan_dropped,            // a request had no effect, because its requester failed
  write_torn_by_failure,     // only a part of a WRITE in doubt landed
  access_revoked_midway,     // a transfer of several packets lost its rights on the way
  fence_waited_for_landing,  // a flush waited for admitted data to land
  datagram_dropped,          // no such queue pair, or no receive request
  processor_saw_old_word,    // the processor read a word from before a WRITE
  failure_before_landing,    // a first failure completed while data of the peer was landing
  load_passed_store,         // the processor loaded while earlier stores had not reached memory
};
inline constexpr std::size_t simulator_probe_count = 16;
std::string_view to_string(SimulatorProbe probe);

struct RunResult {
  Outcome outcome = Outcome::completed;
  std::uint64_t steps = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t trace_hash = 0;
  std::array<std::uint64_t, fault_kind_count> faults{};
  std::array<std::uint64_t, simulator_probe_count> simulator_probes{};
  std::array<std::uint64_t, fabric::max_probes> probes{};
  std::string explanation;  // unless completed: the state of hosts, fibers, queue pairs
  // The first use of memory that was not committed (fabric::MemoryBlock::commit); empty: none.
  std::string uncommitted_use;
};

}  // namespace falafel::sim
