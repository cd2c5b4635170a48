#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "fabric/assert.h"
#include "tools/benchmarks/calibration/parties.h"
#include "tools/benchmarks/calibration/processor_cost.h"
#include "tools/benchmarks/calibration/store_latency.h"

namespace falafel::calibration {
namespace {

constexpr std::uint64_t patience_ns = 10'000'000'000;

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Client {
 public:
  Client(fabric::Host& host, const ClientPlace& place, Board& board)
      : host_(host), place_(place), board_(board) {}

  bool connect() {
    fabric::Device& device = host_.device(0);
    domain_ = device.create_protection_domain();
    completions_ = device.create_completion_queue(most_in_flight + 1).value();
    auto memory = host_.allocate_memory(longest_transfer_bytes);
    if (!memory) return fail(memory.error().detail);
    memory_ = std::move(*memory);
    auto region =
        domain_->register_memory(memory_, 0, longest_transfer_bytes, {.local_write = true});
    if (!region) return fail(region.error().detail);
    region_ = std::move(*region);
    auto connection = device.connect(place_.server,
                                     {.protection_domain = domain_.get(),
                                      .send_completions = completions_.get(),
                                      .receive_completions = completions_.get(),
                                      .max_send_requests = most_in_flight,
                                      .max_receive_requests = 1},
                                     {}, host_.now_ns() + patience_ns);
    if (!connection) return fail(fmt::format("connecting: {}", connection.error().detail));
    if (connection->private_data.size() < sizeof remote_key_) {
      return fail(fmt::format("'{}' is not a server of a calibration", place_.server.host));
    }
    std::memcpy(&remote_key_, connection->private_data.data(), sizeof remote_key_);
    queue_pair_ = std::move(connection->queue_pair);
    measure_clock();
    if (place_.number == 0) board_.processor = measure_processor(host_);
    ++board_.clients_ready;
    return true;
  }

  void run(std::span<const TimedLoad> loads) {
    for (std::uint32_t index = 0; index < loads.size(); ++index) {
      if (place_.number == 0) begin_load(index);
      wait_until([&] { return board_.loads_begun > index; });
      if (board_.has_failed) return;
      if (place_.number < loads[index].load.clients) {
        board_.observations[index][place_.number] = observe(loads[index]);
      }
      ++board_.loads_ended;
    }
    wait_until([&] { return board_.loads_ended == loads.size() * place_.clients; });
    if (place_.number == 0) measure_the_store();
  }

 private:
  bool fail(std::string_view message) {
    board_.fail(fmt::format("client {}: {}", place_.number, message));
    return false;
  }

  // After all loads, because the server then collects the client's memory with its device.
  void measure_the_store() {
    const auto store = measure_store(host_, place_.server.host,
                                     {.keys = place_.store_keys,
                                      .clock_ns = clock_ns_,
                                      .longest_ns = place_.longest_store_load_ns});
    if (store) {
      board_.store = *store;
    } else {
      fail(store.error());
    }
  }

  template <typename Condition>
  void wait_until(Condition condition) {
    while (!condition() && !board_.has_failed) {
      host_.sleep_until(host_.now_ns() + place_.interval_ns);
    }
  }

  // The first client begins a load when all have ended the previous one.
  void begin_load(std::uint32_t index) {
    wait_until([&] { return board_.clients_ready == place_.clients; });
    wait_until([&] { return board_.loads_ended == index * place_.clients; });
    board_.begin_ns = host_.now_ns() + 4 * place_.interval_ns;
    board_.loads_begun = index + 1;
  }

  // Reading the clock takes time, which is not the device's. The least of several measurements is
  // the one that nothing interrupted.
  void measure_clock() {
    constexpr std::uint64_t measurements = 20;
    constexpr std::uint64_t reads = 100;
    std::uint64_t least_ns = fabric::never_ns;
    for (std::uint64_t measurement = 0; measurement < measurements; ++measurement) {
      const std::uint64_t begin_ns = host_.now_ns();
      for (std::uint64_t read = 0; read < reads; ++read) (void)host_.now_ns();
      least_ns = std::min(least_ns, host_.now_ns() - begin_ns);
    }
    clock_ns_ = static_cast<double>(least_ns) / reads;
  }

  fabric::WorkRequest request_of(const Load& load) const {
    fabric::WorkRequest request;
    request.opcode = load.opcode;
    request.length_bytes = load.length_bytes;
    request.local = {region_->local_key(), 0};
    if (!fabric::is_send(load.opcode)) {
      request.remote.key = remote_key_;
      request.remote.offset = load.same_word ? 0 : place_.number * memory_stride_bytes;
    }
    request.swap_or_add = 1;
    return request;
  }

  // Keeps requests in flight for as long as the load says. Their ids are the times at which they
  // were posted.
  Observation observe(const TimedLoad& timed) {
    host_.sleep_until(board_.begin_ns);
    const std::uint64_t end_ns = board_.begin_ns + timed.duration_ns;
    fabric::WorkRequest request = request_of(timed.load);
    Observation observation{.begin_ns = host_.now_ns()};
    std::vector<double> latencies_ns;
    std::vector<double> busy_ns;  // for each request, of each round of posting and polling
    std::vector<fabric::WorkRequest> chain;
    std::vector<fabric::WorkCompletion> completions(timed.load.in_flight);
    std::uint32_t in_flight = 0;
    std::uint32_t next = timed.load.in_flight;
    while (!board_.has_failed) {
      const std::uint64_t posting_ns = host_.now_ns();
      if (posting_ns >= end_ns || observation.requests >= timed.most_requests) next = 0;
      if (next == 0 && in_flight == 0) break;
      if (next > 0) {
        request.id = posting_ns;
        chain.assign(next, request);
        const auto posted = queue_pair_->post_send(chain);
        if (!posted) return give_up(posted.error().detail);
        in_flight += next;
      }
      const std::uint64_t posted_ns = host_.now_ns();
      if (!completions_->wait(posted_ns + patience_ns)) return give_up("no answer");
      const std::uint64_t polling_ns = host_.now_ns();
      const std::size_t count = completions_->poll(completions);
      const std::uint64_t polled_ns = host_.now_ns();
      const auto round_ns =
          static_cast<double>((posted_ns - posting_ns) + (polled_ns - polling_ns)) - 2 * clock_ns_;
      busy_ns.push_back(std::max(0.0, round_ns) /
                        static_cast<double>(std::max<std::size_t>(1, count)));
      for (std::size_t index = 0; index < count; ++index) {
        if (completions[index].status != fabric::CompletionStatus::success) {
          return give_up(to_string(completions[index].status));
        }
        latencies_ns.push_back(static_cast<double>(polled_ns - completions[index].id));
      }
      observation.requests += count;
      observation.last_ns = polled_ns;
      in_flight -= static_cast<std::uint32_t>(count);
      next = static_cast<std::uint32_t>(count);
    }
    const double clock_in_latency_ns = 3 * clock_ns_;
    observation.latency_ns = std::max(0.0, median(latencies_ns) - clock_in_latency_ns);
    observation.busy_ns = median(busy_ns);
    return observation;
  }

  Observation give_up(std::string_view message) {
    fail(message);
    return {};
  }

  fabric::Host& host_;
  const ClientPlace& place_;
  Board& board_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  std::uint32_t remote_key_ = 0;
  double clock_ns_ = 0;
};

// `latency_ns` is that of a short request alone: until the first answer, nothing has been served.
Cost cost_of(const Load& load, double latency_ns, std::span<const Observation> observations) {
  std::uint64_t requests = 0;
  std::uint64_t begin_ns = fabric::never_ns;
  std::uint64_t last_ns = 0;
  Cost cost;
  for (const Observation& observation : observations) {
    requests += observation.requests;
    begin_ns = std::min(begin_ns, observation.begin_ns);
    last_ns = std::max(last_ns, observation.last_ns);
    cost.latency_ns += observation.latency_ns / load.clients;
    cost.busy_ns += observation.busy_ns / load.clients;
  }
  if (requests > 1) {
    cost.interval_ns =
        (static_cast<double>(last_ns - begin_ns) - latency_ns) / static_cast<double>(requests - 1);
  }
  return cost;
}

double latency_alone(std::span<const TimedLoad> loads, fabric::Opcode opcode, const Board& board) {
  const auto alone = std::ranges::find(loads, Load{.opcode = opcode}, &TimedLoad::load);
  if (alone == loads.end()) return 0;
  return board.observations[static_cast<std::size_t>(alone - loads.begin())][0].latency_ns;
}

}  // namespace

void run_client(fabric::Host& host, const ClientPlace& place, std::span<const TimedLoad> loads,
                Board& board) {
  FALAFEL_ASSERT(loads.size() <= Board::most_loads, "{} loads", loads.size());
  Client client(host, place, board);
  if (client.connect()) client.run(loads);
  ++board.clients_over;
}

Measurement sum_up(std::span<const TimedLoad> loads, const Board& board) {
  Measurement measurement;
  for (std::size_t index = 0; index < loads.size(); ++index) {
    const Load& load = loads[index].load;
    const std::span<const Observation> observations =
        std::span(board.observations[index]).first(load.clients);
    const double latency_ns = latency_alone(loads, load.opcode, board);
    measurement.loads.push_back({.load = load, .cost = cost_of(load, latency_ns, observations)});
  }
  measurement.processor = board.processor;
  measurement.store = board.store;
  return measurement;
}

}  // namespace falafel::calibration
