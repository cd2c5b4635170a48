// Values of single keys in etcd (https://etcd.io, version 3.4 or later), through its JSON gateway.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "falafel/etcd_access.h"
#include "falafel/etcd_requests.h"

namespace falafel {

class Etcd {
 public:
  struct StoredValue {
    std::string text{};
    std::uint64_t revision = 0;  // of the last change; 0: the key does not exist
  };

  // Endpoints as "host", "host:port", "http://host:port" or "https://host:port"; port 2379 unless
  // given. Errors name an endpoint or a file that cannot be used. Connects to none of them.
  static tl::expected<Etcd, std::string> of_endpoints(const std::vector<std::string>& endpoints,
                                                      const EtcdAccess& access = {});

  // All calls wait, at most for EtcdRequests::patience at each endpoint and request, and return the
  // answer of the first one that has any. Errors are explanations.
  tl::expected<StoredValue, std::string> read(std::string_view key);
  // Replaces the value if its revision is still the given one; otherwise returns false. After an
  // error, it may have been replaced.
  tl::expected<bool, std::string> replace(std::string_view key, std::string_view text,
                                          std::uint64_t revision);
  // Watches the key until it has changed after the revision, until the time is over, or `stop` is
  // requested. May return early; returns at once if no endpoint answers.
  void wait_for_change(std::string_view key, std::uint64_t revision,
                       std::chrono::nanoseconds longest, const std::stop_token& stop) const;

 private:
  explicit Etcd(EtcdRequests requests) : requests_(std::move(requests)) {}

  EtcdRequests requests_;
};

}  // namespace falafel
