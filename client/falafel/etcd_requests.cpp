#include "falafel/etcd_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace falafel {
namespace {

using nlohmann::json;

constexpr unsigned http_ok = 200;
constexpr unsigned http_bad_request = 400;
constexpr unsigned http_unauthorized = 401;

tl::expected<EtcdEndpoint, std::string> parse_endpoint(const std::string& text) {
  EtcdEndpoint endpoint;
  std::string_view rest = text;
  endpoint.has_tls = rest.starts_with("https://");
  if (endpoint.has_tls) rest.remove_prefix(8);
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  const std::size_t colon = rest.rfind(':');
  endpoint.host = rest.substr(0, colon);
  endpoint.port = colon == std::string_view::npos ? "2379" : rest.substr(colon + 1);
  const bool has_digits = endpoint.port.find_first_not_of("0123456789") == std::string::npos;
  if (endpoint.host.empty() || endpoint.port.empty() || endpoint.port.size() > 5 || !has_digits) {
    return tl::unexpected(fmt::format(
        "etcd at '{}': name an endpoint as HOST:PORT, such as 127.0.0.1:2379, with https:// in "
        "front if it has TLS",
        text));
  }
  return endpoint;
}

tl::expected<std::string, std::string> password_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string password;
  if (!std::getline(stream, password)) {
    return tl::unexpected(fmt::format(
        "etcd's password cannot be read from '{}'; it must be the first line of this file",
        file.string()));
  }
  return password;
}

// Mistakes that would leave the caller without the protection that he asked for.
std::string problem_of(const EtcdAccess& access, bool has_tls) {
  if (!has_tls && !(access.ca_file.empty() && access.certificate_file.empty())) {
    return "certificates for etcd are of use with TLS alone; write https:// in front of its "
           "endpoints";
  }
  if (access.certificate_file.empty() && !access.certificate_key_file.empty()) {
    return "there is a key for etcd without a certificate; name both";
  }
  if (access.user.empty() != access.password_file.empty()) {
    return "etcd needs a user and the file with its password, or neither";
  }
  if (access.user.empty()) return {};
  const auto password = password_in(access.password_file);
  return password ? std::string() : password.error();
}

std::string describe(const EtcdEndpoint& endpoint, const EtcdAnswer& answer) {
  return fmt::format("{} answers with HTTP status {}: {}", endpoint.description(),
                     answer.http_status, answer.body.substr(0, 200));
}

}  // namespace

EtcdRequests::EtcdRequests(std::vector<EtcdEndpoint> endpoints, EtcdAccess access,
                           std::shared_ptr<EtcdTls> tls)
    : endpoints_(std::move(endpoints)), access_(std::move(access)), tls_(std::move(tls)) {}

tl::expected<EtcdRequests, std::string> EtcdRequests::of_endpoints(
    const std::vector<std::string>& endpoints, const EtcdAccess& access) {
  if (endpoints.empty()) return tl::unexpected(std::string("no endpoint of etcd; name one"));
  std::vector<EtcdEndpoint> parsed;
  for (const std::string& endpoint : endpoints) {
    auto one = parse_endpoint(endpoint);
    if (!one) return tl::unexpected(one.error());
    parsed.push_back(std::move(*one));
  }
  const bool has_tls = std::ranges::any_of(parsed, &EtcdEndpoint::has_tls);
  if (std::string problem = problem_of(access, has_tls); !problem.empty()) {
    return tl::unexpected(std::move(problem));
  }
  std::shared_ptr<EtcdTls> tls;
  if (has_tls) {
    auto made = tls_of(access);
    if (!made) return tl::unexpected(made.error());
    tls = std::move(*made);
  }
  return EtcdRequests(std::move(parsed), access, std::move(tls));
}

// One endpoint

tl::expected<EtcdAnswer, std::string> EtcdRequests::post(const EtcdEndpoint& endpoint,
                                                         std::string_view target,
                                                         const json& body) const {
  auto answer = ask_etcd(endpoint, tls_.get(),
                         {.target = std::string(target), .body = body.dump(), .token = token_},
                         {.longest = patience});
  if (answer) return answer;
  return tl::unexpected(fmt::format("{}: {}", endpoint.description(), answer.error()));
}

tl::expected<void, std::string> EtcdRequests::log_in(const EtcdEndpoint& endpoint) {
  const auto password = password_in(access_.password_file);
  if (!password) return tl::unexpected(password.error());
  token_.clear();
  const auto answer =
      post(endpoint, "/v3/auth/authenticate", {{"name", access_.user}, {"password", *password}});
  if (!answer) return tl::unexpected(answer.error());
  const json object = json::parse(answer->body, nullptr, false);
  const json token = object.is_object() ? object.value("token", json()) : json();
  if (answer->http_status != http_ok || !token.is_string()) {
    return tl::unexpected(fmt::format("etcd gives user '{}' no access: {}", access_.user,
                                      describe(endpoint, *answer)));
  }
  token_ = token.get<std::string>();
  return {};
}

// etcd refuses a token that has ended, and one that is older than a change of its users, before it
// does anything, so that the request can be repeated with a new token.
tl::expected<EtcdAnswer, std::string> EtcdRequests::post_as_user(const EtcdEndpoint& endpoint,
                                                                 std::string_view target,
                                                                 const json& body) {
  const bool had_token = !token_.empty();
  if (!access_.user.empty() && !had_token) {
    if (const auto entered = log_in(endpoint); !entered) return tl::unexpected(entered.error());
  }
  auto answer = post(endpoint, target, body);
  const bool is_refused = answer && (answer->http_status == http_bad_request ||
                                     answer->http_status == http_unauthorized);
  if (!is_refused || !had_token) return answer;
  if (const auto entered = log_in(endpoint); !entered) return tl::unexpected(entered.error());
  return post(endpoint, target, body);
}

// All endpoints

tl::expected<json, std::string> EtcdRequests::call(std::string_view target, const json& body) {
  std::string problems;
  for (std::size_t attempt = 0; attempt < endpoints_.size(); ++attempt) {
    const std::size_t place = (preferred_ + attempt) % endpoints_.size();
    const EtcdEndpoint& endpoint = endpoints_[place];
    const auto answer = post_as_user(endpoint, target, body);
    std::string problem;
    if (!answer) {
      problem = answer.error();
    } else if (answer->http_status != http_ok) {
      problem = describe(endpoint, *answer);
    } else {
      json object = json::parse(answer->body, nullptr, false);
      if (object.is_object()) {
        preferred_ = place;
        return object;
      }
      problem = endpoint.description() + " does not answer with a JSON object";
    }
    problems += (problems.empty() ? "" : "; ") + problem;
  }
  return tl::unexpected(problems);
}

void EtcdRequests::watch(std::string_view target, const json& body,
                         const EtcdPatience& until) const {
  (void)ask_etcd(endpoints_[preferred_], tls_.get(),
                 {.target = std::string(target), .body = body.dump(), .token = token_}, until);
}

}  // namespace falafel
