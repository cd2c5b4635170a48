// The performance of a profile's card in a timed run: the latency and the rate of one kind of
// request, with one or many clients. These are the measurements of the thesis' section 4.1, which
// show whether a profile agrees with its sources, and predict results that the thesis did not
// measure.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

struct CardLoad {
  fabric::Opcode opcode = fabric::Opcode::read;  // READ, WRITE or an atomic
  std::uint32_t length_bytes = 8;                // 8 for atomics
  std::uint32_t clients = 1;
  std::uint32_t machines = 1;    // that the clients are distributed among
  std::uint32_t in_flight = 1;   // requests of each client
  std::uint64_t requests = 100;  // of each client
  bool same_word = false;        // all clients on the same memory; otherwise each on its own
  std::uint64_t seed = 1;
};

struct CardCost {
  double latency_ns = 0;           // mean, from posting until the completion has been polled
  double requests_per_second = 0;  // of all clients
  sim::RunResult run;
};

CardCost measure_card(const sim::timing::Profile& profile, const CardLoad& load);

}  // namespace falafel::figures
