// Which operations of this client are under way, and since when. The server asks for quiescence: that no
// operation is left which began before the question, and so may remember where things were. An operation
// that starts over has forgotten everything, and counts as new.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace falafel::engine {

class Quiescence {
 public:
  explicit Quiescence(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  // Each operation has a slot of its own. One may begin again, or end without having begun.
  void begin(std::size_t slot);
  void end(std::size_t slot);

  // A point in time, and whether all operations under way have begun after it.
  std::uint64_t now() { return next_stamp_++; }
  bool is_quiescent_since(std::uint64_t point) const;

 private:
  static constexpr std::uint64_t idle = ~std::uint64_t{0};

  std::uint64_t next_stamp_ = 0;
  std::vector<std::uint64_t> began_;  // by slot
  std::function<void()> on_change_;   // an old operation is over
};

}  // namespace falafel::engine
