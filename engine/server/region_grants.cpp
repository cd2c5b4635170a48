#include "engine/server/region_grants.h"

#include <algorithm>
#include <utility>

#include "engine/probes.h"

namespace falafel::engine {

RegionGrants::RegionGrants(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
                           Membership& membership, ServerStatistics& statistics,
                           MatureSpaceControl mature_space, BlockCleaner* cleaner)
    : host_(host),
      options_(options),
      book_(book),
      membership_(membership),
      statistics_(statistics),
      mature_space_(std::move(mature_space)),
      cleaner_(cleaner),
      work_(host) {}

void RegionGrants::add(const RegionRequest& request) {
  if (request.need > RegionNeed::overwrite) {
    return membership_.expel(request.client, Breach::malformed_message);
  }
  requests_.push_back(request);
  work_.raise();
}

void RegionGrants::remove_client(std::uint32_t client) {
  std::erase_if(requests_, [&](const RegionRequest& request) { return request.client == client; });
  asked_back_.erase(client);
  work_.raise();
}

void RegionGrants::on_released(std::uint32_t client) {
  const auto asked = asked_back_.find(client);
  if (asked == asked_back_.end() || book_.holds(client, asked->second)) return;
  membership_.answered(client, Question::regions);
  asked_back_.erase(asked);
}

void RegionGrants::on_flipped() {
  flip_asked_ = false;
  measurement_.reset();
  work_.raise();
}

void RegionGrants::run() {
  while (work_.take(look_again_ns_)) {
    look_again_ns_ = fabric::never_ns;
    serve();
  }
}

void RegionGrants::serve() {
  while (!requests_.empty()) {
    const RegionRequest request = requests_.front();
    const Decision decision = decide(request);
    // The decision may wait while it examines the memory, and the client may leave in the meantime.
    if (requests_.empty() || requests_.front().client != request.client) continue;
    switch (decision) {
      case Decision::wait: return;
      case Decision::again: continue;
      case Decision::flip:
        flip_asked_ = true;
        mature_space_.ask_for_flip();
        return;
      case Decision::ask_for_regions:
        if (ask_for_regions(requests_.front())) return;
        deny(request);
        break;
      case Decision::grant: grant(request); break;
      case Decision::deny: deny(request); break;
    }
    requests_.pop_front();
  }
}

// A client that still has room must not take the last region from a client without room.
RegionGrants::Decision RegionGrants::decide(const RegionRequest& request) {
  const bool is_ahead = request.need == RegionNeed::ahead;
  const std::uint64_t free_regions = book_.count(RegionState::free);
  const std::uint64_t wanted = is_ahead && membership_.count() > 1 ? 2 : 1;
  if (free_regions >= wanted && book_.has_room_for_grant(request.need == RegionNeed::overwrite)) {
    return Decision::grant;
  }
  if (is_ahead) return Decision::deny;
  if (free_regions == 0) {
    const bool will_be_free =
        is_collecting() || book_.count(RegionState::waiting) > 0 || membership_.is_retiring();
    return will_be_free ? Decision::wait : Decision::ask_for_regions;
  }
  // Memory that is being collected counts as full; the amount of live data in it is known after the
  // collection.
  if (is_collecting()) return Decision::wait;
  if (cleaner_ != nullptr) return decide_by_cleaner(requests_.front());
  if (flip_asked_ || book_.mature().waiting_count() > 0) return Decision::wait;
  return decide_by_measurement(request);
}

RegionGrants::Decision RegionGrants::decide_by_cleaner(RegionRequest& request) {
  if (!request.wanted_ns) request.wanted_ns = host_.now_ns();
  if (!cleaner_->has_nothing_to_gain(*request.wanted_ns)) {
    cleaner_->want_room();
    return Decision::wait;
  }
  const std::uint64_t copied_bytes = book_.mature().allocated_bytes();
  const bool has_nothing_to_evict =
      !mature_space_.evict || request.nothing_to_evict_at_bytes == copied_bytes;
  if (has_nothing_to_evict) return Decision::ask_for_regions;
  const std::uint32_t client = request.client;
  const bool has_evicted = mature_space_.evict();
  cleaner_->forget_measurement();
  if (!has_evicted && !requests_.empty() && requests_.front().client == client) {
    requests_.front().nothing_to_evict_at_bytes = copied_bytes;
  }
  return Decision::again;
}

std::uint64_t RegionGrants::used_bytes() const {
  return book_.mature()[book_.mature().active()].used_bytes;
}

std::optional<MeasurementTime> RegionGrants::measured() const {
  if (cleaner_ != nullptr) return cleaner_->measured();
  return measurement_ ? std::optional(measurement_->time) : std::nullopt;
}

bool RegionGrants::is_collecting() const {
  return book_.count(RegionState::released) > 0 || book_.count(RegionState::collecting) > 0;
}

// There is a free region, but the active semi-space has no room for what may be written to it.
RegionGrants::Decision RegionGrants::decide_by_measurement(const RegionRequest& request) {
  const auto has_room_after_flip = [&] {
    return measurement_ && book_.would_have_room_without(measurement_->garbage_bytes,
                                                         request.need == RegionNeed::overwrite);
  };
  if (has_room_after_flip()) return Decision::flip;
  if (!measurement_ || host_.now_ns() >= measurement_->due_ns) {
    measure();
    if (is_collecting()) return Decision::wait;
    if (has_room_after_flip()) return Decision::flip;
  }
  // The amount of live data in memory collected since is unknown until the next measurement.
  if (used_bytes() != measurement_->used_bytes) {
    look_again_ns_ = measurement_->due_ns;
    return Decision::wait;
  }
  if (!mature_space_.evict) return Decision::ask_for_regions;
  if (mature_space_.evict()) {
    measurement_.reset();
    return Decision::again;
  }
  // Others may have made room in the meantime.
  measure();
  if (is_collecting()) return Decision::wait;
  if (used_bytes() != measurement_->used_bytes) return Decision::again;
  return has_room_after_flip() ? Decision::flip : Decision::ask_for_regions;
}

void RegionGrants::measure() {
  constexpr std::uint64_t share = 10;
  ++statistics_.mature_measurements;
  const std::uint64_t began_ns = host_.now_ns();
  const std::uint64_t used = used_bytes();
  const std::uint64_t live = std::min(mature_space_.live_bytes(), used);
  // The server may have been stalled during the measurement. The stall must not delay the next
  // measurement.
  const std::uint64_t took_ns = host_.now_ns() - began_ns;
  const std::uint64_t pause_ns = std::min(share * took_ns, options_.heartbeat_timeout_ns);
  measurement_ =
      Measurement{.garbage_bytes = used - live,
                  .used_bytes = used,
                  .time = {.began_ns = began_ns, .took_ns = took_ns},
                  .due_ns = began_ns + std::max(options_.measurement_interval_ns, pause_ns)};
}

// Returns false if every client with regions has already been asked on behalf of this request.
bool RegionGrants::ask_for_regions(RegionRequest& request) {
  if (!options_.asks_for_regions_back) return false;
  if (!request.asked_back_up_to) request.asked_back_up_to = book_.last_incarnation();
  bool is_held = false;
  for (const RegionInspection& region : book_.regions()) {
    if (region.state != RegionState::granted || region.incarnation > *request.asked_back_up_to) {
      continue;
    }
    if (!membership_.is_connected(region.client)) {
      is_held = is_held || membership_.is_retiring();
      continue;
    }
    is_held = true;
    // Only one request per client is pending; its deadline is that of the first.
    if (!asked_back_.emplace(region.client, *request.asked_back_up_to).second) continue;
    ++statistics_.regions_asked_back;
    host_.count(probes::regions_asked_back);
    membership_.ask(
        region.client, Question::regions,
        {.kind = MessageKind::return_regions, .incarnation = *request.asked_back_up_to});
  }
  return is_held;
}

void RegionGrants::grant(const RegionRequest& request) {
  const std::uint32_t region = *book_.find(RegionState::free);
  // If the operating system refuses to register more memory with the device, this client gets no
  // region.
  const auto remote_key = membership_.allow_region(request.client, region);
  if (!remote_key) return deny(request);
  const std::uint64_t incarnation = book_.grant(region, request.client);
  ++statistics_.regions_granted;
  if (request.need == RegionNeed::overwrite) host_.count(probes::region_granted_for_overwrite);
  membership_.send(request.client, {.kind = MessageKind::grant_region,
                                    .region = region,
                                    .incarnation = incarnation,
                                    .remote_key = *remote_key});
}

void RegionGrants::deny(const RegionRequest& request) {
  ++statistics_.regions_denied;
  ++denied_[static_cast<std::size_t>(request.need)];
  host_.count(probes::region_denied);
  membership_.send(request.client, {.kind = MessageKind::deny_region});
}

}  // namespace falafel::engine
