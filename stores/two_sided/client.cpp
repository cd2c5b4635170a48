#include "stores/two_sided/client.h"

#include <algorithm>
#include <utility>

#include "stores/bytes.h"

namespace falafel::two_sided {
namespace {

// All of them have the same buffer.
constexpr std::uint32_t most_receives = 8;

constexpr PortSizes sizes_of_client{.received_bytes = sizeof(Response),
                                    .sent_bytes = sizeof(Request),
                                    .receive_requests = most_receives};

// The key and the value fit.
Request make_request(Method method, std::span<const std::byte> key = {},
                     std::span<const std::byte> value = {}) {
  Request request;
  request.method = method;
  std::ranges::copy(key, request.key.begin());
  request.key_bytes = key.size();
  std::ranges::copy(value, request.message.begin());
  request.message_bytes = value.size();
  return request;
}

}  // namespace

OperationStatistics& OperationStatistics::operator+=(const OperationStatistics& other) {
  Traffic::operator+=(other);
  repetitions += other.repetitions;
  stale_responses += other.stale_responses;
  return *this;
}

// Connecting

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host,
                                                        const fabric::Address& server,
                                                        const Options& options) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  std::unique_ptr<Client> client(new Client(host, options));
  if (auto opened = client->open(server); !opened) return tl::unexpected(opened.error());
  return client;
}

fabric::Result<void> Client::open(const fabric::Address& server) {
  auto port = Port::create(host_, options_, sizes_of_client);
  if (!port) return tl::unexpected(port.error());
  const fabric::Transport transport =
      options_.uses_datagrams() ? fabric::Transport::reliable_connection : options_.transport;
  auto connected = host_.device(0).connect(
      server, (*port)->queue_pair_options(transport),
      stores::to_private_data(
          ClientHello{.transport = static_cast<std::uint32_t>(options_.transport)}),
      host_.now_ns() + options_.connect_timeout_ns);
  if (!connected) return tl::unexpected(connected.error());
  const auto hello = stores::from_bytes<ServerHello>(connected->private_data);
  if (!hello || hello->magic != hello_magic || hello->version != layout_version) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              server.host + " is no two-sided server of this version");
  }
  id_ = hello->client_id;
  (*port)->attach(std::move(connected->queue_pair));
  if (options_.uses_datagrams()) {
    side_channel_ = std::move(*port);
    if (auto opened = open_datagrams(server, *hello); !opened) return opened;
  } else {
    port_ = std::move(*port);
  }
  if (!options_.safeguards.time_outs) post_receive();
  return {};
}

fabric::Result<void> Client::open_datagrams(const fabric::Address& server,
                                            const ServerHello& hello) {
  fabric::Device& device = host_.device(0);
  auto address = device.resolve(server.host, hello.queue_pair_number);
  if (!address) return tl::unexpected(address.error());
  auto port = Port::create(host_, options_, sizes_of_client);
  if (!port) return tl::unexpected(port.error());
  auto queue_pair =
      device.create_datagram_queue_pair((*port)->queue_pair_options(options_.transport));
  if (!queue_pair) return tl::unexpected(queue_pair.error());
  (*port)->attach(std::move(*queue_pair));
  server_ = *address;
  port_ = std::move(*port);
  return {};
}

// Exchanges

std::uint64_t Client::operation_deadline_ns() const {
  return options_.safeguards.time_outs ? host_.now_ns() + options_.server_timeout_ns
                                       : fabric::never_ns;
}

Client::Exchange Client::exchange(Request& request, Response& response, std::uint64_t deadline_ns) {
  if (is_down_) return Exchange::not_sent;
  request.client_id = id_;
  request.request_number = ++last_request_number_;
  ++counts_.operation.round_trips;
  while (true) {
    if (!post_receive()) return give_up();
    ++counts_.operation.verbs;
    counts_.operation.bytes_sent += sizeof request;
    if (port_->send(0, stores::bytes_of(request), server_, deadline_ns) != PortOutcome::done) {
      is_down_ = true;
      return Exchange::in_doubt;
    }
    const std::uint64_t repeat_ns = host_.now_ns() + options_.repetition_interval_ns;
    const bool repeats = options_.repeats_requests();
    if (await_response(repeats ? std::min(deadline_ns, repeat_ns) : deadline_ns, response)) {
      return Exchange::answered;
    }
    if (is_down_ || host_.now_ns() >= deadline_ns) return give_up();
    ++counts_.operation.repetitions;
  }
}

// The program posts a receive request for each request that it sends, and one in advance. It ends
// when its queue is full. With time-outs, there is one at a time. False: the queue is full.
bool Client::post_receive() {
  if (options_.safeguards.time_outs && posted_receives_ > 0) return true;
  if (posted_receives_ == most_receives) {
    is_down_ = true;
    return false;
  }
  ++posted_receives_;
  port_->post_receive(0);
  return true;
}

// A connection of RC or TCP on which a response is due is of no more use.
Client::Exchange Client::give_up() {
  if (options_.is_reliable()) is_down_ = true;
  return Exchange::in_doubt;
}

// False: none by the deadline, or the connection is down.
bool Client::await_response(std::uint64_t deadline_ns, Response& response) {
  while (!is_down_) {
    Arrival arrival;
    const PortOutcome outcome = port_->receive(arrival, deadline_ns);
    if (outcome == PortOutcome::broken) is_down_ = true;
    if (outcome != PortOutcome::done) return false;
    --posted_receives_;
    if (take_response(arrival, response)) return true;
    ++counts_.operation.stale_responses;
    post_receive();
  }
  return false;
}

bool Client::take_response(const Arrival& arrival, Response& response) {
  counts_.operation.bytes_received += arrival.length_bytes;
  const auto received = stores::from_bytes<Response>(port_->message(arrival));
  if (!received) return false;
  const bool is_awaited = received->request_number == last_request_number_;
  if (options_.safeguards.response_matching && !is_awaited) return false;
  response = *received;
  return true;
}

Result Client::finish(Answer answer) { return counts_.finish(answer, Result()); }

// Operations

GetResult Client::get(std::span<const std::byte> key) {
  GetResult result;
  Answer answer = Answer::disconnected;
  if (key.empty()) {
    answer = Answer::invalid_key;
  } else if (key.size() > most_key_bytes) {
    answer = Answer::not_found;
  } else {
    Request request = make_request(Method::get, key);
    Response response;
    if (exchange(request, response, operation_deadline_ns()) == Exchange::answered) {
      const auto value = message_of(response);
      const bool is_found = response.code == ResponseCode::ok && value.has_value();
      if (is_found) result.value.assign(value->begin(), value->end());
      answer = is_found ? Answer::found : Answer::not_found;
    }
  }
  return counts_.finish(answer, std::move(result));
}

Result Client::set(std::span<const std::byte> key, std::span<const std::byte> value) {
  if (key.size() > most_key_bytes || value.size() > most_value_bytes) {
    return finish(Answer::value_too_large);
  }
  return finish(change(Method::set, key, value));
}

Result Client::remove(std::span<const std::byte> key) {
  if (key.size() > most_key_bytes) return finish(Answer::not_found);
  return finish(change(Method::remove, key, {}));
}

Answer Client::change(Method method, std::span<const std::byte> key,
                      std::span<const std::byte> value) {
  if (key.empty()) return Answer::invalid_key;
  Request request = make_request(method, key, value);
  return command(request, method == Method::set ? Answer::stored : Answer::deleted,
                 operation_deadline_ns());
}

Result Client::ping() {
  Request request = make_request(Method::ping);
  const Answer answer = command(request, Answer::found, operation_deadline_ns());
  return finish(answer == Answer::found ? answer : Answer::disconnected);
}

Result Client::reset() {
  Request request = make_request(Method::reset);
  return finish(command(request, Answer::deleted, operation_deadline_ns()));
}

Result Client::close() {
  Request request = make_request(Method::ping);
  request.connection_closed = 1;
  const Answer answer =
      command(request, Answer::deleted, host_.now_ns() + options_.close_timeout_ns);
  is_down_ = true;
  return finish(answer);
}

Answer Client::command(Request& request, Answer success, std::uint64_t deadline_ns) {
  Response response;
  switch (exchange(request, response, deadline_ns)) {
    case Exchange::not_sent: return Answer::disconnected;
    case Exchange::in_doubt: return Answer::unknown_outcome;
    case Exchange::answered: break;
  }
  switch (response.code) {
    case ResponseCode::ok: return success;
    case ResponseCode::key_error:
      return request.method == Method::set ? Answer::busy : Answer::not_found;
    case ResponseCode::store_error: return Answer::out_of_memory;
    case ResponseCode::parsing_error: return Answer::invalid_key;
    case ResponseCode::set_option_error:
    case ResponseCode::unknown_error: break;
  }
  return Answer::unknown_outcome;  // of a server that does not keep to the protocol
}

}  // namespace falafel::two_sided
