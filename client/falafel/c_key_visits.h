// The scan of all keys in the C interface: finds the keys first, so that the caller's function may
// use the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "falafel/c_conversions.h"
#include "falafel/c_status.h"
#include "falafel/falafel.h"

namespace falafel {

// Calls scan(found), where found(key, value, time_to_live_ns) notes a key, and then `visit` once
// for each of them; a scan may find a key twice. See falafel_for_each_key.
template <typename Scan>
falafel_status visit_found_keys(const Scan& scan, falafel_visit visit, void* user_data) {
  std::map<std::string, std::uint64_t, std::less<>> keys;
  const falafel_status status = guarded([&] {
    const auto scanned =
        scan([&](std::string_view key, std::span<const std::byte>, std::uint64_t time_to_live_ns) {
          keys.insert_or_assign(std::string(key), time_to_live_ns);
        });
    return scanned ? FALAFEL_OK : status_of_reading(scanned.error());
  });
  if (status != FALAFEL_OK && status != FALAFEL_CORRUPTED) return status;
  // Not guarded: an exception of `visit` is its caller's.
  for (const auto& [key, time_to_live_ns] : keys) {
    visit(key.data(), key.size(), time_to_live_ns, user_data);
  }
  return status;
}

}  // namespace falafel
