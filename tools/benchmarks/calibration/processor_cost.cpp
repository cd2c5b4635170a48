#include "tools/benchmarks/calibration/processor_cost.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "engine/layout/crc32c.h"
#include "engine/layout/key_hash.h"

namespace falafel::calibration {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint64_t few_bytes = 16;
constexpr std::uint64_t many_bytes = 4'096;
constexpr std::uint64_t batches = 20;
constexpr std::uint64_t repetitions = 100;  // of each batch

class WorkMeasurement {
 public:
  explicit WorkMeasurement(fabric::Host& host)
      : host_(host), source_(many_bytes), copy_(many_bytes) {}

  LinearCost hash() {
    return measure(fabric::Work::hash, [](Bytes bytes) {
      return engine::home_slot(bytes, engine::HashKey{}, std::uint64_t{1} << 20U);
    });
  }
  LinearCost checksum() {
    return measure(fabric::Work::checksum,
                   [](Bytes bytes) -> std::uint64_t { return engine::crc32c(bytes); });
  }
  LinearCost copy() {
    return measure(fabric::Work::copy, [this](Bytes bytes) {
      std::memcpy(copy_.data(), bytes.data(), bytes.size());
      return static_cast<std::uint64_t>(copy_[bytes.size() / 2]);
    });
  }
  // Like the providers of libibverbs lock a queue.
  double lock_ns() {
    pthread_spinlock_t lock{};
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    const double time = time_ns(fabric::Work::lock, few_bytes, [&lock](Bytes bytes) {
      pthread_spin_lock(&lock);
      pthread_spin_unlock(&lock);
      return bytes.size();
    });
    pthread_spin_destroy(&lock);
    return time;
  }

 private:
  template <typename Work>
  LinearCost measure(fabric::Work kind, Work work) {
    const double few_ns = time_ns(kind, few_bytes, work);
    const double many_ns = time_ns(kind, many_bytes, work);
    const double ns_per_byte = (many_ns - few_ns) / static_cast<double>(many_bytes - few_bytes);
    return {.fixed_ns = few_ns - static_cast<double>(few_bytes) * ns_per_byte,
            .ns_per_byte = ns_per_byte};
  }

  // The least of several batches: other programs may take the processor during some of them.
  template <typename Work>
  double time_ns(fabric::Work kind, std::uint64_t length_bytes, Work work) {
    double least_ns = std::numeric_limits<double>::infinity();
    for (std::uint64_t batch = 0; batch < batches; ++batch) {
      least_ns = std::min(least_ns, batch_time_ns(kind, length_bytes, work));
    }
    return least_ns;
  }

  // The result of each repetition is part of the next one's input, so that none can be left out.
  template <typename Work>
  double batch_time_ns(fabric::Work kind, std::uint64_t length_bytes, Work work) {
    const std::uint64_t begin_ns = host_.now_ns();
    for (std::uint64_t repetition = 0; repetition < repetitions; ++repetition) {
      const std::uint64_t result = work(Bytes(source_).first(length_bytes));
      std::memcpy(source_.data(), &result, sizeof result);
      host_.spend(kind, length_bytes);
    }
    return static_cast<double>(host_.now_ns() - begin_ns) / repetitions;
  }

  fabric::Host& host_;
  std::vector<std::byte> source_;
  std::vector<std::byte> copy_;
};

}  // namespace

ProcessorCost measure_processor(fabric::Host& host) {
  WorkMeasurement work(host);
  return {.hash = work.hash(),
          .checksum = work.checksum(),
          .copy = work.copy(),
          .lock_ns = work.lock_ns()};
}

}  // namespace falafel::calibration
