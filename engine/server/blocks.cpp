#include "engine/server/blocks.h"

#include <algorithm>
#include <utility>

#include "engine/probes.h"

namespace falafel::engine {
namespace {

// Shares of a block that a collection has to gain, and of all blocks that are kept for grants.
constexpr std::uint64_t usual_gain_share = 4;
constexpr std::uint64_t least_gain_share = 32;
constexpr std::size_t kept_share = 64;
constexpr std::size_t fewest_kept_blocks = 2;

// A small memory would have nothing left to grant.
std::uint64_t reserve_of_blocks(const ServerOptions& options) {
  constexpr std::uint64_t share = 32;
  const std::uint64_t blocks = options.geometry.mature_space_count;
  const bool has_reserve = options.keeps_overwrite_reserve && blocks >= fewest_blocks + 2;
  return has_reserve ? (blocks + share - 1) / share + 1 : 0;
}

}  // namespace

Blocks::Blocks(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
               ServerStatistics& statistics, MatureSpaceControl control)
    : host_(host),
      options_(options),
      geometry_(options.geometry),
      book_(book),
      statistics_(statistics),
      control_(std::move(control)),
      reserve_blocks_(reserve_of_blocks(options)),
      work_(host) {}

std::uint64_t Blocks::capacity_bytes() const {
  return geometry_.mature_space_count * geometry_.mature_bytes;
}

// Room

Outlook Blocks::room_for(const RoomRequest& request) const {
  if (has_room(request.overwrites)) return {.room = Room::free};
  if (!has_nothing_to_gain(request.wanted_ns.value_or(host_.now_ns()))) {
    return {.room = Room::comes};
  }
  const bool has_nothing_to_evict =
      !control_.evict || request.nothing_to_evict_at_bytes == book_.mature().allocated_bytes();
  return {.room = has_nothing_to_evict ? Room::none : Room::can_be_made};
}

void Blocks::make_room(RoomRequest& request) {
  const std::uint64_t copied_bytes = book_.mature().allocated_bytes();
  if (!control_.evict()) request.nothing_to_evict_at_bytes = copied_bytes;
  // There is more garbage than measured.
  measurement_.reset();
}

bool Blocks::has_room(bool overwrites) const {
  return book_.mature().free_count() >= needed_blocks(overwrites);
}

// Free ones: for the regions, and for the collection of a block. The reserve need not be free if it
// is garbage.
std::uint64_t Blocks::needed_blocks(bool overwrites) const {
  const std::uint64_t regions = book_.promised_regions() + 1;
  const std::uint64_t most_live_blocks = geometry_.mature_space_count - 1 - reserve_blocks_;
  const bool leaves_reserve = book_.mature().most_live_bytes() + regions * geometry_.mature_bytes <=
                              most_live_blocks * geometry_.mature_bytes;
  return regions + 1 + (overwrites || leaves_reserve ? 0 : reserve_blocks_);
}

std::int64_t Blocks::spare_blocks() const {
  const std::uint64_t coming = book_.mature().free_count() + book_.mature().waiting_count();
  return static_cast<std::int64_t>(coming) - static_cast<std::int64_t>(needed_blocks(false));
}

bool Blocks::has_nothing_to_gain(std::uint64_t wanted_ns) const {
  if (is_collecting_ || book_.mature().waiting_count() > 0 || !measurement_) return false;
  const bool is_recent = measurement_->time.began_ns >= wanted_ns || host_.now_ns() < due_ns();
  return is_recent && !is_outdated() && !find_source(least_gain_share);
}

// Cleaning

void Blocks::run() {
  while (work_.take(look_again_ns_)) {
    look_again_ns_ = fabric::never_ns;
    clean();
  }
}

void Blocks::clean() {
  if (is_collecting_ || has_enough() || !has_room_for_collection()) return;
  const std::uint64_t share = is_short() ? least_gain_share : usual_gain_share;
  if (is_measurement_useful(share) && host_.now_ns() >= due_ns()) measure();
  if (const auto source = find_source(share)) {
    is_collecting_ = true;
    control_.ask_for_collection(*source);
  } else if (is_short() && is_measurement_useful(share)) {
    look_again_ns_ = due_ns();
  }
}

// A measurement takes a tenth of the server's time at most, or half of it while copies become
// garbage.
std::uint64_t Blocks::due_ns() const {
  if (!measurement_) return 0;
  const std::uint64_t pause_ns = (is_outdated() ? 2 : 10) * measurement_->time.took_ns;
  return measurement_->time.began_ns + std::max(options_.measurement_interval_ns,
                                                std::min(pause_ns, options_.heartbeat_timeout_ns));
}

bool Blocks::has_room_for_collection() const {
  return book_.mature().free_count() >= book_.promised_regions() + 1;
}

// Blocks that wait for clients count as free.
bool Blocks::is_short() const { return spare_blocks() < 0; }

bool Blocks::has_enough() const {
  const std::size_t kept = std::max(book_.mature().all().size() / kept_share, fewest_kept_blocks);
  return spare_blocks() >= static_cast<std::int64_t>(kept);
}

bool Blocks::is_measurement_useful(std::uint64_t gain_share) const {
  if (!measurement_) return true;
  const bool decides_request = is_wanted_ && book_.mature().waiting_count() == 0;
  if (!is_outdated() && !decides_request) return false;
  const auto best = find_source(gain_share);
  return !best || 2 * gain_bytes(*best) < measurement_->first_gain_bytes;
}

// Something was copied since the measurement began, and may have become garbage.
bool Blocks::is_outdated() const {
  return measurement_->allocated_bytes != book_.mature().allocated_bytes();
}

void Blocks::measure() {
  ++statistics_.mature_measurements;
  is_wanted_ = false;
  const std::uint64_t began_ns = host_.now_ns();
  const std::uint64_t allocated_bytes = book_.mature().allocated_bytes();
  std::vector<LiveSpace> blocks = control_.measure();
  book_.mature().note_live(blocks);
  measurement_ = Measurement{.blocks = std::move(blocks),
                             .time = {.began_ns = began_ns, .took_ns = host_.now_ns() - began_ns},
                             .allocated_bytes = allocated_bytes};
  if (const auto best = find_best_block()) measurement_->first_gain_bytes = gain_bytes(*best);
  control_.report();
}

// The full block that gains most, of those that gain anything and are unchanged since they were
// measured.
std::optional<std::uint32_t> Blocks::find_best_block() const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t block = 0; measurement_ && block < measurement_->blocks.size(); ++block) {
    const std::uint64_t gain = gain_bytes(block);
    if (gain > 0 && (!best || gain > gain_bytes(*best))) best = block;
  }
  return best;
}

std::optional<std::uint32_t> Blocks::find_source(std::uint64_t gain_share) const {
  const auto best = find_best_block();
  if (!best || gain_bytes(*best) < geometry_.mature_bytes / gain_share) return std::nullopt;
  return best;
}

// 0: it is not full, has changed, or may gain nothing. A hostile client can make containers
// overlap, and then more bytes are live than there are.
std::uint64_t Blocks::gain_bytes(std::uint32_t block) const {
  const LiveSpace& measured = measurement_->blocks[block];
  const MatureSpaceInspection& now = book_.mature()[block];
  if (now.active || now.used_bytes == 0 || now.used_bytes != measured.used_bytes) return 0;
  const std::uint64_t live_bytes = std::min(measured.live_bytes, geometry_.mature_bytes);
  const std::uint64_t gain = geometry_.mature_bytes - live_bytes;
  return gain >= measured.longest_bytes ? gain : 0;
}

void Blocks::on_collected(std::uint32_t block) {
  host_.count(probes::block_collected);
  is_collecting_ = false;
  if (measurement_) measurement_->blocks[block] = {};
  work_.raise();
}

void Blocks::on_waiting() {
  is_wanted_ = true;
  work_.raise();
}

std::optional<MeasurementTime> Blocks::measured() const {
  return measurement_ ? std::optional(measurement_->time) : std::nullopt;
}

}  // namespace falafel::engine
