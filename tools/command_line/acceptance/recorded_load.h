// Clients under load that record what they do. The records are in memory that outlives the client's
// process, so the records of a killed client show which operations were pending.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "fabric/fabric.h"

namespace falafel::acceptance {

// One operation. The writer fills it, then raises Log::size; it fills the answer, then sets
// has_returned.
struct Record {
  checkers::OperationKind kind = checkers::OperationKind::get;
  checkers::Answer answer = checkers::Answer::indeterminate;
  std::uint32_t key = 0;
  std::uint64_t value = 0;  // the number of the writer; of a value that nobody wrote: garbled
  std::uint64_t call_ns = 0;
  std::uint64_t return_ns = 0;
  std::atomic<bool> has_returned = false;
};
inline constexpr std::uint64_t garbled = ~std::uint64_t{0};

struct Log {
  static constexpr std::uint32_t most_records = 30'000;

  std::atomic<std::uint32_t> size = 0;
  std::atomic<bool> is_connected = false;    // it has been
  std::atomic<bool> has_lost = false;        // its connection broke
  std::atomic<std::uint64_t> end_ns = 0;     // when it ended by itself
  std::atomic<std::uint64_t> corrupted = 0;  // answers of this kind
  std::array<Record, most_records> records;
};

struct LoadPlace {
  std::string server;
  std::uint32_t client = 0;  // tells its values from those of others
  std::uint64_t round = 0;   // the keys of a round are its own
  std::uint32_t keys = 24;
  std::uint32_t fibers = 4;
  std::uint64_t duration_ns = 0;
  std::uint32_t most_operations = Log::most_records;
};

// GETs, SETs and DELETEs of random keys, on several fibers of one connection, until the time is
// over, all operations are done or the connection breaks. Waits. Returns why it could not begin;
// empty: it could.
std::string run_recorded_client(fabric::Host& host, const LoadPlace& place, Log& log);

// GETs every key of the round, then deletes it.
std::string read_back(fabric::Host& host, const LoadPlace& place, Log& log);

// The history of all logs of a round. `Client` is the index of the log.
std::vector<checkers::Operation> history_of(std::span<const Log* const> logs);

// Judges the history of a round: every answer is one that a store without faults gives, in some
// order that respects time.
checkers::Judgement judge(std::span<const Log* const> logs);

}  // namespace falafel::acceptance
