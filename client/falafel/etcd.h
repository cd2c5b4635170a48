// Values of single keys in etcd (https://etcd.io, version 3.4 or later), through its JSON gateway.
// No TLS and no authentication: let a proxy on the same machine add what a cluster needs.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace falafel {

class Etcd {
 public:
  struct StoredValue {
    std::string text{};
    std::uint64_t revision = 0;  // of the last change; 0: the key does not exist
  };

  // Endpoints as "host", "host:port" or "http://host:port"; port 2379 unless given. Errors name an
  // endpoint that cannot be used. Connects to none of them.
  static tl::expected<Etcd, std::string> of_endpoints(const std::vector<std::string>& endpoints);

  // All calls wait, at most for `patience` at each endpoint, and return the answer of the first one
  // that has any. Errors are explanations.
  tl::expected<StoredValue, std::string> read(std::string_view key);
  // Replaces the value if its revision is still the given one; otherwise returns false. After an
  // error, it may have been replaced.
  tl::expected<bool, std::string> replace(std::string_view key, std::string_view text,
                                          std::uint64_t revision);
  // Watches the key until it has changed after the revision, until the time is over, or `stop` is
  // requested. May return early; returns at once if no endpoint answers.
  void wait_for_change(std::string_view key, std::uint64_t revision,
                       std::chrono::nanoseconds longest, const std::stop_token& stop);

  static constexpr std::chrono::seconds patience{2};

 private:
  struct Endpoint {
    std::string host;
    std::string port;
  };
  using Request = boost::beast::http::request<boost::beast::http::string_body>;

  explicit Etcd(std::vector<Endpoint> endpoints) : endpoints_(std::move(endpoints)) {}

  static Request request_of(const Endpoint& endpoint, std::string_view target,
                            const nlohmann::json& body);
  static tl::expected<nlohmann::json, std::string> call(const Endpoint& endpoint,
                                                        std::string_view target,
                                                        const nlohmann::json& body);
  tl::expected<nlohmann::json, std::string> call(std::string_view target,
                                                 const nlohmann::json& body);

  std::vector<Endpoint> endpoints_;
  std::size_t preferred_ = 0;  // the endpoint that has answered last
};

}  // namespace falafel
