#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "fabric/posting_rules.h"
#include "fabric/realtime/fiber_operation.h"
#include "fabric/verbs/connector.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/handshake.h"
#include "fabric/verbs/network.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// The state that the pending operations use; each of them shares ownership.
struct Attempt {
  explicit Attempt(asio::io_context& reactor) : resolver(reactor), socket(reactor) {}

  tcp::resolver resolver;
  tcp::resolver::results_type endpoints;
  tcp::socket socket;
  HandshakeMessage offer;
  HandshakeMessage answer;
};

class Connector {
 public:
  Connector(Device& device, const fabric::Address& address, std::uint64_t deadline_ns)
      : device_(device),
        address_(address),
        deadline_ns_(deadline_ns),
        attempt_(std::make_shared<Attempt>(device.network().reactor())) {}
  ~Connector() {
    error_code ignored;
    attempt_->socket.close(ignored);
    attempt_->resolver.cancel();
  }
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // After the exchange.
  tcp::socket take_socket() { return std::move(attempt_->socket); }

  // Sends the offer and returns the body of the answer if the listener accepts.
  Result<HandshakeBody> exchange(const HandshakeBody& offer) {
    attempt_->offer.body = offer;
    for (const auto step : {&Connector::resolve, &Connector::open, &Connector::send_offer,
                            &Connector::receive_answer}) {
      if (Result<void> done = (this->*step)(); !done) return tl::unexpected(done.error());
    }
    return attempt_->answer.body;
  }

 private:
  Result<void> resolve() {
    return wait(ErrorCode::unreachable, "cannot resolve the name", [this](auto handler) {
      attempt_->resolver.async_resolve(
          address_.host, std::to_string(address_.service), tcp::resolver::numeric_service,
          [attempt = attempt_, handler](const error_code& error,
                                        const tcp::resolver::results_type& endpoints) {
            attempt->endpoints = endpoints;
            handler(error);
          });
    });
  }

  Result<void> open() {
    return wait(ErrorCode::unreachable, "cannot reach it", [this](auto handler) {
      asio::async_connect(
          attempt_->socket, attempt_->endpoints,
          [attempt = attempt_, handler](const error_code& error, const auto&) { handler(error); });
    });
  }

  Result<void> send_offer() {
    return wait(ErrorCode::connection_refused, "it disconnected", [this](auto handler) {
      asio::async_write(
          attempt_->socket, asio::buffer(&attempt_->offer, sizeof(HandshakeMessage)),
          [attempt = attempt_, handler](const error_code& error, std::size_t) { handler(error); });
    });
  }

  // Receives the head first, because the body of another version may be shorter.
  Result<void> receive_answer() {
    const auto receive = [this](void* part, std::size_t size_bytes) {
      return wait(ErrorCode::connection_refused, "it disconnected", [=, this](auto handler) {
        asio::async_read(attempt_->socket, asio::buffer(part, size_bytes),
                         [attempt = attempt_, handler](const error_code& error, std::size_t) {
                           handler(error);
                         });
      });
    };
    HandshakeMessage& answer = attempt_->answer;
    if (Result<void> head = receive(&answer.head, sizeof answer.head); !head) return head;
    if (const std::string problem = problem_of(answer.head); !problem.empty()) {
      return fail(ErrorCode::connection_refused, problem);
    }
    if (Result<void> body = receive(&answer.body, sizeof answer.body); !body) return body;
    if (answer.head.kind == HandshakeKind::acceptance) return {};
    const fabric::PrivateData reason = private_data_of(answer.body);
    return fail(
        ErrorCode::connection_refused,
        fmt::format("it rejected the connection{}{}", reason.empty() ? "" : ": ",
                    std::string_view(reinterpret_cast<const char*>(reason.data()), reason.size())));
  }

  template <typename Start>
  Result<void> wait(ErrorCode code, std::string_view what, const Start& start) {
    const auto error = wait_for_operation(device_.scheduler(), deadline_ns_, start);
    if (!error) return fail(ErrorCode::unreachable, "it did not answer in time");
    if (*error == asio::error::connection_refused) {
      return fail(ErrorCode::connection_refused, "nobody listens there; is the server running?");
    }
    if (*error) return fail(code, fmt::format("{}: {}", what, error->message()));
    return {};
  }

  tl::unexpected<fabric::Error> fail(ErrorCode code, std::string_view why) const {
    return make_error(code,
                      fmt::format("service {} of {}: {}", address_.service, address_.host, why));
  }

  Device& device_;
  const fabric::Address& address_;
  std::uint64_t deadline_ns_;
  std::shared_ptr<Attempt> attempt_;
};

}  // namespace

Result<fabric::Connection> connect_to_listener(Device& device, const fabric::Address& address,
                                               const fabric::QueuePairOptions& options,
                                               const fabric::PrivateData& private_data,
                                               std::uint64_t deadline_ns) {
  if (options.transport == fabric::Transport::unreliable_datagram) {
    return make_error(ErrorCode::unsupported, "transport: UD is not connected; use RC");
  }
  if (Result<void> checked = fabric::check_private_data(private_data); !checked) {
    return tl::unexpected(checked.error());
  }
  auto queue_pair = device.create_queue_pair(options);
  if (!queue_pair) return tl::unexpected(queue_pair.error());
  HandshakeBody own = device.describe(**queue_pair, options);
  set_private_data(own, private_data);
  Connector connector(device, address, deadline_ns);
  const auto answer = connector.exchange(own);
  if (!answer) return tl::unexpected(answer.error());
  const auto route = agree(own, *answer);
  if (!route) return tl::unexpected(route.error());
  if (Result<void> joined = (*queue_pair)->join(*route); !joined) {
    return tl::unexpected(joined.error());
  }
  if (own.hears_close != 0 || answer->hears_close != 0) {
    (*queue_pair)
        ->attach(std::make_shared<ClosingNotice>(device.scheduler(), connector.take_socket()));
  }
  return fabric::Connection{.queue_pair = std::move(*queue_pair),
                            .private_data = private_data_of(*answer)};
}

}  // namespace falafel::verbs
