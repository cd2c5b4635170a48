// Scans of all keys of a store, beside the operations on single keys. A scan is not atomic. It
// promises as much as one get of each key that lasts as long as the scan:
//
// - A key that is in the store during the whole scan is visited at least once, no matter whether
//   others overwrite it. Property: "scan.missed-key".
// - A key that is absent during the whole scan is not visited. Property: "scan.absent-key".
// - A key is visited with a value that it had during the scan. Property: "scan.wrong-value".
// - A visit reports how much longer this value stays, or 0 if it does not expire, or that it is
//   pinned (engine/layout/pinned.h). Property: "scan.time-to-live".
//
// The judge uses only what is certain whatever order concurrent operations take effect in. It
// therefore accepts some scans that no order explains, and never objects to a correct one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "checkers/judgement.h"

namespace falafel::checkers {

// The times are those of the history, and in nanoseconds of the run.
struct KeyVisit {
  std::string key{};
  std::string value{};
  std::uint64_t time_to_live_ns = 0;
  std::uint64_t time = 0;
  std::uint64_t time_ns = 0;
};

struct KeyScan {
  std::uint32_t client = 0;
  std::uint64_t call_time = 0;
  std::uint64_t call_ns = 0;
  // It answered that it has visited all keys. Otherwise only its visits count.
  bool is_complete = false;
  std::uint64_t return_time = 0;  // complete
  std::uint64_t return_ns = 0;
  std::vector<KeyVisit> visits{};
};

// When a value expires, by all clocks: from the earliest time on it may be gone, and from the
// latest time on it is.
struct Expiry {
  std::uint64_t earliest_ns = 0;
  std::uint64_t latest_ns = 0;
  bool is_pinned = false;

  // The expiry of a pinned value, which is not evicted either.
  static Expiry pinned() {
    constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
    return {.earliest_ns = never, .latest_ns = never, .is_pinned = true};
  }
};

struct ScannedHistory {
  std::span<const Operation> operations;
  // The expiry of what each operation stores; nullopt: it does not expire. Empty: nothing expires.
  std::span<const std::optional<Expiry>> expiries{};
  bool evicts = false;  // any value that is not pinned may vanish at any time
};

struct KeyScanJudgement {
  Judgement judgement;
  // The number of keys that were certainly present or absent during the whole scan.
  std::uint64_t present_keys = 0;
  std::uint64_t absent_keys = 0;
};

// Judges one scan. The history has all operations on the keys of the store.
KeyScanJudgement check_key_scan(const KeyScan& scan, const ScannedHistory& history);

}  // namespace falafel::checkers
