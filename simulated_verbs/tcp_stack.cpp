#include "simulated_verbs/tcp_stack.h"

#include <utility>

#include "fabric/time_units.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint64_t starting_ns = 60 * fabric::second_ns;

}  // namespace

TcpStack::TcpStack(const Subnet& subnet, fabric::Host& host, std::uint16_t lid,
                   std::shared_ptr<fabric::Event> activity)
    : subnet_(subnet),
      host_(host),
      own_address_(address_of_lid(lid)),
      starting_until_ns_(host.now_ns() + starting_ns),
      domain_(device().create_protection_domain()),
      activity_(std::move(activity)) {}

std::uint16_t TcpStack::lid_of(std::uint32_t address) const {
  const bool is_own = address == any_address || is_loopback(address);
  const std::uint32_t lid = (is_own ? own_address_ : address) - address_of_lid(0);
  if (lid > UINT16_MAX || subnet_.host_of(static_cast<std::uint16_t>(lid)) == nullptr) return 0;
  return static_cast<std::uint16_t>(lid);
}

bool TcpStack::wait_until(const std::function<bool()>& condition, std::uint64_t deadline_ns) {
  while (!condition()) {
    const bool is_notified = activity_->wait(deadline_ns);
    if (!is_notified && host_.now_ns() >= deadline_ns) return condition();
  }
  return true;
}

}  // namespace falafel::simulated_verbs
