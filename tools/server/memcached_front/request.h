// One request of memcached's text protocol (protocol.txt of memcached 1.6).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace falafel::memcached_front {

// A get of several keys is one request per key, followed by `end_of_get`.
struct Request {
  enum class Kind : std::uint8_t {
    get,
    end_of_get,
    set,
    remove,
    meta_get,
    meta_set,
    meta_remove,
    meta_no_operation,
    version,
    verbosity,
    stats,
    quit,
    refused,  // `error` is the answer, and nothing else is to be done
  };

  Kind kind = Kind::refused;
  // Views are valid until the parser's next call.
  std::string_view key{};
  std::string_view value{};       // set, meta_set
  std::uint32_t flags = 0;        // set, meta_set: what the client stores beside the value
  std::int64_t exptime = 0;       // set, meta_set: see expiry.h
  bool is_quiet = false;          // `noreply` of a text command, `q` of a meta command
  std::string_view meta_flags{};  // meta commands: the words after the key and the length
  std::string error{};            // refused: the line of the answer, without its end
  bool ends_connection = false;   // refused: the rest of the stream cannot be understood
};

}  // namespace falafel::memcached_front
