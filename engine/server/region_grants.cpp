#include "engine/server/region_grants.h"

#include <utility>

#include "engine/layout/control_message.h"
#include "engine/probes.h"

namespace falafel::engine {

RegionGrants::RegionGrants(fabric::Host& host, MemoryBook& book, Membership& membership,
                           ServerStatistics& statistics, MatureSpaceControl mature_space)
    : host_(host),
      book_(book),
      membership_(membership),
      statistics_(statistics),
      mature_space_(std::move(mature_space)),
      work_(host) {}

void RegionGrants::add(const RegionRequest& request) {
  requests_.push_back(request);
  work_.raise();
}

void RegionGrants::remove_client(std::uint32_t client) {
  std::erase_if(requests_, [&](const RegionRequest& request) { return request.client == client; });
  work_.raise();
}

void RegionGrants::on_flipped() {
  flip_asked_ = false;
  work_.raise();
}

void RegionGrants::run() {
  while (work_.take()) serve();
}

void RegionGrants::serve() {
  while (!requests_.empty()) {
    const RegionRequest request = requests_.front();
    const Decision decision = decide(request);
    // To decide may take a look at the memory, and the client may be gone when that is over.
    if (requests_.empty() || requests_.front().client != request.client) continue;
    switch (decision) {
      case Decision::wait: return;
      case Decision::flip:
        flip_asked_ = true;
        mature_space_.ask_for_flip();
        return;
      case Decision::grant: grant(request); break;
      case Decision::deny: deny(request); break;
    }
    requests_.pop_front();
  }
}

// A client that still has room does not take the last region from one that has none.
RegionGrants::Decision RegionGrants::decide(const RegionRequest& request) const {
  const std::uint64_t free_regions = book_.count(RegionState::free);
  const std::uint64_t wanted = request.eager && membership_.count() > 1 ? 2 : 1;
  if (free_regions >= wanted && book_.has_room_for_grant(book_.used_bytes())) {
    return Decision::grant;
  }
  if (request.eager) return Decision::deny;
  const bool is_collecting =
      book_.count(RegionState::released) > 0 || book_.count(RegionState::collecting) > 0;
  if (free_regions == 0) {
    const bool will_be_free =
        is_collecting || book_.count(RegionState::waiting) > 0 || membership_.is_retiring();
    return will_be_free ? Decision::wait : Decision::deny;
  }
  // What is being collected counts as full; how much of it lives is known when that is over.
  if (is_collecting || flip_asked_ || book_.is_waiting(book_.other_space())) return Decision::wait;
  return book_.has_room_for_grant(mature_space_.live_bytes()) ? Decision::flip : Decision::deny;
}

void RegionGrants::grant(const RegionRequest& request) {
  const std::uint32_t region = *book_.find(RegionState::free);
  // Where the system does not let the device reach more memory, there is none for this client.
  const auto remote_key = membership_.allow_region(request.client, region);
  if (!remote_key) return deny(request);
  const std::uint64_t incarnation = book_.grant(region, request.client);
  ++statistics_.regions_granted;
  membership_.send(request.client, {.kind = MessageKind::grant_region,
                                    .region = region,
                                    .incarnation = incarnation,
                                    .remote_key = *remote_key});
}

void RegionGrants::deny(const RegionRequest& request) {
  ++statistics_.regions_denied;
  host_.count(probes::region_denied);
  membership_.send(request.client, {.kind = MessageKind::deny_region});
}

}  // namespace falafel::engine
