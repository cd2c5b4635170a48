#include "falafel/etcd_exchange.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

namespace falafel {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

class EtcdTls {
 public:
  EtcdTls() : context(asio::ssl::context::tls_client) {}

  asio::ssl::context context;
};

namespace {

constexpr std::size_t most_answer_bytes = 1 << 20;
constexpr std::size_t bytes_per_read = 16 << 10;

std::string http_text_of(const EtcdEndpoint& endpoint, const EtcdRequest& request) {
  constexpr unsigned http_1_1 = 11;
  http::request<http::string_body> sent(http::verb::post, request.target, http_1_1);
  sent.set(http::field::host, endpoint.host);
  sent.set(http::field::content_type, "application/json");
  if (!request.token.empty()) sent.set(http::field::authorization, request.token);
  sent.body() = request.body;
  sent.prepare_payload();
  std::ostringstream text;
  text << sent;
  return text.str();
}

using TlsStream = asio::ssl::stream<asio::ip::tcp::socket&>;

// The steps of an exchange; each begins the next one. Texts are sent and read here, and not by
// Beast, which would be compiled for each kind of stream.
class Exchange {
 public:
  Exchange(asio::io_context& context, const EtcdEndpoint& endpoint, const EtcdRequest& request,
           const EtcdPatience& patience)
      : resolver_(context),
        socket_(context),
        endpoint_(endpoint),
        request_(http_text_of(endpoint, request)),
        patience_(patience) {
    parser_.body_limit(most_answer_bytes);
    parser_.eager(true);
  }

  TlsStream& add_tls(asio::ssl::context& context) { return tls_.emplace(socket_, context); }

  void start() {
    resolver_.async_resolve(endpoint_.host, endpoint_.port,
                            [this](error_code error, const auto& found) {
                              if (!ends_with(error)) connect(found);
                            });
  }

  tl::expected<EtcdAnswer, std::string> answer() const {
    if (!is_sufficient()) return tl::unexpected(result_.message());
    const auto& response = parser_.get();
    return EtcdAnswer{.http_status = response.result_int(), .body = response.body()};
  }

 private:
  using Then = std::function<void(error_code, std::size_t)>;

  bool ends_with(error_code error) {
    if (error) result_ = error;
    return error.failed();
  }

  void connect(const asio::ip::tcp::resolver::results_type& found) {
    asio::async_connect(socket_, found, [this](error_code error, const auto&) {
      if (!ends_with(error)) secure();
    });
  }

  void secure() {
    if (!tls_) return write();
    tls_->async_handshake(asio::ssl::stream_base::client, [this](error_code error) {
      if (!ends_with(error)) write();
    });
  }

  void write() {
    const auto text = asio::buffer(request_);
    const Then then = [this](error_code error, std::size_t) {
      if (!ends_with(error)) read();
    };
    if (tls_) {
      asio::async_write(*tls_, text, then);
    } else {
      asio::async_write(socket_, text, then);
    }
  }

  void read() {
    const auto place = buffer_.prepare(bytes_per_read);
    const Then then = [this](error_code error, std::size_t bytes) {
      buffer_.commit(bytes);
      if (!ends_with(parse(error)) && !is_sufficient()) read();
    };
    if (tls_) {
      tls_->async_read_some(place, then);
    } else {
      socket_.async_read_some(place, then);
    }
  }

  // Returns the error that ends the exchange, if any.
  error_code parse(error_code read_error) {
    error_code error;
    if (read_error == asio::error::eof) {
      if (!parser_.got_some()) return http::error::end_of_stream;
      parser_.put_eof(error);
      return error;
    }
    if (read_error) return read_error;
    buffer_.consume(parser_.put(buffer_.data(), error));
    return error == http::error::need_more ? error_code() : error;
  }

  bool is_sufficient() const {
    const std::string& body = parser_.get().body();
    return parser_.is_done() || std::ranges::any_of(patience_.awaited, [&](const auto& text) {
             return body.find(text) != std::string::npos;
           });
  }

  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  std::optional<TlsStream> tls_{};
  const EtcdEndpoint& endpoint_;
  const std::string request_;
  const EtcdPatience& patience_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  error_code result_ = asio::error::timed_out;
};

// The certificate must be for the endpoint's name or address. An address is sent to no server as a
// name, because TLS has only names there.
error_code expect_certificate_of(const EtcdEndpoint& endpoint, TlsStream& stream) {
  error_code error;
  stream.set_verify_callback(asio::ssl::host_name_verification(endpoint.host), error);
  if (error) return error;
  error_code is_name;
  asio::ip::make_address(endpoint.host, is_name);
  if (is_name && SSL_set_tlsext_host_name(stream.native_handle(), endpoint.host.c_str()) != 1) {
    return asio::error::invalid_argument;
  }
  return error;
}

}  // namespace

tl::expected<EtcdAnswer, std::string> ask_etcd(const EtcdEndpoint& endpoint, EtcdTls* tls,
                                               const EtcdRequest& request,
                                               const EtcdPatience& patience) {
  constexpr std::chrono::milliseconds between_looks(50);
  asio::io_context context;
  Exchange exchange(context, endpoint, request, patience);
  if (endpoint.has_tls) {
    TlsStream& stream = exchange.add_tls(tls->context);
    if (const error_code error = expect_certificate_of(endpoint, stream); error) {
      return tl::unexpected(error.message());
    }
  }
  exchange.start();
  const auto end = std::chrono::steady_clock::now() + patience.longest;
  while (!context.stopped() && !patience.stop.stop_requested() &&
         std::chrono::steady_clock::now() < end) {
    context.run_for(between_looks);
  }
  return exchange.answer();
}

// Certificates

tl::expected<std::shared_ptr<EtcdTls>, std::string> tls_of(const EtcdAccess& access) {
  auto tls = std::make_shared<EtcdTls>();
  asio::ssl::context& context = tls->context;
  error_code error;
  const auto refused = [&](std::string_view purpose, const std::filesystem::path& file) {
    return tl::unexpected(fmt::format("'{}' cannot be used as {} ({}); it must be a file in PEM",
                                      file.string(), purpose, error.message()));
  };
  context.set_verify_mode(asio::ssl::verify_peer, error);
  if (access.ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else if (context.load_verify_file(access.ca_file.string(), error); error) {
    return refused("the authorities of etcd's certificate", access.ca_file);
  }
  if (access.certificate_file.empty()) return tls;
  context.use_certificate_chain_file(access.certificate_file.string(), error);
  if (error) return refused("a certificate for etcd", access.certificate_file);
  const auto& key_file =
      access.certificate_key_file.empty() ? access.certificate_file : access.certificate_key_file;
  context.use_private_key_file(key_file.string(), asio::ssl::context::pem, error);
  if (error) return refused("the key of the certificate for etcd", key_file);
  return tls;
}

}  // namespace falafel
