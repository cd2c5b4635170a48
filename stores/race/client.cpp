#include "stores/race/client.h"

#include <utility>

#include "stores/race/put.h"

namespace falafel::race {

OperationStatistics& OperationStatistics::operator+=(const OperationStatistics& other) {
  Traffic::operator+=(other);
  blocks_read += other.blocks_read;
  other_keys += other.other_keys;
  block_retries += other.block_retries;
  lost_swaps += other.lost_swaps;
  duplicates += other.duplicates;
  wild_pointers += other.wild_pointers;
  allocations += other.allocations;
  reused_blocks += other.reused_blocks;
  directory_reads += other.directory_reads;
  splits += other.splits;
  helped_splits += other.helped_splits;
  reconnections += other.reconnections;
  return *this;
}

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host,
                                                        const fabric::Address& node,
                                                        const Options& options) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  std::unique_ptr<Client> client(new Client(host, node, options));
  if (auto connected = client->state_.connect(); !connected) {
    return tl::unexpected(connected.error());
  }
  client->most_block_bytes_ = client->state_.connection->node().most_block_bytes;
  return client;
}

bool Client::is_too_large(std::span<const std::byte> key, std::span<const std::byte> value) const {
  return block_bytes_of(key.size(), value.size()) > most_block_bytes_;
}

// GET

GetResult Client::get(std::span<const std::byte> key) {
  GetResult result;
  const Answer answer = look_up(key, result.value);
  return state_.counts.finish(answer, std::move(result));
}

Answer Client::look_up(std::span<const std::byte> key, std::vector<std::byte>& value) {
  if (key.empty()) return Answer::invalid_key;
  std::uint32_t waits = 0;
  while (state_.ensure_connected()) {
    auto route = state_.route_for(key);
    std::vector<Copy> copies;
    if (!route || state_.find_in(*route, std::nullopt, copies) != Look::done) continue;
    if (!copies.empty()) {
      value = std::move(copies.front().value);
      return Answer::found;
    }
    const Look absence = state_.confirm_absence(*route);
    if (absence == Look::done) return Answer::not_found;
    if (absence == Look::broken) continue;
    if (const auto answer = state_.wait_for_split(waits, route->own().hash())) return *answer;
  }
  return Answer::disconnected;
}

// PUT and DELETE

Result Client::set(std::span<const std::byte> key, std::span<const std::byte> value) {
  if (key.empty()) return state_.counts.finish(Answer::invalid_key, Result());
  if (is_too_large(key, value)) return state_.counts.finish(Answer::value_too_large, Result());
  return state_.counts.finish(Put(state_, key, value).run(), Result());
}

Result Client::remove(std::span<const std::byte> key) {
  return state_.counts.finish(try_to_remove(key), Result());
}

Answer Client::try_to_remove(std::span<const std::byte> key) {
  if (key.empty()) return Answer::invalid_key;
  std::uint32_t waits = 0;
  while (state_.ensure_connected()) {
    auto route = state_.route_for(key);
    std::vector<Copy> copies;
    if (!route || state_.find_in(*route, std::nullopt, copies) != Look::done) continue;
    if (!copies.empty() && !decode(copies.front().slot.word).is_frozen) {
      if (const auto answer = remove_slot(copies.front().slot)) return *answer;
      state_.back_off();
      continue;
    }
    const Look absence = copies.empty() ? state_.confirm_absence(*route) : Look::changed;
    if (absence == Look::done) return Answer::not_found;
    if (absence == Look::broken) continue;
    if (const auto answer = state_.wait_for_split(waits, route->own().hash())) return *answer;
  }
  return Answer::disconnected;
}

// Nothing: another client has changed the slot.
std::optional<Answer> Client::remove_slot(const SeenSlot& slot) {
  std::uint64_t found = 0;
  if (!state_.connection->swap(slot.offset, slot.word, empty_slot, found)) {
    return Answer::unknown_outcome;
  }
  if (found != slot.word) return std::nullopt;
  state_.free_block_of(slot.word);
  return Answer::deleted;
}

}  // namespace falafel::race
