#include "tools/server/memcached_front/statistics_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "falafel_build_identity.h"

namespace falafel::memcached_front {
namespace {

template <typename Value>
void append_line(std::string& text, std::string_view name, const Value& value) {
  text += fmt::format("STAT {} {}\r\n", name, value);
}

}  // namespace

void append_statistics(std::string& text, const Statistics& statistics, std::string_view version) {
  const auto uptime = std::chrono::steady_clock::now() - statistics.started;
  const std::uint64_t hits = statistics.get_hits;
  const std::uint64_t misses = statistics.get_misses;
  append_line(text, "pid", getpid());
  append_line(text, "uptime", std::chrono::duration_cast<std::chrono::seconds>(uptime).count());
  append_line(text, "time", std::time(nullptr));
  append_line(text, "version", version);
  append_line(text, "falafel_revision", build::revision);
  append_line(text, "pointer_size", 8 * sizeof(void*));
  append_line(text, "max_connections", statistics.max_connections);
  append_line(text, "curr_connections", statistics.current_connections.load());
  append_line(text, "total_connections", statistics.total_connections.load());
  append_line(text, "rejected_connections", statistics.rejected_connections.load());
  append_line(text, "cmd_get", hits + misses);
  append_line(text, "cmd_set", statistics.sets.load());
  append_line(text, "get_hits", hits);
  append_line(text, "get_misses", misses);
  append_line(text, "delete_hits", statistics.delete_hits.load());
  append_line(text, "delete_misses", statistics.delete_misses.load());
  append_line(text, "refused_requests", statistics.refusals.load());
  append_line(text, "threads", statistics.threads);
}

void append_settings(std::string& text, const Statistics& statistics) {
  append_line(text, "maxconns", statistics.max_connections);
  append_line(text, "num_threads", statistics.threads);
  append_line(text, "cas_enabled", "yes");
  append_line(text, "flush_enabled", statistics.permits_flush ? "yes" : "no");
}

}  // namespace falafel::memcached_front
