#include "simulated_verbs/process_site.h"

#include <algorithm>

#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint64_t least_patience_ns = 1'000;
constexpr std::uint64_t most_patience_ns = 10'000'000;

}  // namespace

ProcessSite::ProcessSite(Subnet& subnet, fabric::Host& host)
    : subnet_(subnet),
      host_(host),
      lid_(subnet.lid_of(host.name())),
      heap_(subnet.add_heap(lid_)),
      activity_(host.create_event()),
      patience_ns_(least_patience_ns) {}

void ProcessSite::wait_for_activity() {
  const bool is_woken = activity_->wait(host_.now_ns() + patience_ns_);
  patience_ns_ = is_woken ? least_patience_ns : std::min(2 * patience_ns_, most_patience_ns);
}

}  // namespace falafel::simulated_verbs
