// A shortage of file descriptors: when this process has none left for a caller, the listeners of a
// host count that, and report it with the remedy. A shortage fails many times per second, because
// listeners keep trying, so it is reported once per minute.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

#include "fabric/realtime/clock.h"

namespace falafel::fabric {

// Returns whether this error of the system means that there is no room for another descriptor.
bool is_out_of_descriptors(int error);

// Thread-safe.
class DescriptorShortage {
 public:
  using Report = std::function<void(std::string_view)>;

  static constexpr std::uint64_t report_interval_ns = 60'000'000'000;

  explicit DescriptorShortage(Report report) : report_(std::move(report)) {}
  DescriptorShortage(const DescriptorShortage&) = delete;
  DescriptorShortage& operator=(const DescriptorShortage&) = delete;

  // `problem` is the system's text.
  void note(std::string_view problem, std::uint64_t now_ns = monotonic_ns());
  // The number of times that it was noted.
  std::uint64_t count() const { return count_; }

 private:
  bool is_due(std::uint64_t now_ns);

  const Report report_;  // may be empty
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;
  std::uint64_t next_report_ns_ = 0;
};

}  // namespace falafel::fabric
