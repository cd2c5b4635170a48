#include "engine/server/region_grants.h"

#include <algorithm>

#include "engine/probes.h"

namespace falafel::engine {

RegionGrants::RegionGrants(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
                           HeldMemory& held, Membership& membership, ServerStatistics& statistics,
                           MatureSpace& mature)
    : host_(host),
      options_(options),
      book_(book),
      held_(held),
      membership_(membership),
      statistics_(statistics),
      mature_(mature),
      work_(host),
      quota_(options.client_bytes_per_second, options.geometry.region_bytes) {}

void RegionGrants::add(const RegionRequest& request) {
  if (request.need > RegionNeed::overwrite) {
    return membership_.expel(request.client, Breach::malformed_message);
  }
  if (quota_.due_ns(request.client) > host_.now_ns()) return postpone(request);
  enqueue(request);
  work_.raise();
}

// A client that asks ahead still has room, and asks again.
void RegionGrants::postpone(const RegionRequest& request) {
  ++statistics_.regions_postponed;
  if (request.need == RegionNeed::ahead) {
    return membership_.send(request.client, {.kind = MessageKind::deny_region});
  }
  postponed_.push_back(request);
  work_.raise();
}

std::uint64_t RegionGrants::enqueue_postponed() {
  std::uint64_t next_due_ns = fabric::never_ns;
  std::erase_if(postponed_, [&](const RegionRequest& request) {
    const std::uint64_t due_ns = quota_.due_ns(request.client);
    const bool is_due = due_ns <= host_.now_ns();
    if (is_due) {
      enqueue(request);
    } else {
      next_due_ns = std::min(next_due_ns, due_ns);
    }
    return is_due;
  });
  return next_due_ns;
}

void RegionGrants::enqueue(const RegionRequest& request) {
  const bool overwrites = request.need == RegionNeed::overwrite;
  RegionRequest& added = (overwrites ? overwrites_ : requests_).emplace_back(request);
  added.room.overwrites = overwrites;
}

void RegionGrants::remove_client(std::uint32_t client) {
  for (Requests* requests : {&overwrites_, &requests_, &postponed_}) {
    std::erase_if(*requests,
                  [&](const RegionRequest& request) { return request.client == client; });
  }
  asked_back_.erase(client);
  quota_.remove_client(client);
  work_.raise();
}

void RegionGrants::on_released(std::uint32_t client) {
  const auto asked = asked_back_.find(client);
  if (asked == asked_back_.end() || book_.holds(client, asked->second)) return;
  membership_.answered(client, Question::regions);
  asked_back_.erase(asked);
}

void RegionGrants::run() {
  while (work_.take(look_again_ns_)) {
    look_again_ns_ = enqueue_postponed();
    serve(overwrites_);
    serve(requests_);
  }
}

// A client that still has room does not wait.
void RegionGrants::serve(Requests& requests) {
  while (!requests.empty() && serve_first(requests)) {
  }
  std::erase_if(requests, [&](const RegionRequest& request) {
    if (request.need != RegionNeed::ahead) return false;
    deny(request);
    return true;
  });
}

bool RegionGrants::serve_first(Requests& requests) {
  RegionRequest& request = requests.front();
  if (!request.turn_at_incarnation) request.turn_at_incarnation = book_.last_incarnation();
  const Outlook outlook = mature_.room_for(request.room);
  const Decision decision = decide(request, outlook);
  const bool lacks_room = decision == Decision::wait_for_room || decision == Decision::make_room ||
                          decision == Decision::ask_for_room;
  if (lacks_room && !request.room.wanted_ns) request.room.wanted_ns = host_.now_ns();
  if (decision != Decision::make_room) request.room.measurement.reset();
  switch (decision) {
    case Decision::wait: return false;
    case Decision::wait_for_room:
      look_again_ns_ = std::min(look_again_ns_, outlook.look_again_ns);
      mature_.on_waiting(request.room);
      return false;
    case Decision::make_room: make_room(requests); return true;
    case Decision::ask_for_regions:
    case Decision::ask_for_room:
      if (ask_for_regions(request)) return false;
      deny(request);
      break;
    case Decision::grant: grant(request); break;
    case Decision::deny: deny(request); break;
  }
  requests.pop_front();
  return true;
}

// A client that still has room must not take the last region from a client without room.
RegionGrants::Decision RegionGrants::decide(const RegionRequest& request,
                                            const Outlook& outlook) const {
  const bool is_ahead = request.need == RegionNeed::ahead;
  const std::uint64_t free_regions = book_.count(RegionState::free);
  const std::uint64_t wanted = is_ahead && membership_.count() > 1 ? 2 : 1;
  if (free_regions >= wanted && outlook.room == Room::free) return Decision::grant;
  if (is_ahead) return Decision::deny;
  if (free_regions == 0) {
    const bool will_be_free = is_collecting(book_.last_incarnation()) ||
                              book_.count(RegionState::waiting) > 0 || membership_.is_retiring();
    return will_be_free ? Decision::wait : Decision::ask_for_regions;
  }
  // Memory that is being collected counts as full; the amount of live data in it is known after the
  // collection. While others overwrite, there is always some, so later regions do not matter.
  if (is_collecting(*request.turn_at_incarnation)) return Decision::wait;
  switch (outlook.room) {
    case Room::free: return Decision::grant;
    case Room::comes: return Decision::wait_for_room;
    case Room::can_be_made: return Decision::make_room;
    case Room::none: break;
  }
  return Decision::ask_for_room;
}

// The client may leave in the meantime.
void RegionGrants::make_room(Requests& requests) {
  const std::uint32_t client = requests.front().client;
  RoomRequest room = requests.front().room;
  mature_.make_room(room);
  if (!requests.empty() && requests.front().client == client) requests.front().room = room;
}

bool RegionGrants::is_collecting(std::uint64_t up_to_incarnation) const {
  return std::ranges::any_of(book_.regions(), [&](const RegionInspection& region) {
    return (region.state == RegionState::released || region.state == RegionState::collecting) &&
           region.incarnation <= up_to_incarnation;
  });
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
  // If the operating system has no more memory, or refuses to register more with the device, this
  // client gets no region.
  if (!held_.hold_region(region)) return deny(request);
  const auto remote_key = membership_.allow_region(request.client, region);
  if (!remote_key) return deny(request);
  const std::uint64_t incarnation = book_.grant(region, request.client);
  ++statistics_.regions_granted;
  quota_.note_grant(request.client, host_.now_ns());
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
