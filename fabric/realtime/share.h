// A socket's share of the process's descriptors. Callers that connect and then say nothing must not
// keep others out, so the oldest of them has to make room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>

namespace falafel::fabric {

// Counts objects until they are destroyed or removed. Not thread-safe.
template <typename Connection>
class Share {
 public:
  explicit Share(std::size_t most) : most_(most) {}

  // Returns the oldest connection, which the caller has to close, if there are too many now.
  [[nodiscard]] std::shared_ptr<Connection> admit(const std::shared_ptr<Connection>& connection) {
    std::erase_if(connections_, [](const auto& other) { return other.expired(); });
    connections_.push_back(connection);
    if (connections_.size() <= most_) return nullptr;
    auto oldest = connections_.front().lock();
    connections_.pop_front();
    return oldest;
  }
  // The connection has left this stage.
  void remove(const std::shared_ptr<Connection>& connection) {
    std::erase_if(connections_, [&](const auto& other) { return other.lock() == connection; });
  }

 private:
  std::size_t most_;
  std::deque<std::weak_ptr<Connection>> connections_;  // the oldest first
};

}  // namespace falafel::fabric
