#include "falafel/etcd_exchange.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
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

using TcpStream = beast::tcp_stream;
using TlsStream = asio::ssl::stream<beast::tcp_stream>;

constexpr std::size_t most_answer_bytes = 1 << 20;

http::request<http::string_body> http_request_of(const EtcdEndpoint& endpoint,
                                                 const EtcdRequest& request) {
  constexpr unsigned http_1_1 = 11;
  http::request<http::string_body> sent(http::verb::post, request.target, http_1_1);
  sent.set(http::field::host, endpoint.host);
  sent.set(http::field::content_type, "application/json");
  if (!request.token.empty()) sent.set(http::field::authorization, request.token);
  sent.body() = request.body;
  sent.prepare_payload();
  return sent;
}

// The steps of an exchange; each begins the next one.
template <typename Stream>
class Exchange {
 public:
  Exchange(asio::io_context& context, Stream& stream, const EtcdEndpoint& endpoint,
           const EtcdRequest& request, const EtcdPatience& patience)
      : resolver_(context),
        stream_(stream),
        endpoint_(endpoint),
        request_(http_request_of(endpoint, request)),
        patience_(patience) {
    parser_.body_limit(most_answer_bytes);
  }

  void start() {
    beast::get_lowest_layer(stream_).expires_after(patience_.longest);
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
  bool ends_with(error_code error) {
    if (error) result_ = error;
    return error.failed();
  }

  void connect(const asio::ip::tcp::resolver::results_type& found) {
    beast::get_lowest_layer(stream_).async_connect(found, [this](error_code error, const auto&) {
      if (!ends_with(error)) secure();
    });
  }

  void secure() {
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      stream_.async_handshake(asio::ssl::stream_base::client, [this](error_code error) {
        if (!ends_with(error)) write();
      });
    } else {
      write();
    }
  }

  void write() {
    http::async_write(stream_, request_, [this](error_code error, std::size_t) {
      if (!ends_with(error)) read();
    });
  }

  void read() {
    http::async_read_some(stream_, buffer_, parser_, [this](error_code error, std::size_t) {
      if (!ends_with(error) && !is_sufficient()) read();
    });
  }

  bool is_sufficient() const {
    const std::string& body = parser_.get().body();
    return parser_.is_done() || std::ranges::any_of(patience_.awaited, [&](const auto& text) {
             return body.find(text) != std::string::npos;
           });
  }

  asio::ip::tcp::resolver resolver_;
  Stream& stream_;
  const EtcdEndpoint& endpoint_;
  const http::request<http::string_body> request_;
  const EtcdPatience& patience_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
  error_code result_ = asio::error::timed_out;
};

template <typename Stream>
tl::expected<EtcdAnswer, std::string> ask_over(asio::io_context& context, Stream& stream,
                                               const EtcdEndpoint& endpoint,
                                               const EtcdRequest& request,
                                               const EtcdPatience& patience) {
  constexpr std::chrono::milliseconds between_looks(50);
  Exchange<Stream> exchange(context, stream, endpoint, request, patience);
  exchange.start();
  const auto end = std::chrono::steady_clock::now() + patience.longest;
  while (!context.stopped() && !patience.stop.stop_requested() &&
         std::chrono::steady_clock::now() < end) {
    context.run_for(between_looks);
  }
  return exchange.answer();
}

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
  asio::io_context context;
  if (!endpoint.has_tls) {
    TcpStream stream(context);
    return ask_over(context, stream, endpoint, request, patience);
  }
  TlsStream stream(context, tls->context);
  if (const error_code error = expect_certificate_of(endpoint, stream); error) {
    return tl::unexpected(error.message());
  }
  return ask_over(context, stream, endpoint, request, patience);
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
