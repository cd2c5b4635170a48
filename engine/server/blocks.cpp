#include "engine/server/blocks.h"

#include <algorithm>
#include <utility>

#include "engine/probes.h"

namespace falafel::engine {
namespace {

// Shares of a block that a collection has to gain, and of all blocks that are kept for grants.
constexpr std::uint64_t usual_gain_share = 4;
constexpr std::uint64_t least_gain_share = 64;
constexpr std::uint64_t kept_share = 64;
constexpr std::uint64_t fewest_kept_blocks = 2;
// Collections that make the memory smaller gain this share of a block.
constexpr std::uint64_t shrinking_gain_share = 2;
constexpr std::uint64_t fewest_held_blocks = 2;
// The blocks that are held at a time.
constexpr std::uint64_t most_blocks_at_a_time = 16;
// Measurements take this share of the server's time at most, and this one while clients write.
constexpr std::uint64_t usual_share = 10;
constexpr std::uint64_t highest_share = 2;
// The same for those that find out whether the memory can become smaller.
constexpr std::uint64_t shrinking_share = 100;

// A small memory would have nothing left to grant.
std::uint64_t reserve_of_blocks(const ServerOptions& options, std::uint64_t blocks) {
  constexpr std::uint64_t share = 32;
  const bool has_reserve = options.keeps_overwrite_reserve && blocks >= fewest_blocks + 2;
  return has_reserve ? (blocks + share - 1) / share + 1 : 0;
}

}  // namespace

Blocks::Blocks(fabric::Host& host, const ServerOptions& options, MemoryBook& book, HeldMemory& held,
               ServerStatistics& statistics, MatureSpaceControl& control)
    : host_(host),
      options_(options),
      geometry_(options.geometry),
      book_(book),
      held_(held),
      statistics_(statistics),
      control_(control),
      least_held_(
          std::max(options.least_held_bytes / options.geometry.mature_bytes, fewest_held_blocks)),
      work_(host) {}

std::uint64_t Blocks::capacity_bytes() const {
  return geometry_.mature_space_count * geometry_.mature_bytes;
}

// Room

Outlook Blocks::room_for(const RoomRequest& request) const {
  const bool has_memory = request.overwrites || leaves_reserve(request);
  if (has_memory && has_free_blocks()) return {.room = Room::free};
  if (has_memory && may_grow_for(request)) return {.room = Room::comes};
  const bool is_full = has_memory ? has_nothing_to_gain(request) : is_measured_full(request);
  if (!is_full) return {.room = Room::comes};
  const bool has_nothing_to_evict =
      !options_.evicts || request.nothing_to_evict_at_bytes == book_.mature().allocated_bytes();
  return {.room = has_nothing_to_evict ? Room::none : Room::can_be_made};
}

void Blocks::make_room(RoomRequest& request) {
  const std::uint64_t copied_bytes = book_.mature().allocated_bytes();
  if (!control_.evict()) request.nothing_to_evict_at_bytes = copied_bytes;
  // There is more garbage than measured.
  measurement_.reset();
}

// For the regions, and for the collection of a block.
bool Blocks::has_free_blocks() const {
  return book_.mature().free_count() >= book_.promised_regions() + 2;
}

// Blocks that wait for clients count as free.
std::int64_t Blocks::spare_blocks() const {
  const std::uint64_t coming = book_.mature().free_count() + book_.mature().waiting_count();
  return static_cast<std::int64_t>(coming) -
         static_cast<std::int64_t>(book_.promised_regions() + 2);
}

std::uint64_t Blocks::usable_bytes() const {
  std::uint64_t bytes =
      (book_.mature().free_count() + book_.mature().waiting_count()) * geometry_.mature_bytes;
  for (std::uint32_t block = 0; block < book_.mature().all().size(); ++block) {
    bytes += gain_bytes(block);
  }
  return bytes;
}

// Besides the blocks for the regions, for another one, and for the collection of a block.
bool Blocks::leaves_reserve(const RoomRequest& request, std::uint64_t usable_bytes) const {
  const std::uint64_t coming = may_grow_for(request) ? book_.mature().not_held_count() : 0;
  const std::uint64_t reserve = reserve_of_blocks(options_, book_.mature().held_count() + coming);
  const std::uint64_t needed_blocks = book_.promised_regions() + 2 + reserve;
  return reserve == 0 ||
         usable_bytes + coming * geometry_.mature_bytes >= needed_blocks * geometry_.mature_bytes;
}

bool Blocks::was_measured_after(const RoomRequest& request) const {
  return measurement_ && measurement_->time.began_ns >= request.wanted_ns.value_or(host_.now_ns());
}

bool Blocks::is_measured_for(const RoomRequest& request) const {
  const bool is_recent = measurement_ && !measures_freed_ && host_.now_ns() < due_ns(usual_share);
  return was_measured_after(request) || (is_recent && !has_freed_memory());
}

// Copies made since the measurement took memory, or replaced what was live.
bool Blocks::is_measured_full(const RoomRequest& request) const {
  return is_measured_for(request) && !leaves_reserve(request, measurement_->usable_bytes);
}

bool Blocks::has_nothing_to_gain(const RoomRequest& request) const {
  if (may_free_blocks() || !is_measured_for(request)) return false;
  return !is_outdated() || was_measured_after(request);
}

bool Blocks::may_free_blocks() const {
  return is_collecting_ || book_.mature().waiting_count() > 0 || find_source(least_gain_share);
}

// Growth

bool Blocks::may_grow_for(const RoomRequest& request) const {
  if (book_.mature().not_held_count() == 0) return false;
  return !refused_ns_ || *refused_ns_ < request.wanted_ns.value_or(host_.now_ns());
}

// Blocks that wait for clients may wait long.
void Blocks::grow() {
  std::uint64_t grown = 0;
  while (lacks_free_blocks() && grown < most_blocks_at_a_time) {
    if (held_.hold_another_block()) {
      ++grown;
    } else {
      refused_ns_ = host_.now_ns();
      host_.count(probes::memory_refused);
    }
  }
  if (grown > 0) host_.count(probes::memory_grew);
  if (grown == most_blocks_at_a_time) work_.raise();
  control_.on_outlook_changed();
}

void Blocks::release_free_blocks() {
  const std::uint64_t kept =
      book_.promised_regions() + 2 + kept_blocks() + std::max<std::uint64_t>(slack_blocks(), 1);
  if (book_.mature().free_count() <= kept + slack_blocks()) return;
  while (book_.mature().free_count() > kept && book_.mature().held_count() > least_held_) {
    held_.release_a_block();
    ++statistics_.blocks_released;
    host_.count(probes::memory_released);
  }
}

std::uint64_t Blocks::live_blocks() const {
  if (!measurement_) return 0;
  std::uint64_t bytes = 0;
  for (const LiveSpace& space : measurement_->blocks) bytes += space.live_bytes;
  return bytes / geometry_.mature_bytes;
}

bool Blocks::is_small() const {
  return book_.mature().held_count() < std::max(least_held_, 2 * live_blocks());
}

bool Blocks::is_oversized() const {
  return held_.grows() && measurement_ &&
         book_.mature().held_count() > std::max(least_held_, 2 * live_blocks());
}

// Cleaning

void Blocks::run() {
  while (work_.take(look_again_ns_)) {
    look_again_ns_ = fabric::never_ns;
    clean();
  }
}

void Blocks::clean() {
  if (held_.grows()) release_free_blocks();
  if (lacks_free_blocks() && is_small()) grow();
  const bool collects = is_collecting_ || look_for_garbage();
  if (lacks_free_blocks() && !collects) grow();
  // A cleanup frees memory, too.
  if (held_.grows() && book_.mature().held_count() > least_held_) {
    look_again_ns_ = std::min(look_again_ns_, host_.now_ns() + options_.cleanup_interval_ns);
  }
}

// Returns false if no block is worth a collection.
bool Blocks::look_for_garbage() {
  if (is_measurement_useful()) {
    const bool is_for_room = lacks_blocks() || is_wanted_;
    const std::uint64_t share = is_for_room ? usual_share : shrinking_share;
    look_again_ns_ = due_ns(is_for_room && measurement_ && is_outdated() ? highest_share : share);
    if (host_.now_ns() >= look_again_ns_) {
      if (lacks_free_blocks() && !has_free_blocks()) grow();  // nobody waits for the measurement
      measure();
    }
  }
  const bool makes_room = lacks_blocks();
  if (!makes_room && !is_oversized()) return false;
  const auto source = find_source(makes_room ? gain_share() : shrinking_gain_share);
  if (!source || !has_room_for_collection()) return false;
  is_collecting_ = true;
  control_.ask_for_collection(*source);
  return true;
}

// A measurement takes at most a share of the server's time. The server may have been stalled during
// it. The stall must not delay the next one.
std::uint64_t Blocks::due_ns(std::uint64_t share) const {
  if (!measurement_) return 0;
  return measurement_->time.began_ns +
         std::max(options_.measurement_interval_ns,
                  std::min(share * measurement_->time.took_ns, options_.heartbeat_timeout_ns));
}

bool Blocks::lacks_free_blocks() const {
  const bool lacks_some =
      !has_free_blocks() || spare_blocks() < static_cast<std::int64_t>(kept_blocks());
  return lacks_some && may_grow();
}

// True unless blocks wait for clients.
bool Blocks::has_room_for_collection() const {
  return book_.mature().free_count() >= book_.promised_regions() + 1;
}

bool Blocks::lacks_blocks() const {
  return spare_blocks() < static_cast<std::int64_t>(kept_blocks()) && has_room_for_collection();
}

std::uint64_t Blocks::kept_blocks() const {
  return std::max<std::uint64_t>(book_.mature().held_count() / kept_share, fewest_kept_blocks);
}

std::uint64_t Blocks::gain_share() const {
  return is_short() && !may_grow() ? least_gain_share : usual_gain_share;
}

// While blocks are free, a measurement has time until as much was written as makes it worth its
// cost.
bool Blocks::is_measurement_useful() const {
  if (may_hold_too_much()) return true;
  if (is_wanted_ || !measurement_) return is_wanted_ || lacks_blocks();
  if (!lacks_blocks() || find_source(gain_share())) return false;
  const std::uint64_t written_bytes = book_.mature().written_bytes() - measurement_->written_bytes;
  return is_short() && !may_grow() ? is_outdated()
                                   : written_bytes >= kept_blocks() * geometry_.mature_bytes;
}

// A measurement may show that less memory is enough.
bool Blocks::may_hold_too_much() const {
  if (!held_.grows() || is_wanted_ || lacks_blocks()) return false;
  const bool has_freed = measurement_ ? has_freed_memory() : has_freed_;
  return has_freed && book_.mature().held_count() > least_held_;
}

// Clients have written or freed memory since the measurement began, and may have made garbage.
bool Blocks::is_outdated() const {
  const bool was_written = measurement_->written_bytes != book_.mature().written_bytes();
  return was_written || has_freed_memory();
}

bool Blocks::has_freed_memory() const {
  return has_freed_ || statistics_.entries_cleaned != measurement_->entries_cleaned;
}

void Blocks::measure() {
  ++statistics_.mature_measurements;
  is_wanted_ = false;
  measures_freed_ = std::exchange(has_freed_, false);
  const std::uint64_t entries_cleaned = statistics_.entries_cleaned;
  const std::uint64_t began_ns = host_.now_ns();
  const std::uint64_t written_bytes = book_.mature().written_bytes();
  is_measuring_ = true;
  std::vector<LiveSpace> blocks = control_.measure_live_data();
  is_measuring_ = false;
  measures_freed_ = false;
  book_.mature().note_live(blocks);
  measurement_ = Measurement{.blocks = std::move(blocks),
                             .time = {.began_ns = began_ns, .took_ns = host_.now_ns() - began_ns},
                             .written_bytes = written_bytes,
                             .entries_cleaned = entries_cleaned};
  measurement_->usable_bytes = usable_bytes();
  control_.on_outlook_changed();
}

// Returns the block that gains most.
std::optional<std::uint32_t> Blocks::find_source(std::uint64_t share) const {
  std::optional<std::uint32_t> best;
  std::uint64_t best_bytes = 0;
  for (std::uint32_t block = 0; block < book_.mature().all().size(); ++block) {
    const std::uint64_t bytes = gain_bytes(block);
    if (bytes * share < geometry_.mature_bytes || bytes <= best_bytes) continue;
    best = block;
    best_bytes = bytes;
  }
  return best;
}

// Dead bytes become usable. The end of the block does too, but copies may leave as much unused
// at the end of another block, which is less than the longest container. A hostile client can make
// containers overlap, and then more bytes are live than there are.
std::uint64_t Blocks::gain_bytes(std::uint32_t block) const {
  const MatureSpaceInspection& space = book_.mature()[block];
  if (space.active || space.used_bytes == 0) return 0;
  const std::uint64_t dead_bytes = book_.mature().dead_bytes(block);
  if (space.unmeasured_bytes > 0 || !measurement_) return dead_bytes;
  const LiveSpace& measured = measurement_->blocks[block];
  const std::uint64_t kept_bytes = measured.live_bytes + measured.longest_bytes;
  return std::max(dead_bytes,
                  geometry_.mature_bytes - std::min(kept_bytes, geometry_.mature_bytes));
}

void Blocks::on_collected(std::uint32_t) {
  host_.count(probes::block_collected);
  is_collecting_ = false;
  work_.raise();
}

void Blocks::on_waiting(const RoomRequest& request) {
  if (refused_ns_ && request.wanted_ns && *refused_ns_ < *request.wanted_ns) refused_ns_.reset();
  const bool lacks_memory = !request.overwrites && !leaves_reserve(request);
  is_wanted_ = is_wanted_ || lacks_memory || !(may_free_blocks() || may_grow());
  work_.raise();
  // A measurement of much data takes seconds.
  if (is_measuring_ && lacks_free_blocks()) grow();
}

void Blocks::on_freed() {
  has_freed_ = true;
  work_.raise();
}

std::optional<MeasurementTime> Blocks::measured() const {
  return measurement_ ? std::optional(measurement_->time) : std::nullopt;
}

}  // namespace falafel::engine
