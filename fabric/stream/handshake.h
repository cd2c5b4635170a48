// The greetings that two hosts exchange over a new TCP connection before it carries messages. An
// offer goes to the listener, and an answer comes back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fabric/fabric.h"

namespace falafel::stream {

inline constexpr std::uint64_t greeting_magic = 0x6d61'6572'7473'66ff;  // "\xfffstream"
inline constexpr std::uint32_t greeting_version = 1;

enum class GreetingKind : std::uint32_t { offer = 1, acceptance = 2, rejection = 3 };

// Numbers are in little endian. The data of a rejection is the reason.
struct Greeting {
  std::uint64_t magic = greeting_magic;
  std::uint32_t version = greeting_version;
  GreetingKind kind = GreetingKind::offer;
  std::uint32_t data_bytes = 0;
  std::array<std::byte, fabric::max_private_data_bytes> data{};
  std::uint32_t unused = 0;
};
static_assert(sizeof(Greeting) == 80);

Greeting make_greeting(GreetingKind kind, const fabric::PrivateData& data);  // truncates the data
fabric::PrivateData data_of(const Greeting& greeting);
// The problem with a greeting of the other side; empty if there is none.
std::string problem_of(const Greeting& greeting);

}  // namespace falafel::stream
