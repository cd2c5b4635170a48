#include "tests/vm/driver/control.h"

#include "tests/hang_limit.h"

namespace falafel::driver {

fabric::Result<void> wait_until_stopped(fabric::Host& host, std::uint16_t control_service) {
  auto listener = host.device(0).listen(control_service);
  if (!listener) return tl::unexpected(listener.error());
  (*listener)->accept(fabric::never_ns);  // the connection itself is dropped
  return {};
}

bool stop_server(fabric::Host& host, const fabric::Address& control) {
  fabric::Device& device = host.device(0);
  const auto domain = device.create_protection_domain();
  const auto completions = device.create_completion_queue(2);
  const fabric::QueuePairOptions options{.protection_domain = domain.get(),
                                         .send_completions = completions->get(),
                                         .receive_completions = completions->get(),
                                         .max_send_requests = 1,
                                         .max_receive_requests = 1};
  const auto refused = device.connect(control, options, {}, host.now_ns() + hang_limit_ns);
  return !refused && refused.error().code == fabric::ErrorCode::connection_refused;
}

}  // namespace falafel::driver
