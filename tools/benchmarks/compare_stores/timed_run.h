// A timed run of one store: its server, if it has one, and its clients on several machines.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tl/expected.hpp>

#include "fabric/sim/simulation.h"
#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/compare_stores/compared_store.h"

namespace falafel::compare_stores {

struct TimedRun {
  const sim::timing::Profile& profile;
  const ComparedStore& store;
  Demand demand;
  std::uint32_t machines = 5;  // that the clients are distributed among
  std::uint64_t seed = 1;
};

// A client that is connected.
struct Participant {
  sim::Simulation& simulation;
  fabric::Host& host;
  StoreRun& run;
  StoreClient& client;
  std::uint32_t number;
  std::uint64_t& ended_operations;  // of all clients
};

// Runs `body` as each client once it is connected. An error explains why the run did not complete:
// a body returned an error message, a party could not start, or an operation does not end.
tl::expected<void, std::string> run_timed(
    const TimedRun& run, const std::function<std::string(const Participant&)>& body,
    sim::TraceObserver* observer = nullptr);

// How long a client repeats an operation that answers `busy`, usually.
inline constexpr std::uint64_t patience_ns = 20'000'000;

// The keys and values of all runs.
Bytes key_of(std::uint64_t number, const Demand& demand);
Bytes value_of(std::uint64_t key, std::uint64_t writer_number, const Demand& demand);

// Repeats the operation while the store answers `busy`, with pauses that become longer, until the
// deadline.
Reply get_until(const Participant& participant, std::span<const std::byte> key, Bytes& value,
                std::uint64_t deadline_ns);
Reply set_until(const Participant& participant, std::span<const std::byte> key,
                std::span<const std::byte> value, std::uint64_t deadline_ns);

// Stores this client's share of the keys. An error message: a key was not stored.
std::string load_keys(const Participant& participant, const Demand& demand);

}  // namespace falafel::compare_stores
