// Limits how fast each client fills memory: it gets its regions at most at this rate. GETs and
// DELETEs do not pass the server and take no memory, so nothing limits those.
//
// A client that has not asked for a while gets its next region at once, but saves nothing up: the
// one after that is due an interval later (the generic cell rate algorithm, ITU-T I.371, with a
// limit of one cell). A client that connects anew begins anew. So the quota keeps honest clients
// from each other's memory, and does not stop a hostile one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace falafel::engine {

class WriteQuota {
 public:
  // 0 bytes per second: no limit.
  WriteQuota(std::uint64_t bytes_per_second, std::uint64_t region_bytes)
      : interval_ns_(bytes_per_second == 0 ? 0 : interval_ns(bytes_per_second, region_bytes)) {}

  // Because of the quota alone, a SET waits 5 s at most; then the client still has time before it
  // gives up on the server (ClientOptions::server_timeout_ns).
  static constexpr std::uint64_t least_bytes_per_second(std::uint64_t region_bytes) {
    return (region_bytes + 4) / 5;
  }

  // When the client may have its next region. In the past: now.
  std::uint64_t due_ns(std::uint32_t client) const {
    const auto found = due_ns_.find(client);
    return found == due_ns_.end() ? 0 : found->second;
  }
  void note_grant(std::uint32_t client, std::uint64_t now_ns) {
    if (interval_ns_ == 0) return;
    std::uint64_t& due_ns = due_ns_[client];
    due_ns = std::max(due_ns, now_ns) + interval_ns_;
  }
  void remove_client(std::uint32_t client) { due_ns_.erase(client); }

 private:
  static std::uint64_t interval_ns(std::uint64_t bytes_per_second, std::uint64_t region_bytes) {
    constexpr double second_ns = 1e9;
    return static_cast<std::uint64_t>(static_cast<double>(region_bytes) * second_ns /
                                      static_cast<double>(bytes_per_second));
  }

  std::uint64_t interval_ns_;
  std::map<std::uint32_t, std::uint64_t> due_ns_;
};

}  // namespace falafel::engine
