#include "falafel/etcd.h"

#include <fmt/format.h>
#include <sodium/utils.h>

#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>

namespace falafel {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using nlohmann::json;

constexpr std::size_t most_answer_bytes = 1 << 20;

std::string to_base64(std::string_view text) {
  std::string encoded(sodium_base64_ENCODED_LEN(text.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(encoded.data(), encoded.size(),
                    reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  encoded.pop_back();  // the terminating zero
  return encoded;
}

std::optional<std::string> from_base64(std::string_view encoded) {
  std::string text(encoded.size(), '\0');
  std::size_t length = 0;
  const int status =
      sodium_base642bin(reinterpret_cast<unsigned char*>(text.data()), text.size(), encoded.data(),
                        encoded.size(), nullptr, &length, nullptr, sodium_base64_VARIANT_ORIGINAL);
  if (status != 0) return std::nullopt;
  text.resize(length);
  return text;
}

// The gateway writes numbers of 64 bits as strings.
std::optional<std::uint64_t> number_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  const auto& digits = found->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

}  // namespace

tl::expected<Etcd, std::string> Etcd::of_endpoints(const std::vector<std::string>& endpoints) {
  if (endpoints.empty()) return tl::unexpected(std::string("no endpoint of etcd; name one"));
  std::vector<Endpoint> parsed;
  for (const std::string& endpoint : endpoints) {
    std::string_view rest = endpoint;
    if (rest.starts_with("https://")) {
      return tl::unexpected(
          fmt::format("etcd at '{}': TLS is not supported; use http and a proxy", endpoint));
    }
    if (rest.starts_with("http://")) rest.remove_prefix(7);
    const std::size_t colon = rest.rfind(':');
    const std::string_view host = rest.substr(0, colon);
    const std::string_view port = colon == std::string_view::npos ? "2379" : rest.substr(colon + 1);
    const bool has_digits = port.find_first_not_of("0123456789") == std::string_view::npos;
    if (host.empty() || port.empty() || port.size() > 5 || !has_digits) {
      return tl::unexpected(fmt::format(
          "etcd at '{}': name an endpoint as HOST:PORT, such as 127.0.0.1:2379", endpoint));
    }
    parsed.push_back({std::string(host), std::string(port)});
  }
  return Etcd(std::move(parsed));
}

// One request and its answer

Etcd::Request Etcd::request_of(const Endpoint& endpoint, std::string_view target,
                               const json& body) {
  constexpr unsigned http_1_1 = 11;
  Request request(http::verb::post, {target.data(), target.size()}, http_1_1);
  request.set(http::field::host, endpoint.host);
  request.set(http::field::content_type, "application/json");
  request.body() = body.dump();
  request.prepare_payload();
  return request;
}

tl::expected<json, std::string> Etcd::call(const Endpoint& endpoint, std::string_view target,
                                           const json& body) {
  asio::io_context context;
  beast::tcp_stream stream(context);
  asio::ip::tcp::resolver resolver(context);
  const Request request = request_of(endpoint, target, body);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(most_answer_bytes);
  error_code result = asio::error::timed_out;
  stream.expires_after(patience);
  resolver.async_resolve(endpoint.host, endpoint.port, [&](error_code resolved, const auto& found) {
    if (resolved) return void(result = resolved);
    stream.async_connect(found, [&](error_code connected, const auto&) {
      if (connected) return void(result = connected);
      http::async_write(stream, request, [&](error_code written, std::size_t) {
        if (written) return void(result = written);
        http::async_read(stream, buffer, parser,
                         [&](error_code read, std::size_t) { result = read; });
      });
    });
  });
  context.run();
  const auto where = [&] { return fmt::format("etcd at {}:{}", endpoint.host, endpoint.port); };
  if (result) return tl::unexpected(fmt::format("{}: {}", where(), result.message()));
  const http::response<http::string_body>& response = parser.get();
  if (response.result() != http::status::ok) {
    return tl::unexpected(fmt::format("{} answers with HTTP status {}: {}", where(),
                                      response.result_int(), response.body().substr(0, 200)));
  }
  json answer = json::parse(response.body(), nullptr, false);
  if (!answer.is_object()) return tl::unexpected(where() + " does not answer with a JSON object");
  return answer;
}

tl::expected<json, std::string> Etcd::call(std::string_view target, const json& body) {
  std::string problems;
  for (std::size_t attempt = 0; attempt < endpoints_.size(); ++attempt) {
    const std::size_t endpoint = (preferred_ + attempt) % endpoints_.size();
    auto answer = call(endpoints_[endpoint], target, body);
    if (answer) {
      preferred_ = endpoint;
      return answer;
    }
    problems += (problems.empty() ? "" : "; ") + answer.error();
  }
  return tl::unexpected(problems);
}

// Values

tl::expected<Etcd::StoredValue, std::string> Etcd::read(std::string_view key) {
  const auto answer = call("/v3/kv/range", {{"key", to_base64(key)}});
  if (!answer) return tl::unexpected(answer.error());
  const auto found = answer->find("kvs");
  if (found == answer->end()) return StoredValue();
  const auto malformed = [] {
    return tl::unexpected(std::string("etcd's answer has no value of the known form"));
  };
  if (!found->is_array() || found->size() != 1 || !found->front().is_object()) return malformed();
  const json& entry = found->front();
  const auto revision = number_of(entry, "mod_revision");
  // The gateway leaves an empty value out.
  const json encoded = entry.value("value", json(""));
  if (!revision || !encoded.is_string()) return malformed();
  auto text = from_base64(encoded.get_ref<const std::string&>());
  if (!text) return malformed();
  return StoredValue{.text = std::move(*text), .revision = *revision};
}

tl::expected<bool, std::string> Etcd::replace(std::string_view key, std::string_view text,
                                              std::uint64_t revision) {
  const json compare{{"target", "MOD"},
                     {"result", "EQUAL"},
                     {"key", to_base64(key)},
                     {"mod_revision", fmt::format("{}", revision)}};
  const json put{{"request_put", {{"key", to_base64(key)}, {"value", to_base64(text)}}}};
  const auto answer =
      call("/v3/kv/txn", {{"compare", json::array({compare})}, {"success", json::array({put})}});
  if (!answer) return tl::unexpected(answer.error());
  // The gateway leaves out what is false.
  const json succeeded = answer->value("succeeded", json(false));
  return succeeded.is_boolean() && succeeded.get<bool>();
}

// The answer to a watch has no end: a first part without events, and one for each change.
void Etcd::wait_for_change(std::string_view key, std::uint64_t revision,
                           std::chrono::nanoseconds longest, const std::stop_token& stop) {
  const Endpoint& endpoint = endpoints_[preferred_];
  const Request request = request_of(
      endpoint, "/v3/watch",
      {{"create_request",
        {{"key", to_base64(key)}, {"start_revision", fmt::format("{}", revision + 1)}}}});
  asio::io_context context;
  beast::tcp_stream stream(context);
  asio::ip::tcp::resolver resolver(context);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(most_answer_bytes);
  const std::function<void(error_code, std::size_t)> on_part = [&](error_code error, std::size_t) {
    if (error || parser.get().body().find("\"events\"") != std::string::npos) return;
    http::async_read_some(stream, buffer, parser, on_part);
  };
  stream.expires_after(longest);
  resolver.async_resolve(endpoint.host, endpoint.port, [&](error_code resolved, const auto& found) {
    if (resolved) return;
    stream.async_connect(found, [&](error_code connected, const auto&) {
      if (connected) return;
      http::async_write(stream, request, [&](error_code written, std::size_t) {
        if (!written) http::async_read_some(stream, buffer, parser, on_part);
      });
    });
  });
  constexpr std::chrono::milliseconds between_looks(50);
  while (!stop.stop_requested() && !context.stopped()) context.run_for(between_looks);
}

}  // namespace falafel
