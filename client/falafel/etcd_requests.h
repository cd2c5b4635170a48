// Requests to the JSON gateway of etcd (https://etcd.io, version 3.4 or later), at the first of
// several endpoints that answers, and as a user of etcd if there is one.
//
// A user's password is exchanged for a token, which goes with each request. etcd lets tokens end,
// and then the password is exchanged again.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "falafel/etcd_access.h"
#include "falafel/etcd_exchange.h"

namespace falafel {

class EtcdRequests {
 public:
  // See Etcd::of_endpoints.
  static tl::expected<EtcdRequests, std::string> of_endpoints(
      const std::vector<std::string>& endpoints, const EtcdAccess& access);

  // Waits at most for `patience` at each endpoint and returns the answer of the first one that has
  // any. Errors are explanations.
  tl::expected<nlohmann::json, std::string> call(std::string_view target,
                                                 const nlohmann::json& body);
  // Waits for an answer that has no end. Returns early if the endpoint does not answer.
  void watch(std::string_view target, const nlohmann::json& body, const EtcdPatience& until) const;

  static constexpr std::chrono::seconds patience{2};

 private:
  EtcdRequests(std::vector<EtcdEndpoint> endpoints, EtcdAccess access,
               std::shared_ptr<EtcdTls> tls);

  tl::expected<EtcdAnswer, std::string> post(const EtcdEndpoint& endpoint, std::string_view target,
                                             const nlohmann::json& body) const;
  tl::expected<void, std::string> log_in(const EtcdEndpoint& endpoint);
  tl::expected<EtcdAnswer, std::string> post_as_user(const EtcdEndpoint& endpoint,
                                                     std::string_view target,
                                                     const nlohmann::json& body);

  std::vector<EtcdEndpoint> endpoints_;
  EtcdAccess access_;
  std::shared_ptr<EtcdTls> tls_;  // null if no endpoint has TLS
  std::string token_;             // empty until etcd has given one
  std::size_t preferred_ = 0;     // the endpoint that has answered last
};

}  // namespace falafel
