// What a load generator says to another store: requests as bytes, and answers out of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace falafel::load_generator {

struct Answer {
  enum class Kind : std::uint8_t { value, missing, stored, unexpected } kind = Kind::unexpected;
  std::string_view value;      // value: within the bytes; unexpected: what was said
  std::size_t size_bytes = 0;  // of the whole answer
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual void append_get(std::string& requests, std::string_view key) const = 0;
  virtual void append_set(std::string& requests, std::string_view key,
                          std::string_view value) const = 0;
  // The first answer in `bytes`; empty if it has not arrived whole.
  virtual std::optional<Answer> parse(std::string_view bytes) const = 0;
};

// Of both protocols.
inline constexpr std::string_view line_end = "\r\n";

std::unique_ptr<Protocol> make_memcached_protocol();
std::unique_ptr<Protocol> make_redis_protocol();

}  // namespace falafel::load_generator
