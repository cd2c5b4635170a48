#include "checkers/refusals.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layout/container.h"

namespace falafel::checkers {

using engine::RegionInspection;
using engine::RegionState;

std::string_view to_string(Refusal refusal) {
  switch (refusal) {
    case Refusal::value_too_large: return "value-too-large";
    case Refusal::table_full: return "table-full";
    case Refusal::out_of_memory: return "out-of-memory";
    case Refusal::timed_out: return "timed-out";
  }
  return "?";
}

// The table

void RefusalChecker::on_restart() {
  note_table();
  is_full_ = false;
  is_live_ = false;
  live_.clear();
  evictable_values_ = 0;
}

void RefusalChecker::on_table(const TableWatch& table, const engine::Geometry& geometry,
                              std::uint64_t time_ns) {
  note_table();
  is_full_ = table.empty_entries() == 0 && table.last_table() + 1 == geometry.most_tables;
  is_live_ = is_full_ && table.deleted_entries() == 0;
  note_table();
  if (table.revived_entries() != revived_entries_) last_revived_ = moment_;
  revived_entries_ = table.revived_entries();
  evictable_values_ = table.evictable_values();
  Live live{.time_ns = time_ns, .bytes = table.live_mature_bytes()};
  if (geometry.has_blocks()) live.blocks = table.live_mature_spaces(geometry);
  const bool is_same =
      !live_.empty() && live_.back().bytes == live.bytes && live_.back().blocks == live.blocks;
  if (!is_same) live_.push_back(std::move(live));
}

// The present state of the table has lasted until this moment.
void RefusalChecker::note_table() {
  ++moment_;
  if (is_full_) last_full_ = moment_;
  if (is_live_) last_live_ = moment_;
}

// Denials

static bool is_collected(RegionState state) {
  return state == RegionState::released || state == RegionState::collecting;
}

// The maxima since that time; without a time, the present values.
RefusalChecker::Live RefusalChecker::live_since(std::optional<std::uint64_t> time_ns) const {
  Live most;
  for (auto live = live_.rbegin(); live != live_.rend(); ++live) {
    most.bytes = std::max(most.bytes, live->bytes);
    most.blocks.resize(live->blocks.size());
    for (std::size_t block = 0; block < live->blocks.size(); ++block) {
      TableWatch::LiveSpace& most_of_block = most.blocks[block];
      most_of_block.bytes = std::max(most_of_block.bytes, live->blocks[block].bytes);
      most_of_block.longest_bytes =
          std::max(most_of_block.longest_bytes, live->blocks[block].longest_bytes);
    }
    if (!time_ns || live->time_ns < *time_ns) break;
  }
  return most;
}

static constexpr std::uint64_t reserve_share = 32;

// The regions whose content may still have to be copied.
static std::uint64_t promised_regions(const MemoryView& view) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(view.regions, [](const RegionInspection& region) {
        return region.state == RegionState::granted || is_collected(region.state);
      }));
}

std::string RefusalChecker::objection_to_lack_of_room(Need need, const MemoryView& view,
                                                      std::uint64_t live_bytes) const {
  const engine::Geometry& geometry = view.geometry;
  const std::uint64_t outstanding = promised_regions(view);
  const std::uint64_t fitting = geometry.mature_bytes / geometry.region_bytes;
  const bool has_reserve = rules_.keeps_reserve && fitting >= 4 && need != Need::overwrite;
  const std::uint64_t kept_regions =
      has_reserve ? std::max<std::uint64_t>(1, fitting / reserve_share) : 0;
  const std::uint64_t needed_bytes =
      live_bytes + (outstanding + 1 + kept_regions) * geometry.region_bytes;
  if (needed_bytes > geometry.mature_bytes) return {};
  return fmt::format(
      "a region was free, and the mature space of {} bytes had room for one more: {} bytes were "
      "live, and {} regions of {} bytes were granted",
      geometry.mature_bytes, live_bytes, outstanding, geometry.region_bytes);
}

// The bytes that a collection of the block makes usable. What was copied since the measurement
// counts as live.
static std::uint64_t gain_bytes(const MemoryView& view,
                                const std::vector<TableWatch::LiveSpace>& live, std::size_t block) {
  const engine::MatureSpaceInspection& space = view.mature_spaces[block];
  if (space.active || space.used_bytes == 0) return 0;
  const TableWatch::LiveSpace of_block = live.empty() ? TableWatch::LiveSpace{} : live[block];
  const auto without = [](std::uint64_t bytes, std::uint64_t kept_bytes) {
    return bytes - std::min(bytes, kept_bytes);
  };
  const std::uint64_t dead_bytes =
      without(space.used_bytes, of_block.bytes + space.unmeasured_bytes);
  if (space.unmeasured_bytes > 0) return dead_bytes;
  return std::max(dead_bytes,
                  without(view.geometry.mature_bytes, of_block.bytes + of_block.longest_bytes));
}

// The server needs a free block for each region, for the one asked for, and for the collection of a
// block. For any key, as much memory as the reserve must be usable besides: free, or gained by
// collections.
std::string RefusalChecker::objection_to_lack_of_blocks(Need need, const MemoryView& view,
                                                        const Live& live) const {
  constexpr std::uint64_t least_gain_share = 64;
  const engine::Geometry& geometry = view.geometry;
  const std::uint64_t blocks = geometry.mature_space_count;
  const bool has_reserve = rules_.keeps_reserve && blocks >= engine::fewest_blocks + 2;
  const std::uint64_t reserve = has_reserve ? (blocks + reserve_share - 1) / reserve_share + 1 : 0;
  const std::uint64_t regions = promised_regions(view) + 1;
  const auto count_empty = [&](bool waiting) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(view.mature_spaces, [&](const engine::MatureSpaceInspection& space) {
          return !space.active && space.used_bytes == 0 && space.waiting == waiting;
        }));
  };
  const std::uint64_t free_blocks = count_empty(false);
  const std::uint64_t waiting_blocks = count_empty(true);
  std::uint64_t usable_bytes = (free_blocks + waiting_blocks) * geometry.mature_bytes;
  std::optional<std::size_t> source;
  for (std::size_t block = 0; block < view.mature_spaces.size(); ++block) {
    const std::uint64_t gain = gain_bytes(view, live.blocks, block);
    usable_bytes += gain;
    if (!source && gain * least_gain_share >= geometry.mature_bytes) source = block;
  }
  const bool needs_reserve = has_reserve && need != Need::overwrite;
  if (needs_reserve && usable_bytes < (regions + 1 + reserve) * geometry.mature_bytes) return {};
  if (waiting_blocks > 0) return "a collected mature space was waiting for clients";
  if (source) return fmt::format("a region was free, and block {} was worth a collection", *source);
  if (free_blocks < regions + 1) return {};
  return fmt::format(
      "a region was free, and so were {} blocks: {} bytes of {} blocks of {} bytes were live, and "
      "{} regions were granted",
      free_blocks, live.bytes, blocks, geometry.mature_bytes, regions - 1);
}

std::string RefusalChecker::objection_to(Need need, const DenialBooks& books,
                                         std::optional<std::uint64_t> measured_ns) const {
  const auto is_any = [&](RegionState state) {
    return std::ranges::find(books.memory.regions, state, &RegionInspection::state) !=
           books.memory.regions.end();
  };
  if (!is_any(RegionState::free)) {
    if (is_any(RegionState::released) || is_any(RegionState::collecting)) {
      return "a region was being collected";
    }
    return is_any(RegionState::waiting) ? "a collected region was waiting for clients" : "";
  }
  const bool has_blocks = books.memory.geometry.has_blocks();
  if (!has_blocks &&
      std::ranges::any_of(books.memory.mature_spaces, &engine::MatureSpaceInspection::waiting)) {
    return "a collected mature space was waiting for clients";
  }
  if (rules_.evicts && evictable_values_ > 0) {
    return fmt::format("{} values of the mature space could have been evicted", evictable_values_);
  }
  const Live live = live_since(measured_ns);
  if (has_blocks) return objection_to_lack_of_blocks(need, books.memory, live);
  return objection_to_lack_of_room(need, books.memory, live.bytes);
}

// The server may use the last measurement for this time, because measurements take at most a tenth
// of its time.
bool RefusalChecker::is_outdated(const std::optional<engine::MeasurementTime>& measured,
                                 std::uint64_t time_ns) const {
  constexpr std::uint64_t share = 10;
  return measured && time_ns - measured->began_ns >
                         std::min(share * measured->took_ns, rules_.heartbeat_timeout_ns);
}

void RefusalChecker::on_denied(Need need, const DenialBooks& books, std::uint64_t time_ns,
                               std::uint64_t step) {
  const auto measured_ns = books.measured ? std::optional(books.measured->began_ns) : std::nullopt;
  Denial denial{.need = need,
                .moment = ++moment_,
                .step = step,
                .oldest_incarnation = ~std::uint64_t{0},
                .oldest_collected = ~std::uint64_t{0},
                .latest_call_ns = ~std::uint64_t{0},
                .objection = objection_to(need, books, measured_ns)};
  if (is_outdated(books.measured, time_ns) && denial.objection.empty() &&
      !objection_to(need, books, std::nullopt).empty()) {
    denial.latest_call_ns = *measured_ns;
  }
  for (const RegionInspection& region : books.memory.regions) {
    const bool is_held = region.state == RegionState::granted &&
                         std::ranges::find(books.clients, region.client) != books.clients.end();
    if (is_collected(region.state)) {
      denial.oldest_collected = std::min(denial.oldest_collected, region.incarnation);
    }
    if (is_held) {
      denial.oldest_incarnation = std::min(denial.oldest_incarnation, region.incarnation);
    }
  }
  denials_.push_back(std::move(denial));
}

std::string RefusalChecker::objection_to(const Denial& denial, const Call& call) const {
  if (!denial.objection.empty()) return denial.objection;
  if (denial.oldest_collected <= call.last_incarnation) return "a region was being collected";
  if (rules_.gives_regions_back && denial.oldest_incarnation <= call.last_incarnation) {
    return "a client still held a region that was granted before the call";
  }
  if (denial.latest_call_ns < call.time_ns) return "the last measurement of live bytes was too old";
  return {};
}

// Operations

RefusalChecker::Call RefusalChecker::on_call(std::span<const RegionInspection> regions,
                                             std::uint64_t cleanups, std::uint64_t time_ns) {
  note_table();
  Call call{.moment = moment_, .time_ns = time_ns, .walk_ns = time_ns, .cleanups = cleanups};
  for (const RegionInspection& region : regions) {
    call.last_incarnation = std::max(call.last_incarnation, region.incarnation);
  }
  return call;
}

std::string RefusalChecker::objection_to_full_table(const Call& call,
                                                    std::uint64_t cleanups) const {
  if (last_full_ < call.moment) return "at every moment during it some entry was empty";
  if (last_live_ >= call.moment || last_revived_ >= call.moment) return {};
  if (cleanups != call.cleanups) return {};
  return "at every moment during it some entry was empty or deleted, and no cleanup began";
}

// If every denial is wrong, the objection to the last one is reported.
std::string RefusalChecker::objection_to_lack_of_memory(const Call& call, Need need) const {
  std::string objection =
      need == Need::overwrite
          ? "the server denied nobody a region of the reserve during it, and the key had "
            "a container of that length all the time"
          : "the server denied nobody a region during it";
  for (const Denial& denial : denials_) {
    if (denial.moment < call.moment || denial.need != need) continue;
    objection = objection_to(denial, call);
    if (objection.empty()) return {};
    objection =
        fmt::format("when the server denied a region in step {}, {}", denial.step, objection);
  }
  return objection;
}

std::string RefusalChecker::objection_to(const Call& call, const Operation& operation,
                                         Refusal refusal, Need need, std::uint64_t cleanups,
                                         std::uint64_t time_ns) const {
  const std::uint64_t lasted_ns = time_ns - call.time_ns;
  const bool is_overdue = lasted_ns >= rules_.server_timeout_ns;
  const bool may_have_walked =
      rules_.longest_walk_ns && time_ns - call.walk_ns >= *rules_.longest_walk_ns;
  if (refusal == Refusal::timed_out) {
    return is_overdue || may_have_walked ? "" : "neither the time-out nor that of a walk was over";
  }
  const std::uint64_t container_bytes = engine::container_bytes(
      operation.key.size(), rules_.value_prefix_bytes + operation.value.size());
  if (refusal == Refusal::out_of_memory && last_failed_registration_ >= call.moment) return {};
  if (!stores_value(operation.kind)) return "it stores nothing";
  switch (refusal) {
    case Refusal::table_full: return objection_to_full_table(call, cleanups);
    case Refusal::out_of_memory:
      return objection_to_lack_of_memory(call, is_overdue ? Need::any_key : need);
    case Refusal::value_too_large:
    case Refusal::timed_out: break;
  }
  if (container_bytes > rules_.longest_container_bytes) return {};
  return fmt::format("its container of {} bytes is not longer than {} bytes", container_bytes,
                     rules_.longest_container_bytes);
}

void RefusalChecker::on_refused(const Call& call, const Operation& operation, Refusal refusal,
                                Need need, std::uint64_t cleanups, std::uint64_t time_ns,
                                std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  note_table();
  const std::string objection = objection_to(call, operation, refusal, need, cleanups, time_ns);
  if (objection.empty()) return;
  judgement_ = {
      .verdict = Verdict::violated,
      .property = fmt::format("refusal.{}", to_string(refusal)),
      .explanation = fmt::format("step {}: the {} of {} by client {} was refused ({}), but {}",
                                 step, to_string(operation.kind), quote(operation.key),
                                 operation.client, to_string(refusal), objection),
      .calls = {operation.call_time},
      .step = step};
}

}  // namespace falafel::checkers
