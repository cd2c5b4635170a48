#include "stores/c_hint/server.h"

#include <string>
#include <utility>

#include "stores/c_hint/server_state.h"

namespace falafel::c_hint {

fabric::Result<std::unique_ptr<Server>> Server::start(fabric::Host& host, const Options& options,
                                                      Backend* backend) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  auto state = std::make_shared<ServerState>(host, options, backend);
  if (const auto started = state->start(); !started) return tl::unexpected(started.error());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::shared_ptr<ServerState> state) : state_(std::move(state)) {}

Server::~Server() { state_->stop(); }

ServerInspection Server::inspect() const { return state_->inspect(); }

ServerStatistics Server::statistics() const { return state_->statistics(); }

fabric::MemoryBlock& Server::memory() { return state_->memory(); }

const Directory& Server::directory_of(Item item) const {
  return state_->shard_of_hash(item).directory();
}

}  // namespace falafel::c_hint
