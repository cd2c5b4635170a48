// One request of memcached's text protocol (protocol.txt of memcached 1.6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace falafel::memcached_front {

// The relatives of `set`: their requirements of the key, and the use of its value.
enum class StoreMode : std::uint8_t { set, add, replace, append, prepend };

// incr, decr, ma
struct Arithmetic {
  std::uint64_t delta = 1;
  bool decrements = false;
  // The key gets this value if it is absent, and expires as the request's exptime says.
  std::optional<std::uint64_t> initial{};
};

// A get of several keys is one request per key, followed by `end_of_get`.
struct Request {
  enum class Kind : std::uint8_t {
    get,
    end_of_get,
    store,
    arithmetic,
    touch,
    remove,
    flush_all,
    meta_get,
    meta_set,
    meta_remove,
    meta_arithmetic,
    meta_no_operation,
    version,
    verbosity,
    stats,
    quit,
    binary,   // `value` is a whole request of the binary protocol
    refused,  // `error` is the answer, and nothing else is to be done
  };

  Kind kind = Kind::refused;
  // Views are valid until the parser's next call.
  std::string_view key{};
  std::string_view value{};               // store, meta_set
  StoreMode mode = StoreMode::set;        // store, meta_set
  Arithmetic arithmetic{};                // arithmetic, meta_arithmetic
  std::uint32_t flags = 0;                // store, meta_set: what the client keeps beside the value
  std::optional<std::int64_t> exptime{};  // see expiry.h; nullopt: a get that does not touch
  std::optional<std::uint64_t> cas{};     // the CAS id that the value must have (cas_id.h)
  bool wants_cas = false;                 // get: with the CAS id
  bool is_quiet = false;                  // `noreply` of a text command, `q` of a meta command
  std::string_view meta_flags{};          // meta commands: the words after the key and the length
  std::string_view statistics{};          // stats: the word after the command
  std::string error{};                    // refused: the line of the answer, without its end
  bool ends_connection = false;           // refused: the rest of the stream cannot be understood
};

}  // namespace falafel::memcached_front
