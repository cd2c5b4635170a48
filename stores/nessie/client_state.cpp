#include "stores/nessie/client_state.h"

#include <utility>

namespace falafel::nessie {

ClientState::ClientState(fabric::Host& own_host, Node* own_node, const Options& own_options)
    : host(own_host),
      options(own_options),
      own_node_(own_node),
      layout_(options.index_entries, options.data_entries,
              DataEntryLayout(options.most_key_bytes, options.most_value_bytes)) {}

fabric::Result<void> ClientState::connect(std::span<const fabric::Address> nodes) {
  auto buffers = Buffers::create(host, layout_.entry().entry_bytes());
  if (!buffers) return tl::unexpected(buffers.error());
  buffers_ = std::move(*buffers);
  if (!options.is_client_driven()) {
    auto requester = Requester::create(host, *buffers_.domain, own_node_, nodes.size(), options);
    if (!requester) return tl::unexpected(requester.error());
    requester_ = std::move(*requester);
  }
  const std::uint64_t deadline_ns = host.now_ns() + options.connect_timeout_ns;
  for (const fabric::Address& address : nodes) {
    const std::uint64_t number = connections_.size();
    const auto hello = requester_ == nullptr ? std::optional<ClientHello>()
                                             : std::optional(requester_->hello(number));
    auto& connection = connections_.emplace_back(
        std::make_unique<Connection>(host, buffers_, address, options, hello));
    // To its own node, a client needs a device for the atomics of NessieCD alone.
    const bool is_needed = options.is_client_driven() || !is_own(number);
    if (is_needed && !connection->connect(deadline_ns)) {
      return fabric::make_error(fabric::ErrorCode::unreachable,
                                "the node at " + address.host + " does not answer");
    }
  }
  return {};
}

tl::unexpected<Answer> ClientState::give_up(GiveUp reason) {
  ++statistics.give_ups[static_cast<std::size_t>(reason)];
  return tl::unexpected(Answer::busy);
}

Deadline ClientState::start() {
  mark_staged();
  const DeadlineCheck check = options.deadline_check;
  return {.at_ns = host.now_ns() + options.expiration_ns - options.clock_error_ns,
          .before_each_verb = check != DeadlineCheck::at_end,
          .at_end = check != DeadlineCheck::before_each_verb};
}

Step<void> ClientState::check_end(const Deadline& deadline) {
  if (deadline.at_end && host.now_ns() >= deadline.at_ns) return give_up(GiveUp::deadline);
  return {};
}

Deadline ClientState::without_deadline() const {
  return {.at_ns = host.now_ns() + options.expiration_ns};
}

Step<Connection*> ClientState::connection(std::uint64_t number, const Deadline& deadline) {
  Connection& connection = *connections_[number];
  if (!connection.is_usable() && !connection.connect(deadline.at_ns)) {
    return tl::unexpected(Answer::disconnected);
  }
  if (deadline.before_each_verb && host.now_ns() >= deadline.at_ns) {
    return give_up(GiveUp::deadline);
  }
  return &connection;
}

// NessieHY accesses the memory of its own node without the device (5).
Step<std::uint64_t> ClientState::read_index(const Slot& slot, const Deadline& deadline) {
  if (options.is_hybrid() && is_own(slot.node)) return own_node_->load_index(slot.index);
  const auto table = connection(slot.node, deadline);
  if (!table) return tl::unexpected(table.error());
  ++statistics.index_reads;
  statistics.bytes_received += fabric::word_bytes;
  if ((*table)->read_word(layout_.index_offset(slot.index)) != Fate::done) {
    return tl::unexpected(Answer::disconnected);
  }
  return buffers_.memory.block->load(Buffers::word_offset);
}

Step<bool> ClientState::swap_index(const Slot& slot, std::uint64_t expected, std::uint64_t desired,
                                   const Deadline& deadline) {
  const auto table = connection(slot.node, deadline);
  if (!table) return tl::unexpected(table.error());
  ++statistics.swaps;
  statistics.bytes_sent += 2 * fabric::word_bytes;
  statistics.bytes_received += fabric::word_bytes;
  switch ((*table)->compare_and_swap(layout_.index_offset(slot.index), expected, desired)) {
    case Fate::done: return buffers_.memory.block->load(Buffers::word_offset) == expected;
    case Fate::not_sent: return tl::unexpected(Answer::disconnected);
    case Fate::in_doubt: break;
  }
  return tl::unexpected(Answer::unknown_outcome);
}

bool ClientState::is_possible(const IndexEntry& entry) const {
  return entry.data_table < connections_.size();
}

Step<DataEntry> ClientState::fetch(std::uint64_t word, bool with_value, const Deadline& deadline) {
  if (own_node_ == nullptr) return fetch_again(word, with_value, deadline);
  const std::uint64_t now_ns = host.now_ns();
  const std::uint64_t period_ns = options.expiration_ns - options.clock_error_ns;
  if (const DataEntry* const cached = own_node_->cache().find(word, now_ns, now_ns + period_ns)) {
    ++statistics.cache_hits;
    return *cached;
  }
  return fetch_again(word, with_value, deadline);
}

Step<DataEntry> ClientState::fetch_again(std::uint64_t word, bool with_value,
                                         const Deadline& deadline) {
  const IndexEntry entry = decode(word);
  if (!is_possible(entry)) return give_up(GiveUp::changed_entry);
  if (!is_own(entry.data_table)) return read_remote(entry, with_value, deadline);
  ++statistics.local_entries;
  auto local = own_data_table().read(entry.data_entry, with_value);
  if (!local) return give_up(GiveUp::changed_entry);
  return std::move(*local);
}

Step<DataEntry> ClientState::read_remote(const IndexEntry& entry, bool with_value,
                                         const Deadline& deadline) {
  const auto table = connection(entry.data_table, deadline);
  if (!table) return tl::unexpected(table.error());
  const DataEntryLayout& format = layout_.entry();
  const std::uint64_t length_bytes = with_value ? format.entry_bytes() : format.front_bytes();
  ++statistics.entry_reads;
  statistics.bytes_received += length_bytes;
  const Fate fate = (*table)->read_entry(
      layout_.data_offset(entry.data_entry), static_cast<std::uint32_t>(length_bytes),
      with_value ? std::optional(format.watermark_offset()) : std::nullopt);
  if (fate != Fate::done) return tl::unexpected(Answer::disconnected);
  Bytes bytes(length_bytes);
  host.spend(fabric::Work::copy, length_bytes);
  buffers_.memory.block->read(Buffers::entry_offset, bytes);
  auto decoded = format.decode(bytes);
  if (!decoded) return give_up(GiveUp::changed_entry);
  return std::move(*decoded);
}

void ClientState::remember(std::uint64_t word, const DataEntry& entry) {
  if (own_node_ == nullptr || is_own(decode(word).data_table)) return;
  own_node_->cache().insert(word, entry,
                            host.now_ns() + options.expiration_ns - options.clock_error_ns);
}

tl::expected<Message, Fate> ClientState::request(Message request) {
  const std::uint64_t owner = candidates(request.key)[0].node;
  const auto execute = [&]() -> tl::expected<Message, Fate> {
    if (is_own(owner)) {
      ++statistics.local_requests;
      return requester_->execute_locally(std::move(request));
    }
    Connection& connection = *connections_[owner];
    if (!connection.is_usable() && !connection.connect(host.now_ns() + options.expiration_ns)) {
      return tl::unexpected(Fate::not_sent);
    }
    ++statistics.requests;
    statistics.bytes_sent += request.key.size() + request.value.size();
    return requester_->execute(owner, connection, std::move(request));
  };
  auto response = execute();
  if (response) statistics.bytes_received += response->value.size();
  statistics.timeouts = requester_->timeouts();
  statistics.incomplete_looks = requester_->incomplete_looks();
  return response;
}

void ClientState::mark_staged() {
  for (const Staged& staged : std::exchange(staged_, {})) mark(staged);
}

// A mark that is lost with its connection leaves a DTE that is never used again.
void ClientState::mark(const Staged& staged) {
  const IndexEntry entry = decode(staged.word);
  const std::uint64_t flags = staged.is_valid ? valid_flag : 0;
  if (is_own(entry.data_table)) {
    own_data_table().mark(entry.data_entry, flags);
    return;
  }
  const auto table = connection(entry.data_table, without_deadline());
  if (!table) return;
  ++statistics.marks;
  statistics.bytes_sent += mark_bytes;
  (*table)->write_mark(layout_.data_offset(entry.data_entry), flags | recycle_flag,
                       own_data_table().expiry_ns());
}

}  // namespace falafel::nessie
