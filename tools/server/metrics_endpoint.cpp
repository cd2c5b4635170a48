#include "tools/server/metrics_endpoint.h"

#include <fmt/format.h>

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <sstream>

namespace falafel::server_program {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

// One connection with one request. The session lives until its last handler has run.
class MetricsSession : public std::enable_shared_from_this<MetricsSession> {
 public:
  MetricsSession(Tcp::socket socket, ReportSource source)
      : stream_(std::move(socket)), source_(std::move(source)) {}

  void start() {
    constexpr std::chrono::seconds patience(5);
    stream_.expires_after(patience);
    http::async_read(stream_, buffer_, request_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->reply();
                     });
  }

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
    } else if (const auto report = source_()) {
      response_.body() = to_prometheus(*report);
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
  ReportSource source_;
  beast::flat_buffer buffer_;
  http::request<http::empty_body> request_;
  http::response<http::string_body> response_;
};

std::optional<Tcp::endpoint> parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  if (error || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return Tcp::endpoint(address, port);
}

fabric::ErrorCode code_of_binding(const error_code& error) {
  if (error == asio::error::address_in_use) return fabric::ErrorCode::address_in_use;
  if (error == asio::error::access_denied) return fabric::ErrorCode::access_denied;
  return fabric::ErrorCode::invalid_argument;
}

}  // namespace

fabric::Result<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::listen(asio::io_context& context,
                                                                         const std::string& address,
                                                                         ReportSource source) {
  const auto endpoint = parse(address);
  if (!endpoint) {
    return fabric::make_error(
        fabric::ErrorCode::invalid_argument,
        fmt::format("--metrics {}: not an address and port; use the form 127.0.0.1:9100", address));
  }
  std::unique_ptr<MetricsEndpoint> metrics(new MetricsEndpoint(context, std::move(source)));
  try {
    metrics->acceptor_.open(endpoint->protocol());
    metrics->acceptor_.set_option(Tcp::acceptor::reuse_address(true));
    metrics->acceptor_.bind(*endpoint);
    metrics->acceptor_.listen();
  } catch (const boost::system::system_error& error) {
    return fabric::make_error(code_of_binding(error.code()),
                              fmt::format("--metrics {}: {}; choose another address or port",
                                          address, error.code().message()));
  }
  metrics->accept();
  return metrics;
}

std::string MetricsEndpoint::address() const {
  std::ostringstream text;
  text << acceptor_.local_endpoint();
  return text.str();
}

void MetricsEndpoint::accept() {
  acceptor_.async_accept([this](error_code error, Tcp::socket socket) {
    if (error == asio::error::operation_aborted) return;
    if (!error) std::make_shared<MetricsSession>(std::move(socket), source_)->start();
    accept();
  });
}

}  // namespace falafel::server_program
