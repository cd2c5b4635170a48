#include "fabric/stream/handshake.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::stream {

Greeting make_greeting(GreetingKind kind, const fabric::PrivateData& data) {
  Greeting greeting{.kind = kind};
  greeting.data_bytes =
      static_cast<std::uint32_t>(std::min(data.size(), fabric::max_private_data_bytes));
  std::copy_n(data.begin(), greeting.data_bytes, greeting.data.begin());
  return greeting;
}

fabric::PrivateData data_of(const Greeting& greeting) {
  const auto size_bytes = static_cast<std::ptrdiff_t>(
      std::min<std::size_t>(greeting.data_bytes, fabric::max_private_data_bytes));
  return {greeting.data.begin(), greeting.data.begin() + size_bytes};
}

std::string problem_of(const Greeting& greeting) {
  if (greeting.magic != greeting_magic) return "it does not speak this protocol; check the address";
  if (greeting.version == greeting_version) return {};
  return fmt::format("it uses version {} of the protocol, this side {}; use the same release",
                     greeting.version, greeting_version);
}

}  // namespace falafel::stream
