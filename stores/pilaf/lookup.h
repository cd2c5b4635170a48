// One lookup of a key in the server's table by READs (Pilaf 3.2 to 3.4): the body of GET.
//
// For each slot of the key in order, the client reads the entry and the extent that it points to. A
// wrong checksum means that the server changed what was read, so the client reads the entry again.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/pilaf/connection.h"
#include "stores/pilaf/hashing.h"
#include "stores/pilaf/layout.h"
#include "stores/pilaf/options.h"
#include "stores/pilaf/results.h"

namespace falafel::pilaf {

enum class LookupOutcome : std::uint8_t {
  found,
  not_found,
  changed,    // absence validation: an entry has changed since it was read; look it up again
  exhausted,  // too many retries
  broken,     // the connection is down
};

class Lookup {
 public:
  // All arguments outlive this object. It gives up after `most_retries` repeated READs, counting
  // those that `statistics` already contains.
  Lookup(fabric::Host& host, Connection& connection, const Options& options,
         OperationStatistics& statistics, std::span<const std::byte> key,
         std::uint64_t most_retries);

  LookupOutcome run();
  // After `found`.
  std::span<const std::byte> value() const { return parse_extent(extent_)->value; }

 private:
  enum class Probe : std::uint8_t { hit, miss, end, exhausted, broken };

  Probe probe(std::uint64_t index);
  bool has_entry(std::uint64_t index) const { return index < entries_.size(); }
  bool read_ahead(std::uint64_t index);
  bool read_again(std::uint64_t index);
  bool verifies(const Entry& entry);
  bool extent_verifies(const ExtentPointer& pointer);
  LookupOutcome validate_absence(std::uint64_t probed);

  fabric::Host& host_;
  Connection& connection_;
  stores::Checksum checksum_;
  const Options& options_;
  OperationStatistics& statistics_;
  std::span<const std::byte> key_;
  std::uint64_t most_retries_;
  ProbeSequence slots_;
  std::vector<Entry> entries_;  // of the first slots, as they were read last
  std::vector<std::byte> extent_;
};

}  // namespace falafel::pilaf
