#include "stores/c_hint/client.h"

#include <algorithm>
#include <utility>

#include "stores/c_hint/lease_terms.h"
#include "stores/exchange/reconnect.h"

namespace falafel::c_hint {
namespace {

Answer to_answer(ReplyStatus status) {
  switch (status) {
    case ReplyStatus::stored: return Answer::stored;
    case ReplyStatus::deleted: return Answer::deleted;
    case ReplyStatus::alive:
    case ReplyStatus::reported:
    case ReplyStatus::found: return Answer::found;
    case ReplyStatus::not_found: return Answer::not_found;
    case ReplyStatus::out_of_memory: return Answer::out_of_memory;
  }
  return Answer::unknown_outcome;  // of a server that does not keep to the protocol
}

}  // namespace

OperationStatistics& OperationStatistics::operator+=(const OperationStatistics& other) {
  Traffic::operator+=(other);
  pointer_hits += other.pointer_hits;
  expired_pointers += other.expired_pointers;
  late_reads += other.late_reads;
  changed_items += other.changed_items;
  message_gets += other.message_gets;
  reports += other.reports;
  lost_reports += other.lost_reports;
  renewed_leases += other.renewed_leases;
  reconnections += other.reconnections;
  return *this;
}

// Connections

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host,
                                                        const fabric::Address& server,
                                                        const Options& options,
                                                        std::shared_ptr<NodeCache> node) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  if (node == nullptr) node = std::make_shared<NodeCache>(options);
  std::unique_ptr<Client> client(new Client(host, server, options, std::move(node)));
  auto connection =
      Connection::open(host, server, client->options_, client->id_, client->counts_.operation);
  if (!connection) return tl::unexpected(connection.error());
  client->connection_ = std::move(*connection);
  client->hello_ = client->connection_->server();
  client->node_->connected_to(client->hello_.incarnation, host.now_ns());
  return client;
}

// Connects again if need be. False: not within server_timeout_ns.
bool Client::ensure_connected() {
  if (connection_ != nullptr && connection_->is_up()) return true;
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  connection_.reset();
  connection_ = stores::reconnect(host_, deadline_ns, options_.reconnect_pause_ns, [this] {
    return Connection::open(host_, server_, options_, id_, counts_.operation);
  });
  if (connection_ == nullptr) return false;
  ++counts_.operation.reconnections;
  hello_ = connection_->server();
  node_->connected_to(hello_.incarnation, host_.now_ns());
  return true;
}

bool Client::is_too_large(std::span<const std::byte> key, std::span<const std::byte> value) const {
  return sizeof(ReplyHeader) + key.size() + value.size() > hello_.largest_message_bytes;
}

Result Client::finish(Answer answer) { return counts_.finish(answer, Result()); }

// Leases

std::uint64_t Client::lease_clock_ns() {
  return hello_.leases_are_absolute != 0 ? host_.wall_clock_ns() : host_.now_ns();
}

// When a lease ends by the client's clock: a term counts from the time at which the request was
// sent, or the reply received.
std::uint64_t Client::end_of_lease_here(std::uint64_t lease_ns, std::uint64_t sent_ns) {
  if (hello_.leases_are_absolute != 0) return lease_ns;
  return end_of_lease(options_.safeguards.lease_from_request ? sent_ns : lease_clock_ns(),
                      lease_ns);
}

std::map<std::uint64_t, CachedPointer> Client::leased_pointers() {
  if (pointers() == nullptr) return {};
  std::map<std::uint64_t, CachedPointer> leased = pointers()->pointers();
  std::erase_if(leased, [now_ns = lease_clock_ns()](const auto& pointer) {
    return now_ns >= pointer.second.lease_end_ns;
  });
  return leased;
}

void Client::keep(std::span<const std::byte> key, const RemotePointer& pointer,
                  std::uint64_t sent_ns) {
  if (pointers() == nullptr) return;
  const std::uint64_t hash = hash_of_key(key);
  if (pointer.item_bytes == 0) return pointers()->drop(hash);
  pointers()->put(hash, {.offset = pointer.offset,
                         .item_bytes = pointer.item_bytes,
                         .version = pointer.version,
                         .lease_end_ns = end_of_lease_here(pointer.lease_ns, sent_ns)});
}

Verifier Client::verifier() const {
  if (hello_.uses_checksums == 0) return {.verification = Verification::versions};
  if (hello_.has_keyed_checksums == 0) return {.verification = Verification::checksum};
  return {.verification = Verification::checksum,
          .checksum = stores::Checksum::keyed(hello_.incarnation)};
}

// GET

GetResult Client::get(std::span<const std::byte> key) {
  report_if_due();
  GetResult result;
  const Answer answer = look_up(key, result);
  return counts_.finish(answer, std::move(result));
}

Answer Client::look_up(std::span<const std::byte> key, GetResult& result) {
  if (key.empty()) return Answer::invalid_key;
  if (is_too_large(key, {})) return Answer::not_found;
  if (options_.gets == GetPath::reads && ensure_connected() && read(key, result)) {
    return Answer::found;
  }
  return get_by_message(key, result.value);
}

// False: there is no pointer whose lease runs, or it does not lead to the item.
bool Client::read(std::span<const std::byte> key, GetResult& result) {
  host_.spend(fabric::Work::hash, key.size());
  const std::uint64_t hash = hash_of_key(key);
  const CachedPointer* const found = pointers() == nullptr ? nullptr : pointers()->find(hash);
  if (found == nullptr) return false;
  const CachedPointer pointer = *found;
  if (options_.safeguards.lease_check && lease_clock_ns() >= pointer.lease_end_ns) {
    ++counts_.operation.expired_pointers;
    return false;
  }
  const auto item = connection_->read(pointer);
  if (!item) return false;
  const bool checks_again =
      options_.safeguards.lease_check && options_.safeguards.lease_check_after_read;
  if (checks_again && lease_clock_ns() >= pointer.lease_end_ns) {
    ++counts_.operation.late_reads;
    return false;
  }
  if (hello_.uses_checksums != 0) host_.spend(fabric::Work::crc64_check, item->size());
  const auto view = parse_item(verifier(), *item);
  if (!view || view->header.version != pointer.version || view->header.state != ItemState::live ||
      !std::ranges::equal(view->key, key)) {
    ++counts_.operation.changed_items;
    if (pointers() != nullptr) pointers()->drop(hash, pointer.version);
    return false;
  }
  ++counts_.operation.pointer_hits;
  if (pointers() != nullptr) pointers()->used(hash);
  result.value.assign(view->value.begin(), view->value.end());
  result.read_at = pointer.offset;
  return true;
}

Answer Client::get_by_message(std::span<const std::byte> key, std::vector<std::byte>& value) {
  ++counts_.operation.message_gets;
  Reply reply;
  const auto sent_ns = ask(RequestKind::get, key, reply);
  if (!sent_ns) return Answer::disconnected;
  keep(key, reply.header.pointer, *sent_ns);
  value = std::move(reply.value);
  return to_answer(reply.header.status);
}

std::optional<std::uint64_t> Client::ask(RequestKind kind, std::span<const std::byte> key,
                                         Reply& reply) {
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  while (ensure_connected()) {
    const RequestHeader header{.kind = kind,
                               .request_id = ++last_request_id_,
                               .key_bytes = static_cast<std::uint32_t>(key.size())};
    const std::uint64_t sent_ns = lease_clock_ns();
    switch (connection_->exchange(header, key, {}, deadline_ns, reply)) {
      case ExchangeOutcome::answered: return sent_ns;
      case ExchangeOutcome::not_sent:
      case ExchangeOutcome::in_doubt: break;
      case ExchangeOutcome::timed_out: return std::nullopt;
    }
  }
  return std::nullopt;
}

// SET, REMOVE and ping

Result Client::set(std::span<const std::byte> key, std::span<const std::byte> value,
                   std::uint64_t life_ns) {
  report_if_due();
  if (!key.empty() && is_too_large(key, value)) return finish(Answer::value_too_large);
  return finish(change(RequestKind::set, key, value, life_ns));
}

Result Client::remove(std::span<const std::byte> key) {
  report_if_due();
  if (is_too_large(key, {})) return finish(Answer::not_found);
  return finish(change(RequestKind::remove, key, {}, 0));
}

Answer Client::change(RequestKind kind, std::span<const std::byte> key,
                      std::span<const std::byte> value, std::uint64_t life_ns) {
  if (key.empty()) return Answer::invalid_key;
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  const RequestHeader header{.kind = kind,
                             .request_id = ++last_request_id_,
                             .key_bytes = static_cast<std::uint32_t>(key.size()),
                             .value_bytes = static_cast<std::uint32_t>(value.size()),
                             .argument = life_ns};
  while (ensure_connected()) {
    Reply reply;
    const std::uint64_t sent_ns = lease_clock_ns();
    switch (connection_->exchange(header, key, value, deadline_ns, reply)) {
      case ExchangeOutcome::answered:
        keep(key, reply.header.pointer, sent_ns);
        return to_answer(reply.header.status);
      case ExchangeOutcome::not_sent: break;
      case ExchangeOutcome::in_doubt:
      case ExchangeOutcome::timed_out: return Answer::unknown_outcome;
    }
  }
  return Answer::disconnected;
}

Result Client::ping() {
  Reply reply;
  const bool is_answered = ask(RequestKind::ping, {}, reply).has_value();
  return finish(is_answered ? to_answer(reply.header.status) : Answer::disconnected);
}

// Reports

Result Client::report() { return finish(send_report()); }

void Client::report_if_due() {
  if (options_.gets == GetPath::reads && node_->is_report_due(host_.now_ns())) send_report();
}

// As many entries as fit the container or a message, both as entries and as renewed leases.
std::vector<ReportEntry> Client::pick_report() {
  if (pointers() == nullptr) return {};
  std::vector<ReportEntry> entries = pointers()->pick();
  const std::size_t room_bytes = options_.report == ReportPath::write_and_notify
                                     ? std::min(options_.container_bytes, hello_.container_bytes)
                                     : hello_.largest_message_bytes - sizeof(ReplyHeader);
  entries.resize(std::min(entries.size(), room_bytes / sizeof(RenewedLease)));
  return entries;
}

ExchangeOutcome Client::exchange_report(std::span<const ReportEntry> entries, Reply& reply) {
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  RequestHeader header{.kind = RequestKind::report, .request_id = ++last_request_id_};
  const auto bytes = std::as_bytes(entries);
  if (options_.report == ReportPath::write_and_notify) {
    return connection_->report_by_write(header, bytes, deadline_ns, reply);
  }
  header.value_bytes = static_cast<std::uint32_t>(bytes.size());
  return connection_->exchange(header, {}, bytes, deadline_ns, reply);
}

// A report that is lost is not repeated: the leases that it would have renewed end.
Answer Client::send_report() {
  node_->reports(host_.now_ns());
  if (!ensure_connected()) return Answer::disconnected;
  const std::vector<ReportEntry> entries = pick_report();
  if (entries.empty()) return Answer::found;
  Reply reply;
  const std::uint64_t sent_ns = lease_clock_ns();
  if (exchange_report(entries, reply) != ExchangeOutcome::answered) {
    ++counts_.operation.lost_reports;
    return Answer::disconnected;
  }
  ++counts_.operation.reports;
  for (const auto& [hash, version, lease_ns] : rows_from_bytes<RenewedLease>(reply.value)) {
    if (lease_ns == 0) continue;
    ++counts_.operation.renewed_leases;
    if (pointers() == nullptr) continue;
    pointers()->renew(hash, version, end_of_lease_here(lease_ns, sent_ns));
  }
  return to_answer(reply.header.status);
}

}  // namespace falafel::c_hint
