#include "stores/pilaf/client.h"

#include <utility>

#include "stores/exchange/reconnect.h"
#include "stores/pilaf/lookup.h"

namespace falafel::pilaf {
namespace {

Answer to_answer(ReplyStatus status) {
  switch (status) {
    case ReplyStatus::stored: return Answer::stored;
    case ReplyStatus::deleted: return Answer::deleted;
    case ReplyStatus::alive:
    case ReplyStatus::found: return Answer::found;
    case ReplyStatus::not_found: return Answer::not_found;
    case ReplyStatus::out_of_memory: return Answer::out_of_memory;
    case ReplyStatus::growing: break;
  }
  return Answer::unknown_outcome;  // of a server that does not keep to the protocol
}

}  // namespace

OperationStatistics& OperationStatistics::operator+=(const OperationStatistics& other) {
  Traffic::operator+=(other);
  probes += other.probes;
  entry_retries += other.entry_retries;
  extent_retries += other.extent_retries;
  wild_pointers += other.wild_pointers;
  absence_retries += other.absence_retries;
  message_gets += other.message_gets;
  reconnections += other.reconnections;
  return *this;
}

// Connections

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host,
                                                        const fabric::Address& server,
                                                        const Options& options) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  std::unique_ptr<Client> client(new Client(host, server, options));
  auto connection =
      Connection::open(host, server, client->options_, client->id_, client->counts_.operation);
  if (!connection) return tl::unexpected(connection.error());
  client->connection_ = std::move(*connection);
  client->incarnation_ = client->connection_->server().incarnation;
  client->largest_request_bytes_ = client->connection_->server().largest_request_bytes;
  return client;
}

// Connects again if need be. False: not within server_timeout_ns, or never again.
bool Client::ensure_connected() {
  if (is_lost_) return false;
  if (connection_ != nullptr && connection_->is_up()) return true;
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  connection_.reset();
  connection_ = stores::reconnect(host_, deadline_ns, options_.reconnect_pause_ns, [this] {
    return Connection::open(host_, server_, options_, id_, counts_.operation);
  });
  if (connection_ == nullptr) return false;
  ++counts_.operation.reconnections;
  is_lost_ = connection_->server().incarnation != incarnation_;
  return !is_lost_;
}

bool Client::is_too_large(std::span<const std::byte> key, std::span<const std::byte> value) const {
  return sizeof(RequestHeader) + key.size() + value.size() > largest_request_bytes_;
}

Result Client::finish(Answer answer) { return counts_.finish(answer, Result()); }

// GET and contains

GetResult Client::get(std::span<const std::byte> key) {
  GetResult result;
  const Answer answer = look_up(key, &result.value);
  return counts_.finish(answer, std::move(result));
}

Result Client::contains(std::span<const std::byte> key) { return finish(look_up(key, nullptr)); }

std::uint64_t Client::most_retries() const {
  if (options_.max_retries) return *options_.max_retries;
  return options_.safeguards.bounded_retries ? options_.retries_before_message : ~std::uint64_t{0};
}

Answer Client::look_up(std::span<const std::byte> key, std::vector<std::byte>* value) {
  if (key.empty()) return Answer::invalid_key;
  if (is_too_large(key, {})) return Answer::not_found;
  if (options_.gets == GetPath::messages) return get_by_message(key, value);
  while (ensure_connected()) {
    Lookup lookup(host_, *connection_, options_, counts_.operation, key, most_retries());
    switch (lookup.run()) {
      case LookupOutcome::found:
        if (value != nullptr) value->assign(lookup.value().begin(), lookup.value().end());
        return Answer::found;
      case LookupOutcome::not_found: return Answer::not_found;
      case LookupOutcome::exhausted:
        return options_.max_retries ? Answer::busy : get_by_message(key, value);
      case LookupOutcome::changed:
      case LookupOutcome::broken: break;
    }
  }
  return Answer::disconnected;
}

Answer Client::get_by_message(std::span<const std::byte> key, std::vector<std::byte>* value) {
  ++counts_.operation.message_gets;
  Reply reply;
  const Answer answer = ask(RequestKind::get, key, reply);
  if (value != nullptr) *value = std::move(reply.value);
  return answer;
}

// A request that changes nothing, as GET and ping do, is repeated on the next connection.
Answer Client::ask(RequestKind kind, std::span<const std::byte> key, Reply& reply) {
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  while (ensure_connected()) {
    const RequestHeader header{.kind = kind,
                               .request_id = ++last_request_id_,
                               .key_bytes = static_cast<std::uint32_t>(key.size())};
    switch (connection_->exchange(header, key, {}, deadline_ns, reply)) {
      case ExchangeOutcome::answered: return to_answer(reply.status);
      case ExchangeOutcome::not_sent:
      case ExchangeOutcome::in_doubt: break;
      case ExchangeOutcome::timed_out: return Answer::disconnected;
    }
  }
  return Answer::disconnected;
}

// PUT, DELETE and ping

Result Client::set(std::span<const std::byte> key, std::span<const std::byte> value) {
  if (!key.empty() && is_too_large(key, value)) return finish(Answer::value_too_large);
  return finish(change(RequestKind::put, key, value));
}

Result Client::remove(std::span<const std::byte> key) {
  if (is_too_large(key, {})) return finish(Answer::not_found);
  return finish(change(RequestKind::remove, key, {}));
}

// A server that has restarted does not know whether it had carried out the change before.
Answer Client::change(RequestKind kind, std::span<const std::byte> key,
                      std::span<const std::byte> value) {
  if (key.empty()) return Answer::invalid_key;
  const std::uint64_t deadline_ns = host_.now_ns() + options_.server_timeout_ns;
  const RequestHeader header{.kind = kind,
                             .request_id = ++last_request_id_,
                             .key_bytes = static_cast<std::uint32_t>(key.size()),
                             .value_bytes = static_cast<std::uint32_t>(value.size())};
  std::optional<std::uint16_t> sent_to;  // that run of the server
  while (ensure_connected()) {
    const std::uint16_t run = connection_->server().run;
    if (sent_to && sent_to != run) return Answer::unknown_outcome;
    Reply reply;
    switch (connection_->exchange(header, key, value, deadline_ns, reply)) {
      case ExchangeOutcome::answered: return to_answer(reply.status);
      case ExchangeOutcome::not_sent: break;
      case ExchangeOutcome::timed_out: return Answer::unknown_outcome;
      case ExchangeOutcome::in_doubt:
        if (options_.put_on_reset == PutOnReset::report_unknown) return Answer::unknown_outcome;
        sent_to = run;
        break;
    }
  }
  return sent_to ? Answer::unknown_outcome : Answer::disconnected;
}

Result Client::ping() {
  Reply reply;
  return finish(ask(RequestKind::ping, {}, reply));
}

}  // namespace falafel::pilaf
