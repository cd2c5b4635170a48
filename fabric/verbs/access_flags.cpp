#include "fabric/verbs/access_flags.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <optional>
#include <string_view>

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

#ifdef FALAFEL_HAS_RELAXED_ORDERING
constexpr std::optional<int> relaxed_flag = IBV_ACCESS_RELAXED_ORDERING;
#else
constexpr std::optional<int> relaxed_flag;
#endif
#ifdef FALAFEL_HAS_UNORDERED
constexpr std::optional<int> unordered_flag = IBV_ACCESS_UNORDERED;
#else
constexpr std::optional<int> unordered_flag;
#endif

tl::unexpected<fabric::Error> refuse(std::string_view right, std::string_view flag) {
  return make_error(ErrorCode::unsupported,
                    fmt::format("{}: this program was built with a libibverbs that lacks {}; "
                                "register without it, or build with a newer one",
                                right, flag));
}

}  // namespace

Result<int> flags_of(const fabric::Access& access) {
  if (access.relaxed_ordering && !relaxed_flag) {
    return refuse("relaxed_ordering", "IBV_ACCESS_RELAXED_ORDERING");
  }
  if (access.unordered && !unordered_flag) return refuse("unordered", "IBV_ACCESS_UNORDERED");
  return (access.local_write ? IBV_ACCESS_LOCAL_WRITE : 0) |
         (access.remote_read ? IBV_ACCESS_REMOTE_READ : 0) |
         (access.remote_write ? IBV_ACCESS_REMOTE_WRITE : 0) |
         (access.remote_atomic ? IBV_ACCESS_REMOTE_ATOMIC : 0) |
         (access.relaxed_ordering ? *relaxed_flag : 0) | (access.unordered ? *unordered_flag : 0);
}

}  // namespace falafel::verbs
