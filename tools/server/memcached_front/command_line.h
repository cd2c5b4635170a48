// Parses one line of memcached's text protocol into a request, without the data block that may
// follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/server/memcached_front/request.h"

namespace falafel::memcached_front {

inline constexpr std::size_t longest_key_bytes = 250;

struct ParserOptions {
  std::uint64_t largest_value_bytes = 1'048'576;
  // If true, a time to live is ignored.
  bool ignores_expiry = false;
  // True if the store is a cache. Otherwise, the front refuses a request with a time to live unless
  // it ignores that time.
  bool is_cache = false;
  bool permits_flush = true;  // flush_all
};

struct CommandLine {
  Request request;  // its views refer to the line
  // A data block of this length follows, and then the end of a line. A refused request can have one
  // too.
  std::optional<std::uint64_t> data_bytes{};
  std::string_view keys{};  // get: all keys
};

// `line` has no end of line.
CommandLine parse_command_line(std::string_view line, const ParserOptions& options);

// A request that is answered with this line.
Request refuse(std::string_view error);

// Returns the answer if a request with this time to live has to be refused.
std::optional<std::string> apply_exptime(Request& request, std::string_view exptime,
                                         const ParserOptions& options);
std::optional<std::string> apply_exptime(Request& request, std::int64_t seconds,
                                         const ParserOptions& options);

// Returns whether the key has 1 to 250 bytes, none of which is a space or a control character.
bool is_valid_key(std::string_view key);

}  // namespace falafel::memcached_front
