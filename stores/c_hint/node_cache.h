// The pointers that the clients of one host share, and the reports that they send together
// (C-Hint 4). The paper has them in a table in shared memory.
//
//   const auto node = std::make_shared<NodeCache>(options);
//   auto client = Client::connect(host, server, options, node);
//
// Other clients of the node run whenever one of them waits. So a pointer may be gone or replaced
// when a READ by it ends, and replies are handled in any order. Clients notice at different times
// that another run of the server answers, and pointers lead to the items of one run.
#pragma once

#include <cstdint>
#include <utility>

#include "stores/c_hint/options.h"
#include "stores/c_hint/pointer_cache.h"

namespace falafel::c_hint {

class NodeCache {
 public:
  explicit NodeCache(const Options& options) : options_(options), pointers_(options_) {}
  NodeCache(const NodeCache&) = delete;
  NodeCache& operator=(const NodeCache&) = delete;

  // A client has connected to this run of the server. Pointers of another run are forgotten.
  void connected_to(std::uint64_t incarnation, std::uint64_t now_ns) {
    if (incarnation_ == 0) last_report_ns_ = now_ns;
    if (std::exchange(incarnation_, incarnation) != incarnation) pointers_.clear();
  }

  // For a client that is connected to this run of the server. Null: the node has pointers of
  // another one.
  PointerCache* pointers_of(std::uint64_t incarnation) {
    return incarnation == incarnation_ ? &pointers_ : nullptr;
  }

  // Returns whether Options::report_interval_ns has passed since a client of the node reported.
  bool is_report_due(std::uint64_t now_ns) const {
    return options_.report_interval_ns > 0 &&
           now_ns - last_report_ns_ >= options_.report_interval_ns;
  }
  void reports(std::uint64_t now_ns) { last_report_ns_ = now_ns; }

 private:
  const Options options_;
  PointerCache pointers_;
  std::uint64_t incarnation_ = 0;  // of the server that knows the pointers; 0: of none
  std::uint64_t last_report_ns_ = 0;
};

}  // namespace falafel::c_hint
