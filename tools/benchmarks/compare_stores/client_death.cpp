#include "tools/benchmarks/compare_stores/client_death.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "tools/benchmarks/compare_stores/timed_run.h"

namespace falafel::compare_stores {
namespace {

constexpr std::uint32_t victim = 0;
constexpr std::uint32_t witness = 1;
constexpr std::uint64_t key_of_the_set = 1;                // stored by the witness
constexpr std::uint64_t set_begins_ns = 50'000'000;        // all keys are stored by then
constexpr std::uint64_t witness_begins_ns = 50'500'000;    // the SET has ended by then
constexpr std::uint64_t witness_patience_ns = 50'000'000;  // longer is never

// The observations of the witness in one run.
struct Testimony {
  bool has_read = false;
  bool has_written = false;
  std::uint64_t get_ns = 0;
  std::uint64_t set_ns = 0;
  std::uint64_t other_keys_lost = 0;
};

class Death {
 public:
  Death(const sim::timing::Profile& profile, const ComparedStore& store)
      : run_{.profile = profile, .store = store, .demand = demand(), .machines = 3} {}

  // The client dies `after_ns` after its SET has begun; nullopt: it does not die.
  tl::expected<Testimony, std::string> run(std::optional<std::uint64_t> after_ns) {
    after_ns_ = after_ns;
    testimony_ = {};
    const auto completed =
        run_timed(run_, [this](const Participant& participant) { return take_part(participant); });
    if (!completed) return tl::unexpected(completed.error());
    return testimony_;
  }

  static std::uint64_t other_keys() { return demand().keys - 1; }
  std::uint64_t undisturbed_set_ns() const { return undisturbed_set_ns_; }

 private:
  static Demand demand() { return {.clients = 3, .keys = 60, .table_load = 0.25}; }

  std::string take_part(const Participant& participant) {
    fabric::Host& host = participant.host;
    if (std::string problem = load_keys(participant, run_.demand); !problem.empty()) {
      return problem;
    }
    host.sleep_until(set_begins_ns);
    if (participant.number == victim) return die(participant);
    host.sleep_until(witness_begins_ns);
    if (participant.number == witness) bear_witness(participant);
    host.sleep_until(witness_begins_ns + 10 * witness_patience_ns);  // its memory is still in use
    return {};
  }

  std::string die(const Participant& participant) {
    fabric::Host& host = participant.host;
    const Reply reply = run_.store.has_server ? set_beside_crash(participant)
                                              : set_beside_cancellation(participant);
    if (!after_ns_) undisturbed_set_ns_ = host.now_ns() - set_begins_ns;
    if (reply.outcome != Outcome::done) return "SET: " + std::string(reply.answer);
    host.sleep_until(witness_begins_ns + 10 * witness_patience_ns);
    return {};
  }

  Reply set_beside_crash(const Participant& participant) {
    at_death(participant, [&participant] { participant.simulation.crash(client_name(victim)); });
    return set(participant);
  }

  // The host of the client is also a node, which is another process: it goes on.
  Reply set_beside_cancellation(const Participant& participant) {
    Reply reply{.outcome = Outcome::done};
    const fabric::FiberId setting =
        participant.host.spawn({.name = "SET"}, [&] { reply = set(participant); });
    at_death(participant, [&participant, setting] { participant.host.cancel(setting); });
    participant.host.join(setting);
    return reply;
  }

  Reply set(const Participant& participant) const {
    return set_until(participant, key_of(key_of_the_set, run_.demand),
                     value_of(key_of_the_set, 1, run_.demand), witness_begins_ns);
  }

  void at_death(const Participant& participant, std::function<void()> die) {
    if (!after_ns_) return;
    fabric::Host& host = participant.host;
    host.spawn({.name = "death", .daemon = true}, [this, &host, die = std::move(die)] {
      host.sleep_until(set_begins_ns + *after_ns_);
      die();
      host.sleep_until(fabric::never_ns);
    });
  }

  void bear_witness(const Participant& participant) {
    fabric::Host& host = participant.host;
    const std::uint64_t get_begin_ns = host.now_ns();
    testimony_.has_read = reads(participant, key_of_the_set);
    testimony_.get_ns = host.now_ns() - get_begin_ns;
    const std::uint64_t set_begin_ns = host.now_ns();
    const Reply reply =
        set_until(participant, key_of(key_of_the_set, run_.demand),
                  value_of(key_of_the_set, 2, run_.demand), host.now_ns() + witness_patience_ns);
    testimony_.has_written = reply.outcome == Outcome::done;
    testimony_.set_ns = host.now_ns() - set_begin_ns;
    for (std::uint64_t key = 0; key < run_.demand.keys; ++key) {
      if (key != key_of_the_set && !reads(participant, key)) ++testimony_.other_keys_lost;
    }
  }

  bool reads(const Participant& participant, std::uint64_t key) const {
    Bytes value;
    return get_until(participant, key_of(key, run_.demand), value,
                     participant.host.now_ns() + witness_patience_ns)
               .outcome == Outcome::done;
  }

  TimedRun run_;
  std::optional<std::uint64_t> after_ns_;
  std::uint64_t undisturbed_set_ns_ = 0;
  Testimony testimony_;
};

void add(ClientDeath& sum, const Testimony& testimony) {
  ++sum.moments;
  if (testimony.has_read) {
    sum.longest_get_us = std::max(sum.longest_get_us, static_cast<double>(testimony.get_ns) / 1e3);
  } else {
    ++sum.key_unreadable;
  }
  if (testimony.has_written) {
    sum.longest_set_us = std::max(sum.longest_set_us, static_cast<double>(testimony.set_ns) / 1e3);
  } else {
    ++sum.key_unwritable;
  }
  sum.other_keys_lost +=
      static_cast<double>(testimony.other_keys_lost) / static_cast<double>(Death::other_keys());
}

}  // namespace

tl::expected<ClientDeath, std::string> let_clients_die(const sim::timing::Profile& profile,
                                                       const ComparedStore& store,
                                                       std::uint32_t moments) {
  Death death(profile, store);
  if (const auto undisturbed = death.run(std::nullopt); !undisturbed) {
    return tl::unexpected(undisturbed.error());
  }
  ClientDeath sum;
  for (std::uint32_t moment = 0; moment < moments; ++moment) {
    const auto testimony = death.run(death.undisturbed_set_ns() * moment / moments);
    if (!testimony) return tl::unexpected(testimony.error());
    add(sum, *testimony);
  }
  sum.other_keys_lost /= moments;
  return sum;
}

}  // namespace falafel::compare_stores
