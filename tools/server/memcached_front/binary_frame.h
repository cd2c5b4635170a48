// Requests and responses of memcached's binary protocol, which some clients speak only (memjs).
//
// A frame is a header of 24 bytes, and then extras, key and value, whose lengths the header has.
// Numbers have their most significant byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace falafel::memcached_front {

inline constexpr char magic_of_binary_request = '\x80';
inline constexpr std::size_t binary_header_bytes = 24;

enum class BinaryOpcode : std::uint8_t {
  get = 0x00,
  set = 0x01,
  add = 0x02,
  replace = 0x03,
  remove = 0x04,
  increment = 0x05,
  decrement = 0x06,
  quit = 0x07,
  flush = 0x08,
  get_quietly = 0x09,
  no_operation = 0x0a,
  version = 0x0b,
  get_with_key = 0x0c,
  get_with_key_quietly = 0x0d,
  append = 0x0e,
  prepend = 0x0f,
  statistics = 0x10,
  set_quietly = 0x11,  // and so on for the changes, in the order of the loud ones
  prepend_quietly = 0x1a,
  verbosity = 0x1b,
  touch = 0x1c,
  get_and_touch = 0x1d,
  get_and_touch_quietly = 0x1e,
};

enum class BinaryStatus : std::uint16_t {
  success = 0x00,
  not_found = 0x01,
  exists = 0x02,
  too_large = 0x03,
  invalid_arguments = 0x04,
  not_stored = 0x05,
  not_numeric = 0x06,
  unknown_command = 0x81,
  out_of_memory = 0x82,
  not_supported = 0x83,
  internal_error = 0x84,
  temporary_failure = 0x86,
};

// The views refer to the frame.
struct BinaryRequest {
  std::uint8_t opcode = 0;
  std::uint32_t opaque = 0;
  std::uint64_t cas = 0;  // 0: any
  std::string_view extras{};
  std::string_view key{};
  std::string_view value{};
};

struct BinaryResponse {
  BinaryStatus status = BinaryStatus::success;
  std::string_view extras{};
  std::string_view key{};
  std::string_view value{};
  std::uint64_t cas = 0;
};

// The length of everything behind the header, of which all bytes must be there.
std::uint32_t body_bytes_of(std::string_view header);
// The whole frame must be there. A frame whose lengths contradict each other has an empty key and
// an empty value.
BinaryRequest parse_binary(std::string_view frame);

void append_binary(std::string& answers, const BinaryRequest& request,
                   const BinaryResponse& response);

// A number with its most significant byte first. The text has at least that number of bytes.
std::uint64_t load_number(std::string_view text, std::size_t bytes);
void append_number(std::string& text, std::uint64_t number, std::size_t bytes);

}  // namespace falafel::memcached_front
