#include "fabric/stream/connector.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <string_view>
#include <utility>

#include "fabric/posting_rules.h"
#include "fabric/realtime/fiber_operation.h"
#include "fabric/stream/handshake.h"

namespace falafel::stream {

using boost::system::error_code;
using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// The state that the pending operations use; each of them shares ownership.
struct Call {
  explicit Call(asio::io_context& reactor) : resolver(reactor), socket(reactor) {}

  tcp::resolver resolver;
  tcp::resolver::results_type endpoints;
  tcp::socket socket;
  Greeting offer;
  Greeting answer;
};

// Cancels what is pending when the caller gives up, or its fiber is unwound.
class CallEnd {
 public:
  explicit CallEnd(Call& call) : call_(call) {}
  ~CallEnd() {
    error_code ignored;
    call_.socket.close(ignored);
    call_.resolver.cancel();
  }
  CallEnd(const CallEnd&) = delete;
  CallEnd& operator=(const CallEnd&) = delete;

 private:
  Call& call_;
};

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

Result<Endpoint> find_service(const HostOptions& options, const fabric::Address& address) {
  if (options.services == nullptr) return Endpoint{.host = address.host, .port = address.service};
  auto host = options.services->find_host(address.host);
  if (!host) return make_error(ErrorCode::unreachable, "there is no such host");
  const auto port = options.services->find_port(address);
  if (!port) return make_error(ErrorCode::connection_refused, "nobody listens there");
  return Endpoint{.host = std::move(*host), .port = *port};
}

// One step after the other, until the first that fails.
std::optional<error_code> exchange_greetings(fabric::FiberScheduler& scheduler,
                                             const std::shared_ptr<Call>& call,
                                             const Endpoint& endpoint, std::uint64_t deadline_ns) {
  const auto resolve = [&](auto handler) {
    call->resolver.async_resolve(
        endpoint.host, std::to_string(endpoint.port), tcp::resolver::numeric_service,
        [call, handler](const error_code& error, const tcp::resolver::results_type& found) {
          call->endpoints = found;
          handler(error);
        });
  };
  const auto open = [&](auto handler) {
    asio::async_connect(call->socket, call->endpoints,
                        [call, handler](const error_code& error, const auto&) { handler(error); });
  };
  const auto offer = [&](auto handler) {
    asio::async_write(call->socket, asio::buffer(&call->offer, sizeof(Greeting)),
                      [call, handler](const error_code& error, std::size_t) { handler(error); });
  };
  const auto await_answer = [&](auto handler) {
    asio::async_read(call->socket, asio::buffer(&call->answer, sizeof(Greeting)),
                     [call, handler](const error_code& error, std::size_t) { handler(error); });
  };
  const auto run = [&](const auto& step) {
    return fabric::wait_for_operation(scheduler, deadline_ns, step);
  };
  if (auto error = run(resolve); !error || *error) return error;
  if (auto error = run(open); !error || *error) return error;
  if (auto error = run(offer); !error || *error) return error;
  return run(await_answer);
}

std::string reason_of(const Greeting& rejection) {
  const fabric::PrivateData reason = data_of(rejection);
  const std::string_view text(reinterpret_cast<const char*>(reason.data()), reason.size());
  return fmt::format("it rejected the connection{}{}", text.empty() ? "" : ": ", text);
}

// Why the exchange did not lead to a connection; nothing if it did.
std::optional<fabric::Error> failure_of(const std::optional<error_code>& error,
                                        const Greeting& answer) {
  if (!error) return fabric::Error{ErrorCode::unreachable, "it did not answer in time"};
  if (*error == asio::error::connection_refused) {
    return fabric::Error{ErrorCode::connection_refused, "nobody listens there"};
  }
  if (*error == asio::error::eof || *error == asio::error::connection_reset) {
    return fabric::Error{ErrorCode::connection_refused, "it disconnected"};
  }
  if (*error) return fabric::Error{ErrorCode::unreachable, error->message()};
  if (std::string problem = problem_of(answer); !problem.empty()) {
    return fabric::Error{ErrorCode::connection_refused, std::move(problem)};
  }
  if (answer.kind == GreetingKind::acceptance) return std::nullopt;
  return fabric::Error{ErrorCode::connection_refused, reason_of(answer)};
}

}  // namespace

Result<fabric::Connection> connect_to_service(Device& device, const fabric::Address& address,
                                              const fabric::QueuePairOptions& options,
                                              const fabric::PrivateData& private_data,
                                              std::uint64_t deadline_ns) {
  if (auto checked = fabric::check_private_data(private_data); !checked) {
    return tl::unexpected(checked.error());
  }
  auto queue_pair = device.create_queue_pair(options);
  if (!queue_pair) return tl::unexpected(queue_pair.error());
  const auto fail = [&](const fabric::Error& error) {
    return make_error(error.code, fmt::format("service {} of {}: {}", address.service, address.host,
                                              error.detail));
  };
  Site& site = device.site();
  const auto endpoint = find_service(site.options, address);
  if (!endpoint) return fail(endpoint.error());
  const auto call = std::make_shared<Call>(site.network.reactor());
  const CallEnd end(*call);
  call->offer = make_greeting(GreetingKind::offer, private_data);
  const auto error = exchange_greetings(site.scheduler, call, *endpoint, deadline_ns);
  if (const auto failure = failure_of(error, call->answer)) return fail(*failure);
  (*queue_pair)->attach(std::move(call->socket));
  return fabric::Connection{.queue_pair = std::move(*queue_pair),
                            .private_data = data_of(call->answer)};
}

}  // namespace falafel::stream
