// The costs of the steps of a timed run: the machines with their cards and processors, and the
// values of the profile. A machine has one card, and each host on it one thread. Usually each
// thread has a processor of its own (conditions.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/random.h"
#include "fabric/sim/timing/card.h"
#include "fabric/sim/timing/processors.h"
#include "fabric/sim/timing/profile.h"

namespace falafel::sim::timing {

constexpr std::uint64_t to_ps(std::uint64_t time_ns) { return time_ns * 1'000; }
// The first nanosecond that is not before the time.
constexpr std::uint64_t to_ns(std::uint64_t time_ps) { return (time_ps + 999) / 1'000; }

struct Machine {
  std::string name;
  Card card;
  Processors processors;
};

// The thread of a host: its fibers take turns on it.
struct Thread {
  std::uint64_t free_at_ns = 0;
  std::uint64_t busy_ps = 0;
  std::uint64_t waits = 0;       // that gave up its processor
  bool is_woken = false;         // from a wait, and has not run since
  Processors* shared = nullptr;  // null: it has a processor of its own
  std::uint32_t number = 0;      // among those that share the processors

  // The first time, not before this one, at which a fiber can run.
  std::uint64_t next_turn_ns(std::uint64_t now_ns) const {
    const std::uint64_t earliest_ns = std::max(now_ns, free_at_ns);
    return shared == nullptr ? earliest_ns : shared->next_turn_ns(number, earliest_ns);
  }
  // A fiber begins to run. Returns how long it takes until it works.
  std::uint64_t begin_turn_ps(std::uint64_t now_ns) {
    return shared == nullptr ? 0 : to_ps(shared->begin_turn_ns(number, now_ns));
  }
  // How often the thread gave up its processor or lost it. Zero if it has one of its own.
  std::uint64_t context_switches(std::uint64_t until_ns) const {
    return shared == nullptr ? 0 : waits + shared->preemptions(number, until_ns);
  }
  // A wait that gave up its processor has ended.
  void wake() {
    if (!is_woken) ++waits;
    is_woken = true;
  }
  // The thread has worked for `work_ps`.
  void end_turn(std::uint64_t begin_ns, std::uint64_t work_ps) {
    busy_ps += work_ps;
    is_woken = false;
    const std::uint64_t work_ns = to_ns(work_ps);
    free_at_ns =
        shared == nullptr ? begin_ns + work_ns : shared->end_turn_ns(number, begin_ns, work_ns);
  }
};

class CostModel {
 public:
  explicit CostModel(Profile profile) : profile_(std::move(profile)) {}

  const Profile& profile() const { return profile_; }
  // How long the processor takes for the work.
  std::uint64_t work_ps(fabric::Work work, std::uint64_t bytes) const;
  // The same for posting a request of a message stream, and for polling a message of one.
  std::uint64_t stream_send_ps(std::uint64_t bytes) const {
    return profile_.stream_send_ps + bytes * profile_.stream_copy_ps_per_byte;
  }
  std::uint64_t stream_receive_ps(std::uint64_t bytes) const {
    return profile_.stream_receive_ps + bytes * profile_.stream_copy_ps_per_byte;
  }
  // Threads give up their processors while they wait.
  bool threads_block() const {
    return profile_.conditions.shares_processors && profile_.conditions.threads_block;
  }
  // From the moment at which a fiber has work until it goes on. A thread that waits is woken first.
  std::uint64_t notice_ns(bool thread_waits) const;
  // How late the next completion is. `draw_seed` is called once, if completions are late at all.
  template <typename DrawSeed>
  std::uint64_t lateness_ps(const DrawSeed& draw_seed) {
    if (profile_.conditions.jitter_ns == 0) return 0;
    if (!random_) random_.emplace(draw_seed());
    return draw_lateness_ps();
  }
  // A new thread of that machine.
  Thread add_thread(std::string_view machine_name);
  // The machine of that name. It exists from its first mention on.
  Machine& machine(std::string_view name);
  const std::vector<std::unique_ptr<Machine>>& machines() const { return machines_; }

 private:
  std::uint64_t draw_lateness_ps();
  std::uint64_t crc64_ps(std::uint64_t ps_per_byte, std::uint64_t bytes) const;

  Profile profile_;
  std::optional<fabric::RandomGenerator> random_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace falafel::sim::timing
