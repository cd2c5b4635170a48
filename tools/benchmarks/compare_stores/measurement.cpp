#include "tools/benchmarks/compare_stores/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "fabric/work_request.h"
#include "falafel/latency_histogram.h"
#include "tools/benchmarks/compare_stores/timed_run.h"
#include "tools/benchmarks/store/record.h"

namespace falafel::compare_stores {
namespace {

using store_benchmark::OperationKind;
using store_benchmark::OperationStream;

// Counts the requests that all parties post while it is on.
class RequestCounter final : public sim::TraceObserver {
 public:
  void observe(const sim::TraceEvent& event) override {
    if (!is_on) return;
    ++requests;
    bytes += payload_bytes(*event.posted);
  }
  sim::EventKinds observed_kinds() const override {
    return sim::event_kinds({sim::EventKind::request_posted});
  }

  bool is_on = false;
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;

 private:
  static std::uint64_t payload_bytes(const fabric::WorkRequest& request) {
    if (request.segments.empty()) return request.length_bytes;
    std::uint64_t sum = 0;
    for (const fabric::LocalSegment& segment : request.segments) sum += segment.length_bytes;
    return sum;
  }
};

// The mean of latencies.
class Mean {
 public:
  void add(std::uint64_t latency_ns) {
    sum_ns_ += latency_ns;
    ++count_;
  }
  double mean_us() const {
    return count_ == 0 ? 0 : static_cast<double>(sum_ns_) / static_cast<double>(count_) / 1e3;
  }

 private:
  std::uint64_t sum_ns_ = 0;
  std::uint64_t count_ = 0;
};

class StoreMeasurement {
 public:
  StoreMeasurement(const sim::timing::Profile& profile, const ComparedStore& store,
                   const Load& load)
      : load_(load),
        run_{.profile = profile,
             .store = store,
             .demand = load.demand,
             .machines = load.machines,
             .seed = load.seed} {}

  tl::expected<Measurement, std::string> run() {
    const auto completed = run_timed(
        run_, [this](const Participant& participant) { return take_part(participant); }, &counter_);
    if (!completed) return tl::unexpected(completed.error());
    return result();
  }

 private:
  std::string take_part(const Participant& participant) {
    if (std::string problem = load_keys(participant, load_.demand); !problem.empty()) {
      return problem;
    }
    wait_for_others(participant);
    return run_operations(participant);
  }

  // The last client to have stored its keys says when the measurement begins.
  void wait_for_others(const Participant& participant) {
    constexpr std::uint64_t interval_ns = 100'000;
    constexpr std::uint64_t least_warm_up_ns = 1'000'000;
    fabric::Host& host = participant.host;
    if (++ready_clients_ == load_.demand.clients) {
      begin_ns_ =
          host.now_ns() + least_warm_up_ns + load_.demand.keys * run_.store.warm_up_ns_per_key;
    }
    while (begin_ns_ == 0) host.sleep_until(host.now_ns() + interval_ns);
  }

  std::string run_operations(const Participant& participant) {
    const std::uint64_t end_ns = begin_ns_ + load_.duration_ns;
    OperationStream stream(load_.workload, {.keys = load_.demand.keys,
                                            .streams = load_.demand.clients,
                                            .index = participant.number,
                                            .seed = load_.seed});
    bool is_counted = false;
    std::uint64_t round_trips_before = 0;
    StoreClient::Counters counted = participant.client.counters();
    while (true) {
      const std::uint64_t start_ns = participant.host.now_ns();
      if (start_ns >= begin_ns_ && !is_counted) {
        is_counted = true;
        round_trips_before = participant.client.round_trips();
        begin(participant);
      }
      const store_benchmark::WorkloadOperation operation = *stream.next();
      if (std::string problem = execute(participant, operation); !problem.empty()) {
        return problem;
      }
      const std::uint64_t now_ns = participant.host.now_ns();
      if (now_ns >= end_ns) break;
      const StoreClient::Counters before = std::exchange(counted, participant.client.counters());
      if (!is_counted) continue;
      record(operation.kind, now_ns - start_ns);
      if (load_.keeps_samples) keep(operation.kind, now_ns - start_ns, before, counted);
    }
    if (is_counted) round_trips_ += participant.client.round_trips() - round_trips_before;
    end(participant);
    return {};
  }

  void record(OperationKind kind, std::uint64_t latency_ns) {
    latencies_.record(latency_ns);
    if (kind == OperationKind::read) gets_.add(latency_ns);
    if (kind == OperationKind::update) sets_.add(latency_ns);
  }

  void keep(OperationKind kind, std::uint64_t latency_ns, const StoreClient::Counters& before,
            const StoreClient::Counters& after) {
    samples_.push_back({.is_get = kind == OperationKind::read,
                        .latency_us = static_cast<double>(latency_ns) / 1e3,
                        .requests = after.requests - before.requests,
                        .bytes = after.bytes - before.bytes,
                        .rereads = after.rereads - before.rereads});
  }

  // The first client that begins or ends does so for all.
  void begin(const Participant& participant) {
    if (!before_.empty()) return;
    before_ = participant.simulation.usage();
    counter_.is_on = true;
  }
  void end(const Participant& participant) {
    if (!after_.empty()) return;
    after_ = participant.simulation.usage();
    counter_.is_on = false;
    memory_bytes_ = participant.run.memory_bytes();
  }

  std::string execute(const Participant& participant,
                      const store_benchmark::WorkloadOperation& operation) {
    if (operation.kind == OperationKind::update) return set(participant, operation.key);
    std::string problem = get(participant, operation.key);
    if (!problem.empty() || operation.kind == OperationKind::read) return problem;
    return set(participant, operation.key);
  }

  std::string get(const Participant& participant, std::uint64_t key) {
    Bytes value;
    const Reply reply = get_until(participant, key_of(key, load_.demand), value,
                                  participant.host.now_ns() + patience_ns);
    if (reply.outcome != Outcome::done) return fmt::format("GET of key {}: {}", key, reply.answer);
    const bool is_right =
        value.size() == load_.demand.value_bytes && store_benchmark::is_value_of(key, value);
    return is_right ? "" : fmt::format("GET of key {}: the value is that of no SET", key);
  }

  std::string set(const Participant& participant, std::uint64_t key) {
    const Reply reply =
        set_until(participant, key_of(key, load_.demand), value_of(key, ++writes_, load_.demand),
                  participant.host.now_ns() + patience_ns);
    return reply.outcome == Outcome::done ? ""
                                          : fmt::format("SET of key {}: {}", key, reply.answer);
  }

  Measurement result() const {
    const auto operations = static_cast<double>(latencies_.count());
    Measurement result{
        .operations_per_second = operations * 1e9 / static_cast<double>(load_.duration_ns),
        .median_us = static_cast<double>(latencies_.quantile(0.5)) / 1e3,
        .tail_us = static_cast<double>(latencies_.quantile(0.99)) / 1e3,
        .get_us = gets_.mean_us(),
        .set_us = sets_.mean_us(),
        .round_trips = static_cast<double>(round_trips_) / operations,
        .verbs = static_cast<double>(counter_.requests) / operations,
        .bytes = static_cast<double>(counter_.bytes) / operations,
        .memory_bytes_per_key =
            static_cast<double>(memory_bytes_) / static_cast<double>(load_.demand.keys),
        .samples = samples_};
    for (std::size_t index = 0; index < after_.size(); ++index) {
      add_usage(result, after_[index], after_[index].busy_ns - before_[index].busy_ns);
    }
    return result;
  }

  void add_usage(Measurement& result, const sim::Usage& usage, std::uint64_t busy_ns) const {
    const auto busy = static_cast<double>(busy_ns);
    if (usage.machine == server_name && usage.part.starts_with("thread")) {
      result.server_ns += busy / static_cast<double>(latencies_.count());
    }
    const double share = busy / static_cast<double>(load_.duration_ns);
    if (share <= result.busiest_share) return;
    result.busiest_share = share;
    const bool names_its_host = usage.part.starts_with("thread");
    result.busiest_part =
        names_its_host ? usage.part : fmt::format("{} of {}", usage.part, usage.machine);
  }

  const Load& load_;
  TimedRun run_;
  RequestCounter counter_;
  std::uint32_t ready_clients_ = 0;
  std::uint64_t begin_ns_ = 0;  // of the measurement; 0: clients are still storing their keys
  std::uint64_t writes_ = 0;
  std::uint64_t round_trips_ = 0;
  std::uint64_t memory_bytes_ = 0;
  LatencyHistogram latencies_;
  std::vector<OperationSample> samples_;
  Mean gets_;
  Mean sets_;
  std::vector<sim::Usage> before_;
  std::vector<sim::Usage> after_;
};

}  // namespace

std::string find_invalid_option(const Load& load) {
  const Demand& demand = load.demand;
  if (load.workload.inserts() || load.workload.removes()) {
    return fmt::format(
        "--workload is {} but the comparison has neither insertions nor removals; "
        "choose ycsb-a, ycsb-b, ycsb-c or ycsb-f",
        load.workload.name);
  }
  if (demand.keys < demand.clients) {
    return fmt::format("--keys is {} but must be at least --clients ({})", demand.keys,
                       demand.clients);
  }
  if (!store_benchmark::has_enough_digits(demand.keys, demand.key_bytes)) {
    return fmt::format("--key-bytes is {}, too few for {} different keys", demand.key_bytes,
                       demand.keys);
  }
  return {};
}

tl::expected<Measurement, std::string> measure(const sim::timing::Profile& profile,
                                               const ComparedStore& store, const Load& load) {
  return StoreMeasurement(profile, store, load).run();
}

}  // namespace falafel::compare_stores
