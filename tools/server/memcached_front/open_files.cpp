#include "tools/server/memcached_front/open_files.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace falafel::memcached_front {

std::optional<std::string> allow_open_files(std::uint32_t connections) {
  constexpr rlim_t others = 64;  // of the store and the system's libraries
  const rlim_t necessary = connections + others;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= necessary) return std::nullopt;
  if (limit.rlim_max < necessary) {
    return fmt::format(
        "--connections {}: needs {} open files, but the system permits {}; use fewer connections, "
        "or raise the limit (ulimit -Hn)",
        connections, necessary, limit.rlim_max);
  }
  limit.rlim_cur = necessary;
  setrlimit(RLIMIT_NOFILE, &limit);
  return std::nullopt;
}

}  // namespace falafel::memcached_front
