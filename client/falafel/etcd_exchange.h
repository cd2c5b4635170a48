// One request to an endpoint of etcd and its answer, over HTTP or HTTPS, on a connection of its
// own.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "falafel/etcd_access.h"

namespace falafel {

struct EtcdEndpoint {
  std::string host{};
  std::string port{};
  bool has_tls = false;

  std::string description() const { return "etcd at " + host + ":" + port; }
};

// Certificates, as OpenSSL has them.
class EtcdTls;
// Errors name the file that cannot be used.
tl::expected<std::shared_ptr<EtcdTls>, std::string> tls_of(const EtcdAccess& access);

struct EtcdRequest {
  std::string target{};  // such as "/v3/kv/range"
  std::string body{};
  std::string token{};  // of the user; empty: none
};

struct EtcdAnswer {
  unsigned http_status = 0;
  std::string body{};
};

// An exchange ends at the latest after this time, or soon after `stop` is requested.
struct EtcdPatience {
  std::chrono::nanoseconds longest{};
  std::stop_token stop{};
  // It also ends when the answer contains one of these; for answers that have no end.
  std::vector<std::string> awaited{};
};

// Waits for the answer. Errors are explanations, also if the answer is incomplete and has nothing
// of what was awaited. `tls` is used if the endpoint has it, and must not be null then.
tl::expected<EtcdAnswer, std::string> ask_etcd(const EtcdEndpoint& endpoint, EtcdTls* tls,
                                               const EtcdRequest& request,
                                               const EtcdPatience& patience);

}  // namespace falafel
