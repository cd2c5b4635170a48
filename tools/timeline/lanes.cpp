#include "tools/timeline/lanes.h"

#include <utility>

namespace falafel::timeline {

Lanes::Lanes(std::vector<std::string> clients)
    : names_(std::move(clients)), clients_(static_cast<std::uint32_t>(names_.size())) {}

// Accepts "server" or a name such as "client 3".
std::uint32_t Lanes::of_host_name(std::string_view name) const {
  for (std::uint32_t client = 0; client < clients_; ++client) {
    if (name == names_[client]) return client;
  }
  return server();
}

void Lanes::introduce(const sim::Subject& subject) {
  std::uint32_t lane = of_host_name(subject.host);
  if (subject.kind == sim::SubjectKind::queue_pair) {
    queue_pairs_[subject.number] = lane;
    return;
  }
  if (!is_client(lane)) {
    if (subject.name == "collector") lane = collector();
    if (subject.name == "cleanup") lane = cleanup();
    const bool is_membership =
        subject.name == "accept" || subject.name == "messages" || subject.name == "membership";
    if (is_membership) lane = membership();
  }
  fibers_[subject.number] = lane;
}

std::uint32_t Lanes::of_fiber(std::uint32_t fiber) const {
  const auto found = fibers_.find(fiber);
  return found == fibers_.end() ? server() : found->second;
}

std::uint32_t Lanes::of_queue_pair(std::uint32_t queue_pair) const {
  const auto found = queue_pairs_.find(queue_pair);
  return found == queue_pairs_.end() ? server() : found->second;
}

std::vector<Lane> Lanes::to_lanes() const {
  std::vector<Lane> lanes;
  for (const std::string& name : names_) {
    lanes.push_back({.kind = LaneKind::client, .name = name});
  }
  lanes.push_back({.kind = LaneKind::device, .name = "device"});
  lanes.push_back({.kind = LaneKind::collector, .name = "collector"});
  lanes.push_back({.kind = LaneKind::cleanup, .name = "cleaner"});
  lanes.push_back({.kind = LaneKind::membership, .name = "membership"});
  lanes.push_back({.kind = LaneKind::server, .name = "server"});
  return lanes;
}

}  // namespace falafel::timeline
