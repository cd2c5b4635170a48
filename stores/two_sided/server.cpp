#include "stores/two_sided/server.h"

#include <string>
#include <utility>

#include "stores/two_sided/server_state.h"

namespace falafel::two_sided {

fabric::Result<std::unique_ptr<Server>> Server::start(fabric::Host& host, const Options& options) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  auto state = std::make_shared<ServerState>(host, options);
  if (const auto started = state->start(); !started) return tl::unexpected(started.error());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::shared_ptr<ServerState> state) : state_(std::move(state)) {}

Server::~Server() { state_->stop(); }

ServerInspection Server::inspect() const { return state_->inspect(); }

ServerStatistics Server::statistics() const { return state_->statistics(); }

}  // namespace falafel::two_sided
