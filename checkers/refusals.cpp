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
}

void RefusalChecker::on_table(const TableWatch& table, std::uint64_t time_ns) {
  note_table();
  is_full_ = table.empty_entries() == 0;
  is_live_ = is_full_ && table.deleted_entries() == 0;
  note_table();
  if (table.revived_entries() != revived_entries_) last_revived_ = moment_;
  revived_entries_ = table.revived_entries();
  if (live_.empty() || live_.back().bytes != table.live_mature_bytes()) {
    live_.push_back({time_ns, table.live_mature_bytes()});
  }
}

// The present state of the table has lasted until this moment.
void RefusalChecker::note_table() {
  ++moment_;
  if (is_full_) last_full_ = moment_;
  if (is_live_) last_live_ = moment_;
}

// Denials

// The maximum since that time; without a time, the present value.
std::uint64_t RefusalChecker::live_bytes_since(std::optional<std::uint64_t> time_ns) const {
  std::uint64_t most_bytes = 0;
  for (auto live = live_.rbegin(); live != live_.rend(); ++live) {
    most_bytes = std::max(most_bytes, live->bytes);
    if (!time_ns || live->time_ns < *time_ns) break;
  }
  return most_bytes;
}

std::string RefusalChecker::objection_to_lack_of_room(Need need, const MemoryView& view,
                                                      std::uint64_t live_bytes) const {
  const engine::Geometry& geometry = view.geometry;
  const auto outstanding = static_cast<std::uint64_t>(
      std::ranges::count(view.regions, RegionState::granted, &RegionInspection::state));
  const bool has_reserve =
      rules_.keeps_reserve && geometry.mature_bytes >= 4 * geometry.region_bytes;
  const std::uint64_t kept_regions = has_reserve && need != Need::overwrite ? 1 : 0;
  const std::uint64_t needed_bytes =
      live_bytes + (outstanding + 1 + kept_regions) * geometry.region_bytes;
  if (needed_bytes > geometry.mature_bytes) return {};
  return fmt::format(
      "a region was free, and the mature space of {} bytes had room for one more: {} bytes were "
      "live, and {} regions of {} bytes were granted",
      geometry.mature_bytes, live_bytes, outstanding, geometry.region_bytes);
}

std::string RefusalChecker::objection_to(Need need, const DenialBooks& books,
                                         std::optional<std::uint64_t> measured_ns) const {
  const auto is_any = [&](RegionState state) {
    return std::ranges::find(books.memory.regions, state, &RegionInspection::state) !=
           books.memory.regions.end();
  };
  if (is_any(RegionState::released) || is_any(RegionState::collecting)) {
    return "a region was being collected";
  }
  if (!is_any(RegionState::free)) {
    return is_any(RegionState::waiting) ? "a collected region was waiting for clients" : "";
  }
  if (std::ranges::any_of(books.memory.mature_spaces, &engine::MatureSpaceInspection::waiting)) {
    return "a collected mature space was waiting for clients";
  }
  return objection_to_lack_of_room(need, books.memory, live_bytes_since(measured_ns));
}

void RefusalChecker::on_denied(Need need, const DenialBooks& books, std::uint64_t time_ns,
                               std::uint64_t step) {
  Denial denial{.need = need,
                .moment = ++moment_,
                .step = step,
                .oldest_incarnation = ~std::uint64_t{0},
                .latest_call_ns = ~std::uint64_t{0},
                .objection = objection_to(need, books, books.measured_ns)};
  const bool is_old =
      books.measured_ns && time_ns - *books.measured_ns > rules_.heartbeat_timeout_ns;
  if (is_old && denial.objection.empty() && !objection_to(need, books, std::nullopt).empty()) {
    denial.latest_call_ns = *books.measured_ns;
  }
  for (const RegionInspection& region : books.memory.regions) {
    const bool is_held = region.state == RegionState::granted &&
                         std::ranges::find(books.clients, region.client) != books.clients.end();
    if (is_held) {
      denial.oldest_incarnation = std::min(denial.oldest_incarnation, region.incarnation);
    }
  }
  denials_.push_back(std::move(denial));
}

std::string RefusalChecker::objection_to(const Denial& denial, const Call& call) const {
  if (!denial.objection.empty()) return denial.objection;
  if (rules_.gives_regions_back && denial.oldest_incarnation <= call.last_incarnation) {
    return "a client still held a region that was granted before the call";
  }
  if (denial.latest_call_ns < call.time_ns)
    return "the last measurement of live bytes was older than the heartbeat time-out";
  return {};
}

// Operations

RefusalChecker::Call RefusalChecker::on_call(std::span<const RegionInspection> regions,
                                             std::uint64_t cleanups, std::uint64_t time_ns) {
  note_table();
  Call call{.moment = moment_, .time_ns = time_ns, .cleanups = cleanups};
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
  const bool is_overdue = time_ns - call.time_ns >= rules_.server_timeout_ns;
  if (refusal == Refusal::timed_out) return is_overdue ? "" : "the time-out was not over";
  const std::uint64_t container_bytes =
      engine::container_bytes(operation.key.size(), operation.value.size());
  if (refusal == Refusal::out_of_memory && last_failed_registration_ >= call.moment) return {};
  if (operation.kind != OperationKind::set) return "it stores nothing";
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
