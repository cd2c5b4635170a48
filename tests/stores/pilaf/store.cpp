#include "tests/stores/pilaf/store.h"

#include <cstddef>
#include <cstring>
#include <span>

#include "stores/pilaf/invariants.h"

namespace falafel::pilaf_test {

pilaf::Options Types::small_options() {
  pilaf::Options options;
  options.table_entries = 64;
  options.extents_bytes = 4'096;
  options.largest_request_bytes = 512;
  options.log_bytes = 64 << 10;
  options.log_delay_ns = 20 * microsecond_ns;
  options.max_clients = 8;
  options.hash_seed = 7;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.flush_timeout_ns = 2 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = 50 * microsecond_ns;
  options.reconnect_pause_ns = 5 * microsecond_ns;
  return options;
}

std::vector<std::string> Types::find_problems(const Inspection& server) {
  return pilaf::find_problems(server);
}

void TestStore::damage_entry(std::uint64_t slot) {
  const std::uint64_t at = pilaf::Geometry::entry_offset(slot) + offsetof(pilaf::Entry, entry_crc);
  server().memory().bytes()[at] ^= std::byte{1};
}

void TestStore::damage_extent(std::uint64_t slot) {
  const std::span<std::byte> bytes = server().memory().bytes();
  pilaf::Entry entry;
  std::memcpy(&entry, bytes.data() + pilaf::Geometry::entry_offset(slot), sizeof entry);
  bytes[server().geometry().extent_offset(entry.pointer()) + entry.extent_bytes - 1] ^=
      std::byte{1};
}

StoreRun run_client(const StoreOptions& options, const TestStore::ClientBody& body) {
  TestStore store(options);
  store.add_client(body);
  return store.run();
}

}  // namespace falafel::pilaf_test
