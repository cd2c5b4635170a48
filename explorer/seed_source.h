// Hands out the seeds of a campaign to its workers, in ascending order. When all workers have
// ended, exactly the seeds that were handed out have been run.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "processes/shared_object.h"

namespace falafel::explorer {

// The seeds first, first + stride, first + 2 stride, ... A count of 0 stands for no end.
struct SeedRange {
  std::uint64_t first = 1;
  std::uint64_t stride = 1;
  std::uint64_t count = 0;

  bool operator==(const SeedRange&) const = default;
};

class SeedSource {
 public:
  explicit SeedSource(const SeedRange& range) : range_(range) {}

  // A seed that nobody has taken yet. Empty: there are no more.
  std::optional<std::uint64_t> take() {
    const std::uint64_t index = next_->fetch_add(1);
    if (range_.count > 0 && index >= range_.count) return std::nullopt;
    return range_.first + index * range_.stride;
  }

  // The number of seeds that workers have taken.
  std::uint64_t taken() const {
    const std::uint64_t next = *next_;
    return range_.count > 0 && next > range_.count ? range_.count : next;
  }

 private:
  SeedRange range_;
  processes::SharedObject<std::atomic<std::uint64_t>> next_;
};

}  // namespace falafel::explorer
