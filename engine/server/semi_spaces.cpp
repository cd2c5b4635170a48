#include "engine/server/semi_spaces.h"

#include <algorithm>
#include <utility>

#include "engine/probes.h"

namespace falafel::engine {

// A small memory would have nothing left to grant.
static std::uint64_t reserve_of_semi_space(const ServerOptions& options) {
  constexpr std::uint64_t share = 32;
  const std::uint64_t regions = options.geometry.mature_bytes / options.geometry.region_bytes;
  const bool has_reserve = options.keeps_overwrite_reserve && regions >= 4;
  return has_reserve ? std::max<std::uint64_t>(1, regions / share) : 0;
}

SemiSpaces::SemiSpaces(fabric::Host& host, const ServerOptions& options, const MemoryBook& book,
                       ServerStatistics& statistics, MatureSpaceControl& control)
    : host_(host),
      options_(options),
      geometry_(options.geometry),
      book_(book),
      statistics_(statistics),
      control_(control),
      reserve_regions_(reserve_of_semi_space(options)) {}

Outlook SemiSpaces::room_for(const RoomRequest& request) const {
  if (has_room_without(0, request.overwrites)) return {.room = Room::free};
  if (is_collection_asked_ || book_.mature().waiting_count() > 0) return {.room = Room::comes};
  if (has_room_after_collection(request.overwrites)) return {.room = Room::can_be_made};
  if (is_measurement_due(request)) return {.room = Room::can_be_made};
  // The amount of live data in memory collected or freed since is unknown until the next
  // measurement.
  const std::uint64_t wanted_ns = request.wanted_ns.value_or(host_.now_ns());
  const bool was_freed = has_freed_memory() && measurement_->time.began_ns < wanted_ns;
  if (was_freed || used_bytes() != measurement_->used_bytes) {
    return {.room = Room::comes, .look_again_ns = due_ns()};
  }
  return {.room = can_evict(request) ? Room::can_be_made : Room::none};
}

void SemiSpaces::make_room(RoomRequest& request) {
  if (has_room_after_collection(request.overwrites)) {
    is_collection_asked_ = true;
    control_.ask_for_collection(book_.mature().active());
    return;
  }
  if (is_measurement_due(request)) return measure(request);
  const std::uint64_t copied_bytes = book_.mature().allocated_bytes();
  if (control_.evict()) {
    measurement_.reset();
    return;
  }
  // Others may have made room in the meantime.
  request.nothing_to_evict_at_bytes = copied_bytes;
  measure(request);
}

std::uint64_t SemiSpaces::used_bytes() const {
  return book_.mature()[book_.mature().active()].used_bytes;
}

bool SemiSpaces::has_room_without(std::uint64_t garbage_bytes, bool overwrites) const {
  const std::uint64_t regions = book_.promised_regions() + 1 + (overwrites ? 0 : reserve_regions_);
  return used_bytes() - garbage_bytes + regions * geometry_.region_bytes <= geometry_.mature_bytes;
}

bool SemiSpaces::has_room_after_collection(bool overwrites) const {
  return measurement_ && has_room_without(measurement_->garbage_bytes, overwrites);
}

bool SemiSpaces::is_measurement_due(const RoomRequest& request) const {
  if (!measurement_) return true;
  const bool is_new =
      request.measurement == measurement_->number && measurement_->used_bytes == used_bytes();
  return !is_new && host_.now_ns() >= due_ns();
}

bool SemiSpaces::can_evict(const RoomRequest& request) const {
  return options_.evicts && request.nothing_to_evict_at_bytes != book_.mature().allocated_bytes();
}

void SemiSpaces::measure(RoomRequest& request) {
  ++statistics_.mature_measurements;
  request.measurement = statistics_.mature_measurements;
  has_freed_ = false;
  const std::uint64_t entries_cleaned = statistics_.entries_cleaned;
  const std::uint64_t began_ns = host_.now_ns();
  const std::uint64_t used = used_bytes();
  std::uint64_t live = 0;
  for (const LiveSpace& space : control_.measure_live_data()) live += space.live_bytes;
  live = std::min(live, used);
  measurement_ = Measurement{.number = *request.measurement,
                             .garbage_bytes = used - live,
                             .used_bytes = used,
                             .time = {.began_ns = began_ns, .took_ns = host_.now_ns() - began_ns},
                             .entries_cleaned = entries_cleaned};
}

bool SemiSpaces::has_freed_memory() const {
  return has_freed_ || statistics_.entries_cleaned != measurement_->entries_cleaned;
}

// A measurement takes at most a tenth of the server's time, or half of it after memory was freed.
// The server may have been stalled during the measurement. The stall must not delay the next one.
std::uint64_t SemiSpaces::due_ns() const {
  const std::uint64_t share = has_freed_memory() ? 2 : 10;
  const std::uint64_t pause_ns =
      std::min(share * measurement_->time.took_ns, options_.heartbeat_timeout_ns);
  return measurement_->time.began_ns + std::max(options_.measurement_interval_ns, pause_ns);
}

void SemiSpaces::on_collected(std::uint32_t) {
  host_.count(probes::mature_space_flipped);
  is_collection_asked_ = false;
  measurement_.reset();
  control_.on_outlook_changed();
}

std::optional<MeasurementTime> SemiSpaces::measured() const {
  return measurement_ ? std::optional(measurement_->time) : std::nullopt;
}

}  // namespace falafel::engine
