// Tracks which operations of this client are pending and when they started. The server requests
// quiescence: the client answers when no operation is left that began before the request and may
// remember old locations. An operation that restarts discards everything it read and counts as new.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace falafel::engine {

class Quiescence {
 public:
  explicit Quiescence(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  // Each operation uses its own slot. It may begin several times, or end without beginning.
  void begin(std::size_t slot);
  void end(std::size_t slot);

  // Returns an increasing time stamp.
  std::uint64_t now() { return next_stamp_++; }
  // Returns whether all pending operations began after that point.
  bool is_quiescent_since(std::uint64_t point) const;

 private:
  static constexpr std::uint64_t idle = ~std::uint64_t{0};

  std::uint64_t next_stamp_ = 0;
  std::vector<std::uint64_t> began_;  // start of the operation, by slot
  std::function<void()> on_change_;   // called when an old operation is over
};

}  // namespace falafel::engine
