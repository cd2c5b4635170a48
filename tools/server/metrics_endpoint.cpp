#include "tools/server/metrics_endpoint.h"

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "tools/server/listening.h"

namespace falafel::server_program {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

}  // namespace

// One connection with one request. The session lives until its last handler has run.
class MetricsSession : public std::enable_shared_from_this<MetricsSession> {
 public:
  MetricsSession(Tcp::socket socket, MetricsSource source)
      : stream_(std::move(socket)), source_(std::move(source)) {}

  // The patience is for all of the connection.
  void start(std::chrono::milliseconds patience) {
    stream_.expires_after(patience);
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->reply();
                     });
  }
  void close() { stream_.close(); }

 private:
  void reply() {
    response_.version(request_.version());
    response_.keep_alive(false);
    response_.set(http::field::content_type, "text/plain; version=0.0.4");
    if (request_.target() != "/metrics") {
      response_.result(http::status::not_found);
      response_.body() = "see /metrics\n";
    } else if (request_.method() != http::verb::get) {
      response_.result(http::status::method_not_allowed);
      response_.body() = "only GET is supported\n";
    } else if (auto metrics = source_()) {
      response_.body() = std::move(*metrics);
    } else {
      response_.result(http::status::service_unavailable);
      response_.body() = "the server does not answer\n";
    }
    response_.prepare_payload();
    http::async_write(stream_, response_, [self = shared_from_this()](error_code, std::size_t) {
      error_code ignored;
      self->stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  MetricsSource source_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response<http::string_body> response_;
};

fabric::Result<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::listen(
    asio::io_context& context, const std::string& address, MetricsSource source,
    const ConnectionLimits& limits) {
  auto acceptor = listen_at(context, "--metrics", address);
  if (!acceptor) return tl::unexpected(acceptor.error());
  std::unique_ptr<MetricsEndpoint> metrics(
      new MetricsEndpoint(std::move(*acceptor), std::move(source), limits));
  metrics->accept();
  return metrics;
}

std::string MetricsEndpoint::address() const { return address_of(acceptor_); }

void MetricsEndpoint::accept() {
  acceptor_.async_accept([this](error_code error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (error) return accept_after_pause(acceptor_, [this] { accept(); });
    begin_session(std::move(socket));
    accept();
  });
}

void MetricsEndpoint::begin_session(Tcp::socket socket) {
  const auto session = std::make_shared<MetricsSession>(std::move(socket), source_);
  if (const auto oldest = sessions_.admit(session)) oldest->close();
  session->start(patience_);
}

}  // namespace falafel::server_program
