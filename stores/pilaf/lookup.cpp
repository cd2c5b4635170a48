#include "stores/pilaf/lookup.h"

#include <algorithm>

namespace falafel::pilaf {

Lookup::Lookup(fabric::Host& host, Connection& connection, const Options& options,
               OperationStatistics& statistics, std::span<const std::byte> key,
               std::uint64_t most_retries)
    : host_(host),
      connection_(connection),
      checksum_(connection.checksum()),
      options_(options),
      statistics_(statistics),
      key_(key),
      most_retries_(most_retries),
      slots_(slots_of(key, connection.server().hash_seed, connection.server().ways,
                      connection.server().table_entries)) {
  host_.spend(fabric::Work::hash, connection.server().ways * key.size());
}

LookupOutcome Lookup::run() {
  std::uint64_t index = 0;
  for (bool is_over = false; index < slots_.size() && !is_over; ++index) {
    ++statistics_.probes;
    switch (probe(index)) {
      case Probe::hit: return LookupOutcome::found;
      case Probe::miss: break;
      case Probe::end: is_over = true; break;
      case Probe::exhausted: return LookupOutcome::exhausted;
      case Probe::broken: return LookupOutcome::broken;
    }
  }
  return options_.safeguards.absence_validation ? validate_absence(index)
                                                : LookupOutcome::not_found;
}

// The first READ of an entry may be one of several at once; repeated ones are alone.
Lookup::Probe Lookup::probe(std::uint64_t index) {
  if (!has_entry(index) && !read_ahead(index)) return Probe::broken;
  while (true) {
    const Entry entry = entries_[index];
    if (verifies(entry)) {
      if (!entry.is_in_use()) {
        return slots_.is_linear() && !entry.was_emptied() ? Probe::end : Probe::miss;
      }
      if (!connection_.read_extent(entry.pointer(), extent_)) return Probe::broken;
      if (extent_verifies(entry.pointer())) {
        return std::ranges::equal(parse_extent(extent_)->key, key_) ? Probe::hit : Probe::miss;
      }
    }
    if (statistics_.retries() > most_retries_) return Probe::exhausted;
    if (!read_again(index)) return Probe::broken;
  }
}

bool Lookup::read_ahead(std::uint64_t index) {
  std::array<std::uint64_t, most_ways> slots{};
  const std::uint64_t count = std::min<std::uint64_t>(options_.probe_ahead, slots_.size() - index);
  for (std::uint64_t ahead = 0; ahead < count; ++ahead) slots[ahead] = slots_[index + ahead];
  entries_.resize(index + count);
  return connection_.read_entries(std::span(slots).first(count),
                                  std::span(entries_).subspan(index));
}

bool Lookup::read_again(std::uint64_t index) {
  const std::array<std::uint64_t, 1> slots{slots_[index]};
  return connection_.read_entries(slots, std::span(entries_).subspan(index, 1));
}

bool Lookup::verifies(const Entry& entry) {
  if (!options_.safeguards.entry_checksums) return true;
  host_.spend(fabric::Work::crc64_check, entry_bytes);
  const bool is_right = entry.verifies();
  if (!is_right) ++statistics_.entry_retries;
  return is_right;
}

// Without the checksum, the lengths must still fit, or there is no key to compare.
bool Lookup::extent_verifies(const ExtentPointer& pointer) {
  host_.spend(fabric::Work::crc64_check, extent_.size());
  const bool is_checked = options_.safeguards.extent_checksums;
  const bool is_right =
      parse_extent(extent_) && (!is_checked || checksum_.of(extent_) == pointer.crc);
  if (!is_right) ++statistics_.extent_retries;
  return is_right;
}

// All entries are read again after all of them have been read. If none has changed, there was a
// moment between the two readings at which the key was in none of its slots.
LookupOutcome Lookup::validate_absence(std::uint64_t probed) {
  for (std::uint64_t begin = 0; begin < probed; begin += entries_at_a_time) {
    const std::uint64_t count = std::min<std::uint64_t>(entries_at_a_time, probed - begin);
    std::array<std::uint64_t, entries_at_a_time> slots{};
    std::array<Entry, entries_at_a_time> entries;
    for (std::uint64_t index = 0; index < count; ++index) slots[index] = slots_[begin + index];
    if (!connection_.read_entries(std::span(slots).first(count), entries)) {
      return LookupOutcome::broken;
    }
    const auto before = std::span(entries_).subspan(begin, count);
    if (std::ranges::equal(before, std::span(entries).first(count))) continue;
    if (++statistics_.absence_retries; statistics_.retries() > most_retries_) {
      return LookupOutcome::exhausted;
    }
    return LookupOutcome::changed;
  }
  return LookupOutcome::not_found;
}

}  // namespace falafel::pilaf
