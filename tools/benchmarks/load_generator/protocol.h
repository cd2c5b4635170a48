// The protocol between the load generator and another store: formats requests and parses answers.
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
  std::string_view value;      // value: part of the input; unexpected: the answer's text
  std::size_t size_bytes = 0;  // size of the whole answer
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual void append_get(std::string& requests, std::string_view key) const = 0;
  virtual void append_set(std::string& requests, std::string_view key,
                          std::string_view value) const = 0;
  // Parses the first answer in `bytes`; returns nullopt if it is incomplete.
  virtual std::optional<Answer> parse(std::string_view bytes) const = 0;
};

// Used by both protocols.
inline constexpr std::string_view line_end = "\r\n";

std::unique_ptr<Protocol> make_memcached_protocol();
std::unique_ptr<Protocol> make_redis_protocol();

}  // namespace falafel::load_generator
