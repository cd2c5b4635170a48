// The list of a cluster's servers as one value in etcd, which is a JSON object:
//
//   {"format": 1, "servers": ["10.0.0.1", "10.0.0.2"], "lease_ms": 10000, "settle_ms": 90000}
//
// and during a change also
//
//   "next": ["10.0.0.1", "10.0.0.2", "10.0.0.3"], "changed_by": 7
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

#include "engine/placement/change.h"
#include "falafel/etcd.h"

namespace falafel {

class EtcdDirectory final : public engine::PlacementDirectory {
 public:
  EtcdDirectory(Etcd etcd, std::string key) : etcd_(std::move(etcd)), key_(std::move(key)) {}

  // An error also if the value is not such a list.
  tl::expected<Entry, std::string> read() override;
  tl::expected<bool, std::string> replace(const engine::PlacementList& list,
                                          std::uint64_t revision) override;
  // May return early.
  void wait_for_change(std::uint64_t revision, std::chrono::nanoseconds longest,
                       const std::stop_token& stop) {
    etcd_.wait_for_change(key_, revision, longest, stop);
  }

 private:
  Etcd etcd_;
  std::string key_;
};

// For tests of what is refused.
tl::expected<engine::PlacementList, std::string> parse_placement(std::string_view text);
std::string to_text(const engine::PlacementList& list);

}  // namespace falafel
