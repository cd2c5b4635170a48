// How a memcached value and its flags are stored as a value of the store.
//
// A value with flags 0 is stored as it is, so other programs of the store read and write the same
// values. Any other value follows a header of eight bytes: the magic "\xFAmc1" and the flags, least
// significant byte first. A value with flags 0 that begins with the magic has a header too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace falafel::memcached_front {

inline constexpr std::string_view stored_value_magic = "\xFAmc1";

struct FlaggedValue {
  std::string_view value;
  std::uint32_t flags = 0;
};

// Returns `value.value`, or else `buffer` with the header and the value.
std::string_view encode(const FlaggedValue& value, std::string& buffer);
// The result refers to `stored`. Accepts any bytes.
FlaggedValue decode(std::string_view stored);

}  // namespace falafel::memcached_front
