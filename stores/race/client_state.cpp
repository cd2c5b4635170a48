#include "stores/race/client_state.h"

#include <utility>

#include "stores/exchange/reconnect.h"
#include "stores/race/split.h"

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
    if (connection->read_directory(directory) && connection->is_up()) return true;
  } while (host.now_ns() < deadline_ns);
  return false;
}

bool ClientState::read_directory() {
  ++counts.operation.directory_reads;
  return connection->read_directory(directory);
}

// An entry that a split changes is read again first, because the split may be over. Index s mod 2^d
// leads to the same old subtable before, during and after its split.
std::optional<ClientState::Route> ClientState::route_for(std::span<const std::byte> key) {
  const KeyHash hash = hash_of(key, connection->node().hash_seed);
  const auto entry_of_key = [&] { return decode_entry(directory[hash.first % directory.size()]); };
  if (entry_of_key().state != EntryState::settled && !read_directory()) return std::nullopt;
  const DirectoryEntry entry = entry_of_key();
  const std::uint64_t top =
      entry.local_depth == 0 ? 0 : std::uint64_t{1} << (entry.local_depth - 1);
  const bool is_changing = entry.state != EntryState::settled && (hash.first & top) != 0;
  Route route;
  const auto add = [&](std::uint64_t subtable) {
    route.searches.emplace_back(host, *connection, options, counts.operation, key, subtable);
  };
  const auto add_old = [&] {
    add(decode_entry(directory[hash.suffix(entry.local_depth) ^ top]).subtable);
  };
  const bool old_first = options.safeguards.old_subtable_first;
  const bool is_prepared = is_changing && entry.state == EntryState::prepared;
  if (is_prepared || (is_changing && old_first)) add_old();
  if (is_prepared) return route;
  route.target = route.searches.size();
  add(entry.subtable);
  if (is_changing && !old_first) add_old();
  return route;
}

Look ClientState::find_in(Route& route, std::optional<BlockWrite> write,
                          std::vector<Copy>& copies) {
  for (Search& search : route.searches) {
    if (!search.read(write)) return Look::broken;
    write.reset();
    const Look look = search.find({}, copies);
    if (look != Look::done || !copies.empty()) return look;
  }
  return Look::done;
}

// The second READ of the headers is needed only where the table can still grow.
Look ClientState::confirm_absence(Route& route) {
  if (!options.safeguards.header_checks) return Look::done;
  if (!route.own().is_in_place()) return Look::changed;
  const bool can_split = route.own().local_depth() < connection->geometry().most_depth;
  if (!can_split || !options.safeguards.absence_validation) return Look::done;
  if (!route.own().read()) return Look::broken;
  return route.own().is_in_place() ? Look::done : Look::changed;
}

// If a READ or a CAS fails, the next operation finds the connection down.
std::optional<Answer> ClientState::wait_for_split(std::uint32_t& waits, const KeyHash& hash) {
  if (++waits > options.most_split_waits) {
    if (!options.safeguards.helped_splits) return Answer::busy;
    waits = 0;
    Split(*this, hash).help();
    return std::nullopt;
  }
  back_off();
  read_directory();
  return std::nullopt;
}

void ClientState::free_block_of(std::uint64_t word) {
  if (options.block_reuse == BlockReuse::never) return;
  const Slot slot = decode(word);
  const std::uint64_t tag = options.safeguards.block_tags ? (slot.tag + 1) % tag_limit : 0;
  pool.free({.offset = slot.offset(), .units = slot.units, .tag = tag, .was_used = true});
}

void ClientState::back_off() {
  host.sleep_until(host.now_ns() + host.random(options.longest_back_off_ns));
}

}  // namespace falafel::race
