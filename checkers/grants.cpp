#include "checkers/grants.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace falafel::checkers {
namespace {

using engine::RegionInspection;
using engine::RegionState;

// The reserve is this part of the semi-space, and a semi-space of fewer regions has none.
constexpr std::uint64_t reserve_divisor = 32;
constexpr std::uint64_t fewest_regions_with_reserve = 4;

std::uint64_t count(const MemoryView& view, std::initializer_list<RegionState> states) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(view.regions, [&](const RegionInspection& region) {
        return std::ranges::find(states, region.state) != states.end();
      }));
}

std::uint64_t used_bytes_of_active_space(const MemoryView& view) {
  const auto active =
      std::ranges::find(view.mature_spaces, true, &engine::MatureSpaceInspection::active);
  return active == view.mature_spaces.end() ? 0 : active->used_bytes;
}

std::uint64_t newest_incarnation(const MemoryView& view) {
  return std::ranges::max(view.regions, {}, &RegionInspection::incarnation).incarnation;
}

}  // namespace

void Grants::on_requested(std::uint32_t client, const Request& request) {
  clients_[client].request = request;
}

void Grants::on_granted(const MemoryView& view, std::uint64_t step) {
  const engine::Geometry& geometry = view.geometry;
  const std::uint64_t fitting = geometry.mature_bytes / geometry.region_bytes;
  if (!keeps_reserve_ || geometry.has_blocks() || fitting < fewest_regions_with_reserve) return;
  const std::uint64_t outstanding =
      count(view, {RegionState::granted, RegionState::released, RegionState::collecting});
  const std::uint64_t reserve = std::max<std::uint64_t>(1, fitting / reserve_divisor);
  const std::uint64_t used_bytes = used_bytes_of_active_space(view);
  if (used_bytes + (outstanding + reserve) * geometry.region_bytes <= geometry.mature_bytes) return;
  of_reserve_[newest_incarnation(view)] = {
      .shortage = fmt::format("{} of {} bytes are in use, {} regions of {} bytes are outstanding, "
                              "and the reserve has {}",
                              used_bytes, geometry.mature_bytes, outstanding, geometry.region_bytes,
                              reserve),
      .step = step};
}

void Grants::on_denied(std::uint32_t client, std::uint64_t measured_ns, std::uint64_t step) {
  const std::optional<std::uint64_t> freed_ns = clients_[client].request.freed_ns;
  if (!freed_ns || measured_ns >= *freed_ns) return;
  fail("grant.stale-denial",
       fmt::format("step {}: the server denied the client with queue pair {} a region after a "
                   "measurement that began at {} ns, but a DELETE that the client began at {} ns "
                   "had returned before the client called the SET",
                   step, client, measured_ns, *freed_ns),
       step);
}

void Grants::on_decided_to_ask(const MemoryView& view, bool is_client_leaving, std::uint64_t step) {
  if (count(view, {RegionState::free}) > 0) return;
  const std::uint64_t coming =
      count(view, {RegionState::released, RegionState::collecting, RegionState::waiting});
  if (coming == 0 && !is_client_leaving) return;
  fail("grant.asked-early",
       fmt::format("step {}: the server asked a client to return its regions, although {}", step,
                   coming > 0 ? fmt::format("{} regions were about to become free", coming)
                              : "a client was leaving"),
       step);
}

void Grants::on_region(std::uint32_t client, std::uint64_t incarnation) {
  clients_[client].regions.insert(incarnation);
  const auto found = of_reserve_.find(incarnation);
  if (found == of_reserve_.end() || clients_[client].request.is_for_overwrite) return;
  const auto& [shortage, step] = found->second;
  fail("grant.of-reserve",
       fmt::format("step {}: the server granted the client with queue pair {} a region for any "
                   "key, although this left less than the reserve: {}",
                   step, client, shortage),
       step);
}

void Grants::on_question(std::uint32_t client, std::uint64_t up_to_incarnation) {
  std::optional<std::uint64_t>& wanted = clients_[client].wanted_up_to;
  wanted = std::max(wanted.value_or(0), up_to_incarnation);
}

void Grants::on_released(std::uint32_t client, std::uint64_t incarnation) {
  clients_[client].regions.erase(incarnation);
}

void Grants::on_message(std::uint32_t number, std::uint64_t messages, std::uint64_t step) {
  const Client& client = clients_[number];
  if (messages < messages_until_return || !client.wanted_up_to || client.regions.empty()) return;
  const std::uint64_t oldest = *client.regions.begin();
  if (oldest > *client.wanted_up_to) return;
  fail("grant.region-kept",
       fmt::format("step {}: the client with queue pair {} keeps the region of grant {}, although "
                   "the server has asked for all up to grant {}, and the client has sent {} "
                   "messages since it had no operation left",
                   step, number, oldest, *client.wanted_up_to, messages),
       step);
}

void Grants::fail(std::string property, std::string explanation, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = std::move(property),
                .explanation = std::move(explanation),
                .step = step};
}

}  // namespace falafel::checkers
