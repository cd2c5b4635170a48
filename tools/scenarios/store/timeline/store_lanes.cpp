#include "tools/scenarios/store/timeline/store_lanes.h"

#include <utility>

namespace falafel::store_scenario {

StoreLanes::StoreLanes(std::vector<std::string> clients)
    : names_(std::move(clients)), clients_(static_cast<std::uint32_t>(names_.size())) {}

// Accepts the name of a client; everything else is the server.
std::uint32_t StoreLanes::of_host_name(std::string_view name) const {
  for (std::uint32_t client = 0; client < clients_; ++client) {
    if (name == names_[client]) return client;
  }
  return server();
}

void StoreLanes::introduce(const sim::Subject& subject) {
  std::uint32_t lane = of_host_name(subject.host);
  if (subject.kind == sim::SubjectKind::queue_pair) queue_pairs_[subject.number] = lane;
  if (subject.kind != sim::SubjectKind::fiber) return;
  if (!is_client(lane)) {
    if (subject.name == "collector") lane = collector();
    if (subject.name == "cleanup") lane = cleanup();
    const bool is_membership =
        subject.name == "accept" || subject.name == "messages" || subject.name == "membership";
    if (is_membership) lane = membership();
  }
  fibers_[subject.number] = lane;
}

std::uint32_t StoreLanes::of_fiber(std::uint32_t fiber) const {
  const auto found = fibers_.find(fiber);
  return found == fibers_.end() ? server() : found->second;
}

std::uint32_t StoreLanes::of_queue_pair(std::uint32_t queue_pair) const {
  const auto found = queue_pairs_.find(queue_pair);
  return found == queue_pairs_.end() ? server() : found->second;
}

std::uint32_t StoreLanes::of_request(std::uint32_t queue_pair, std::uint32_t fiber,
                                     fabric::Opcode opcode) const {
  const std::uint32_t lane = of_queue_pair(queue_pair);
  if (is_client(lane)) return lane;
  return fabric::is_send(opcode) ? membership() : of_fiber(fiber);
}

std::vector<timeline::Lane> StoreLanes::to_lanes() const {
  std::vector<timeline::Lane> lanes;
  const auto add = [&](std::string_view kind, std::string_view name) {
    lanes.push_back({.kind = std::string(kind), .name = std::string(name)});
  };
  for (const std::string& name : names_) add(client_kind, name);
  add(timeline::memory_lane, "device");
  add(collector_kind, "collector");
  add(cleanup_kind, "cleaner");
  add(membership_kind, "membership");
  add(server_kind, "server");
  return lanes;
}

}  // namespace falafel::store_scenario
