// Functions that the C interface shares: they convert texts, allocate memory for the caller, and
// turn exceptions into statuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "engine/client/condition.h"
#include "engine/layout/pinned.h"
#include "falafel/falafel.h"

namespace falafel {

inline std::string_view view_of(const void* bytes, std::size_t length) {
  return {static_cast<const char*>(bytes), length};
}

// The condition of falafel_compare_and_set; null: the key is absent.
inline engine::Condition condition_of(const void* expected, std::size_t expected_bytes) {
  if (expected == nullptr) return engine::Condition::absent();
  return engine::Condition::equals({static_cast<const std::byte*>(expected), expected_bytes});
}

static_assert(FALAFEL_PINNED == engine::pinned_time_to_live_ns);

// The time to live of falafel_compare_and_set; nullopt: FALAFEL_KEEP_EXPIRY.
inline std::optional<std::uint64_t> kept_unless_given(std::uint64_t time_to_live_ns) {
  return time_to_live_ns == FALAFEL_KEEP_EXPIRY ? std::nullopt : std::optional(time_to_live_ns);
}

// Truncates it to `message_bytes`. `message` may be null.
void write_message(std::string_view text, char* message, std::size_t message_bytes);

// Memory that the caller releases with free(). Error: FALAFEL_OUT_OF_MEMORY; nothing is changed.
falafel_status copy_value(std::span<const std::byte> value, void** copy, std::size_t* copy_bytes);
falafel_status copy_text(std::string_view text, char** copy);  // with a zero byte at its end

// Converts a failure to allocate memory or to start a thread to a status. No other exception is
// expected.
template <typename Call>
falafel_status guarded(const Call& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return FALAFEL_OUT_OF_MEMORY;
  } catch (const std::system_error&) {
    return FALAFEL_OUT_OF_MEMORY;
  }
}

}  // namespace falafel
