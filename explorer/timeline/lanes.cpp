#include "explorer/timeline/lanes.h"

#include <algorithm>
#include <string>

namespace falafel::timeline {

void HostLanes::introduce(const sim::Subject& subject) {
  subjects_.introduce(subject);
  if (subject.kind != sim::SubjectKind::host) return;
  lanes_.push_back({.kind = std::string(host_lane), .name = std::string(subject.host)});
}

std::uint32_t HostLanes::of_name(std::string_view name) const {
  return static_cast<std::uint32_t>(std::ranges::find(lanes_, name, &Lane::name) - lanes_.begin());
}

std::uint32_t HostLanes::of_fiber(std::uint32_t fiber) const {
  return of_name(subjects_.fiber(fiber).host);
}

std::uint32_t HostLanes::of_queue_pair(std::uint32_t queue_pair) const {
  return of_name(subjects_.host_of_queue_pair(queue_pair));
}

std::uint32_t HostLanes::of_party(std::string_view party) {
  const std::uint32_t lane = of_name(party);
  if (lane == lanes_.size()) {
    lanes_.push_back({.kind = std::string(host_lane), .name = std::string(party)});
  }
  return lane;
}

std::vector<Lane> HostLanes::to_lanes() const {
  std::vector<Lane> lanes = lanes_;
  lanes.push_back({.kind = std::string(memory_lane), .name = "memory"});
  return lanes;
}

}  // namespace falafel::timeline
