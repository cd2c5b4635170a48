#include "engine/server/block_cleaner.h"

#include <algorithm>
#include <utility>

namespace falafel::engine {
namespace {

// Shares of a block that a collection has to gain, and of all blocks that are kept for grants.
constexpr std::uint64_t usual_gain_share = 4;
constexpr std::uint64_t least_gain_share = 32;
constexpr std::size_t kept_share = 64;
constexpr std::size_t fewest_kept_blocks = 2;

}  // namespace

BlockCleaner::BlockCleaner(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
                           ServerStatistics& statistics, BlockControl control)
    : host_(host),
      options_(options),
      geometry_(options.geometry),
      book_(book),
      statistics_(statistics),
      control_(std::move(control)),
      work_(host) {}

void BlockCleaner::run() {
  while (work_.take(look_again_ns_)) {
    look_again_ns_ = fabric::never_ns;
    clean();
  }
}

void BlockCleaner::clean() {
  if (is_collecting_ || has_enough() || !book_.has_room_for_block_collection()) return;
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
std::uint64_t BlockCleaner::due_ns() const {
  if (!measurement_) return 0;
  const std::uint64_t pause_ns = (is_outdated() ? 2 : 10) * measurement_->time.took_ns;
  return measurement_->time.began_ns + std::max(options_.measurement_interval_ns,
                                                std::min(pause_ns, options_.heartbeat_timeout_ns));
}

// Blocks that wait for clients count as free.
bool BlockCleaner::is_short() const { return book_.spare_blocks() < 0; }

bool BlockCleaner::has_enough() const {
  const std::size_t kept = std::max(book_.mature().all().size() / kept_share, fewest_kept_blocks);
  return book_.spare_blocks() >= static_cast<std::int64_t>(kept);
}

bool BlockCleaner::is_measurement_useful(std::uint64_t gain_share) const {
  if (!measurement_) return true;
  const bool decides_request = is_wanted_ && book_.mature().waiting_count() == 0;
  if (!is_outdated() && !decides_request) return false;
  const auto best = find_source(gain_share);
  return !best || 2 * gain_bytes(*best) < measurement_->first_gain_bytes;
}

// Something was copied since the measurement began, and may have become garbage.
bool BlockCleaner::is_outdated() const {
  return measurement_->allocated_bytes != book_.mature().allocated_bytes();
}

void BlockCleaner::measure() {
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
std::optional<std::uint32_t> BlockCleaner::find_best_block() const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t block = 0; measurement_ && block < measurement_->blocks.size(); ++block) {
    const std::uint64_t gain = gain_bytes(block);
    if (gain > 0 && (!best || gain > gain_bytes(*best))) best = block;
  }
  return best;
}

std::optional<std::uint32_t> BlockCleaner::find_source(std::uint64_t gain_share) const {
  const auto best = find_best_block();
  if (!best || gain_bytes(*best) < geometry_.mature_bytes / gain_share) return std::nullopt;
  return best;
}

// 0: it is not full, has changed, or may gain nothing. A hostile client can make containers
// overlap, and then more bytes are live than there are.
std::uint64_t BlockCleaner::gain_bytes(std::uint32_t block) const {
  const LiveSpace& measured = measurement_->blocks[block];
  const MatureSpaceInspection& now = book_.mature()[block];
  if (now.active || now.used_bytes == 0 || now.used_bytes != measured.used_bytes) return 0;
  const std::uint64_t live_bytes = std::min(measured.live_bytes, geometry_.mature_bytes);
  const std::uint64_t gain = geometry_.mature_bytes - live_bytes;
  return gain >= measured.longest_bytes ? gain : 0;
}

void BlockCleaner::on_collected(std::uint32_t block) {
  is_collecting_ = false;
  if (measurement_) measurement_->blocks[block] = {};
  work_.raise();
}

void BlockCleaner::want_room() {
  is_wanted_ = true;
  work_.raise();
}

bool BlockCleaner::has_nothing_to_gain(std::uint64_t wanted_ns) const {
  if (is_collecting_ || book_.mature().waiting_count() > 0 || !measurement_) return false;
  const bool is_recent = measurement_->time.began_ns >= wanted_ns || host_.now_ns() < due_ns();
  return is_recent && !is_outdated() && !find_source(least_gain_share);
}

std::optional<MeasurementTime> BlockCleaner::measured() const {
  return measurement_ ? std::optional(measurement_->time) : std::nullopt;
}

}  // namespace falafel::engine
