#include "stores/nessie/client.h"

#include <algorithm>
#include <utility>

#include "stores/nessie/client_state.h"
#include "stores/nessie/get.h"
#include "stores/nessie/put.h"
#include "stores/nessie/request.h"

namespace falafel::nessie {

Client::Client(std::unique_ptr<ClientState> state) : state_(std::move(state)) {}

Client::~Client() = default;

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host, Node& own_node,
                                                        std::span<const fabric::Address> nodes,
                                                        const Options& options) {
  if (own_node.number() >= nodes.size()) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              "the own node has number " + std::to_string(own_node.number()) +
                                  ", but only " + std::to_string(nodes.size()) +
                                  " addresses were given");
  }
  return create(host, &own_node, nodes, options);
}

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host,
                                                        std::span<const fabric::Address> nodes,
                                                        const Options& options) {
  if (options.is_client_driven()) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              "a client of NessieCD needs a node of its own host, whose data table "
                              "it fills");
  }
  return create(host, nullptr, nodes, options);
}

fabric::Result<std::unique_ptr<Client>> Client::create(fabric::Host& host, Node* own_node,
                                                       std::span<const fabric::Address> nodes,
                                                       const Options& options) {
  if (auto problem = find_invalid_option(options, nodes.size(), host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  auto state = std::make_unique<ClientState>(host, own_node, options);
  if (auto connected = state->connect(nodes); !connected) {
    return tl::unexpected(connected.error());
  }
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

namespace {

bool is_valid_key(std::span<const std::byte> key, const Options& options) {
  return !key.empty() && key.size() <= options.most_key_bytes;
}

}  // namespace

GetResult Client::get(std::span<const std::byte> key) {
  if (!is_valid_key(key, state_->options)) return {.answer = Answer::invalid_key};
  if (state_->options.architecture == Architecture::server_driven) {
    return request_get(*state_, key);
  }
  return Get(*state_, key).run();
}

Answer Client::put(std::span<const std::byte> key, std::span<const std::byte> value) {
  if (!is_valid_key(key, state_->options)) return Answer::invalid_key;
  if (value.size() > state_->options.most_value_bytes) return Answer::value_too_large;
  if (!state_->options.is_client_driven()) return request_put(*state_, key, value);
  return Put(*state_, key, value).run();
}

Answer Client::remove(std::span<const std::byte> key) {
  if (!is_valid_key(key, state_->options)) return Answer::invalid_key;
  if (!state_->options.is_client_driven()) return request_remove(*state_, key);
  return Put(*state_, key, std::nullopt).run();
}

void Client::mark_staged() { state_->mark_staged(); }

const OperationStatistics& Client::statistics() const { return state_->statistics; }

void Backoff::pause() {
  host_.sleep_until(host_.now_ns() + 1 + host_.random(next_ns_));
  next_ns_ = std::min(2 * next_ns_, longest_ns);
}

}  // namespace falafel::nessie
