#include "tools/server/memcached_front/binary_frame.h"

namespace falafel::memcached_front {
namespace {

constexpr char magic_of_response = '\x81';

}  // namespace

std::uint64_t load_number(std::string_view text, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    number = number << 8U | static_cast<unsigned char>(text[byte]);
  }
  return number;
}

void append_number(std::string& text, std::uint64_t number, std::size_t bytes) {
  for (std::size_t byte = bytes; byte > 0; --byte) {
    text += static_cast<char>(number >> (8 * (byte - 1)) & 0xFFU);
  }
}

std::uint32_t body_bytes_of(std::string_view header) {
  return static_cast<std::uint32_t>(load_number(header.substr(8), 4));
}

BinaryRequest parse_binary(std::string_view frame) {
  const std::size_t key_bytes = load_number(frame.substr(2), 2);
  const std::size_t extras_bytes = load_number(frame.substr(4), 1);
  BinaryRequest request{.opcode = static_cast<std::uint8_t>(frame[1]),
                        .opaque = static_cast<std::uint32_t>(load_number(frame.substr(12), 4)),
                        .cas = load_number(frame.substr(16), 8)};
  const std::string_view body = frame.substr(binary_header_bytes);
  if (extras_bytes + key_bytes > body.size()) return request;
  request.extras = body.substr(0, extras_bytes);
  request.key = body.substr(extras_bytes, key_bytes);
  request.value = body.substr(extras_bytes + key_bytes);
  return request;
}

void append_binary(std::string& answers, const BinaryRequest& request,
                   const BinaryResponse& response) {
  const std::size_t body_bytes =
      response.extras.size() + response.key.size() + response.value.size();
  answers += magic_of_response;
  answers += static_cast<char>(request.opcode);
  append_number(answers, response.key.size(), 2);
  append_number(answers, response.extras.size(), 1);
  append_number(answers, 0, 1);  // the type of the data, which has one value
  append_number(answers, static_cast<std::uint16_t>(response.status), 2);
  append_number(answers, body_bytes, 4);
  append_number(answers, request.opaque, 4);
  append_number(answers, response.cas, 8);
  answers += response.extras;
  answers += response.key;
  answers += response.value;
}

}  // namespace falafel::memcached_front
