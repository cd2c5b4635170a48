#include "stores/two_sided/invariants.h"

#include <fmt/format.h>

#include <set>

namespace falafel::two_sided {
namespace {

// Checks the keys of one bucket.
void check_keys(const ServerInspection& server, std::size_t bucket,
                std::vector<std::string>& problems) {
  std::set<Bytes> keys;
  for (const Bytes& key : server.table.keys[bucket]) {
    const std::uint64_t right = bucket_number(key, server.table.keys.size());
    if (right != bucket) {
      problems.push_back(fmt::format("bucket {} has a key of bucket {}", bucket, right));
    }
    if (!keys.insert(key).second) {
      problems.push_back(fmt::format("bucket {} has a key twice", bucket));
    }
  }
}

}  // namespace

std::vector<std::string> find_problems(const ServerInspection& server) {
  std::vector<std::string> problems;
  if (server.table.rings > 0) problems.emplace_back("a list has no end");
  std::size_t listed = 0;
  for (std::size_t bucket = 0; bucket < server.table.keys.size(); ++bucket) {
    check_keys(server, bucket, problems);
    listed += server.table.keys[bucket].size();
  }
  const ServerStatistics& statistics = server.statistics;
  if (listed != statistics.pairs) {
    problems.push_back(
        fmt::format("{} pairs are in use, but the lists have {}", statistics.pairs, listed));
  }
  if (server.table.locks_held > 0) {
    problems.push_back(fmt::format("{} locks are held", server.table.locks_held));
  }
  if (statistics.workers != statistics.clients_connected) {
    problems.push_back(fmt::format("there are {} workers for {} connected clients",
                                   statistics.workers, statistics.clients_connected));
  }
  return problems;
}

}  // namespace falafel::two_sided
