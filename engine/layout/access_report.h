// A client's report of accesses, which a cache uses to decide what to evict: the slots of some keys
// that GETs have found, in a message that waits for no answer.
//
// `region` is the number of slots, 1 to 4. `incarnation` has the first two, the first one in its
// lower half, and `epoch` the others; further halves are 0.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/layout/control_message.h"

namespace falafel::engine {

inline constexpr std::size_t most_reported_slots = 4;
// Slots of a cache are numbers of 32 bits.
inline constexpr std::uint64_t most_cache_entries = std::uint64_t{1} << 32;

struct AccessReport {
  std::size_t count = 0;
  std::array<std::uint64_t, most_reported_slots> slots{};

  std::span<const std::uint64_t> all() const { return std::span(slots).first(count); }
};

inline ControlMessage to_message(const AccessReport& report) {
  return {.kind = MessageKind::report_accesses,
          .region = static_cast<std::uint32_t>(report.count),
          .incarnation = report.slots[0] | report.slots[1] << 32,
          .epoch = report.slots[2] | report.slots[3] << 32};
}

// Returns nullopt if no client of a store with that number of slots sends the message.
inline std::optional<AccessReport> to_access_report(const ControlMessage& message,
                                                    std::uint64_t slot_count) {
  constexpr std::uint64_t half = 0xffff'ffff;
  const AccessReport report{.count = message.region,
                            .slots = {message.incarnation & half, message.incarnation >> 32,
                                      message.epoch & half, message.epoch >> 32}};
  if (report.count == 0 || report.count > most_reported_slots) return std::nullopt;
  for (const std::uint64_t slot : report.all()) {
    if (slot >= slot_count) return std::nullopt;
  }
  return report;
}

}  // namespace falafel::engine
