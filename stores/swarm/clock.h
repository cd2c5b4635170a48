// The clock from which a client guesses timestamps. It starts at zero, counts ticks, and jumps when
// the client sees a timestamp that is not clearly in its past (authors' code, oops_state.hpp).
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/fabric.h"
#include "stores/swarm/options.h"
#include "stores/swarm/word.h"

namespace falafel::swarm {

class Clock {
 public:
  Clock(fabric::Host& host, const Options& options)
      : host_(host), options_(options), start_ns_(signed_now()) {
    follow(0);
  }

  std::uint64_t guess() const {
    const auto elapsed_ns = static_cast<std::uint64_t>(signed_now() - start_ns_);
    const std::uint64_t timestamp = elapsed_ns / options_.tick_ns;
    FALAFEL_ASSERT(timestamp < Word::most_timestamps, "timestamp {}", timestamp);
    return timestamp;
  }
  void see(Word word) {
    if (options_.safeguards.followed_clock) follow(word.timestamp());
  }

 private:
  void follow(std::uint64_t timestamp) {
    const std::uint64_t ahead_ns = (timestamp + options_.ticks_ahead) * options_.tick_ns;
    start_ns_ = std::min(start_ns_, signed_now() - static_cast<std::int64_t>(ahead_ns));
  }
  std::int64_t signed_now() const { return static_cast<std::int64_t>(host_.now_ns()); }

  fabric::Host& host_;
  Options options_;
  std::int64_t start_ns_;
};

}  // namespace falafel::swarm
