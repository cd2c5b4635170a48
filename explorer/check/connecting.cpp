#include "explorer/check/connecting.h"

#include <cstdint>

#include "explorer/check/world.h"

namespace falafel::check {

fabric::Connection connect_patiently(fabric::Host& host, const fabric::Address& address,
                                     const fabric::QueuePairOptions& options,
                                     const fabric::PrivateData& private_data) {
  constexpr int most_attempts = 1'000;
  constexpr std::uint64_t pause_ns = 5'000;
  constexpr std::uint64_t patience_ns = 10'000'000;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    auto connection =
        host.device(0).connect(address, options, private_data, host.now_ns() + patience_ns);
    if (connection) return std::move(*connection);
    host.sleep_until(host.now_ns() + pause_ns);
  }
  throw Disconnected();
}

}  // namespace falafel::check
