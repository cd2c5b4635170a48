#include "stores/race/client_state.h"

#include <utility>

#include "stores/exchange/reconnect.h"

namespace falafel::race {

fabric::Result<void> ClientState::connect() {
  auto opened = Connection::open(host, address, options, id, counts.operation);
  if (!opened) return tl::unexpected(opened.error());
  incarnation = (*opened)->node().incarnation;
  connection = std::move(*opened);
  if (connection->read_directory(directory) || ensure_connected()) return {};
  return fabric::make_error(fabric::ErrorCode::unreachable, address.host + " does not answer");
}

bool ClientState::ensure_connected() {
  if (is_lost) return false;
  if (connection != nullptr && connection->is_up()) return true;
  const std::uint64_t deadline_ns = host.now_ns() + options.server_timeout_ns;
  do {
    connection.reset();
    connection = stores::reconnect(host, deadline_ns, options.reconnect_pause_ns, [this] {
      return Connection::open(host, address, options, id, counts.operation);
    });
    if (connection == nullptr) return false;
    ++counts.operation.reconnections;
    is_lost = connection->node().incarnation != incarnation;
    if (is_lost) return false;
  } while (!connection->read_directory(directory) && host.now_ns() < deadline_ns);
  return connection->is_up();
}

Search ClientState::search_for(std::span<const std::byte> key) {
  const KeyHash hash = hash_of(key, connection->node().hash_seed);
  const std::uint64_t index = hash.first % directory.size();
  return Search(host, *connection, options, counts.operation, key,
                decode_entry(directory[index]).subtable);
}

void ClientState::free_block_of(std::uint64_t word) {
  const Slot slot = decode(word);
  const std::uint64_t tag = options.safeguards.block_tags ? (slot.tag + 1) % tag_limit : 0;
  pool.free({.offset = slot.offset(), .units = slot.units, .tag = tag, .was_used = true});
}

void ClientState::back_off() {
  host.sleep_until(host.now_ns() + host.random(options.longest_back_off_ns));
}

}  // namespace falafel::race
