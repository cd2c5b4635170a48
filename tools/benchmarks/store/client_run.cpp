#include "tools/benchmarks/store/client_run.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "tools/benchmarks/store/record.h"

namespace falafel::store_benchmark {
namespace {

using engine::Answer;
using engine::OperationStatistics;

class ClientRun {
 public:
  ClientRun(fabric::Host& host, const ClientPlace& place, const BenchmarkOptions& options,
            Board& board)
      : host_(host),
        place_(place),
        options_(options),
        board_(board),
        part_(board.clients[place.number]) {}

  void run() {
    auto client = engine::Client::connect(
        host_, place_.server, client_options(options_, place_.readahead, place_.location_cache));
    if (!client) return fail(fmt::format("connecting: {}", client.error().detail));
    client_ = std::move(*client);
    part_.state = PartyState::ready;
    wait_while(host_, board_, Phase::starting);
    in_all_fibers(&ClientRun::load);
    finish(PartyState::loaded);
    wait_while(host_, board_, Phase::loading);
    measure();
    finish(PartyState::done);
    wait_while(host_, board_, Phase::finishing);
    client_->disconnect();
  }

 private:
  // The buffers of one stream.
  struct Buffers {
    explicit Buffers(const BenchmarkOptions& options)
        : key(options.key_bytes), value(options.value_bytes) {}
    std::vector<std::byte> key;
    std::vector<std::byte> value;
  };

  bool has_failed() const {
    return part_.state.load(std::memory_order_relaxed) == PartyState::failed;
  }

  void fail(std::string_view message) {
    if (has_failed()) return;
    part_.failure.set(message);
    part_.state = PartyState::failed;
  }

  void finish(PartyState state) {
    if (!has_failed()) part_.state = state;
  }

  void in_all_fibers(void (ClientRun::*body)(std::uint64_t stream)) {
    std::vector<fabric::FiberId> fibers;
    for (std::uint32_t fiber = 0; fiber < options_.in_flight; ++fiber) {
      const std::uint64_t stream = std::uint64_t{place_.number} * options_.in_flight + fiber;
      fibers.push_back(
          host_.spawn({.name = "stream"}, [this, body, stream] { (this->*body)(stream); }));
    }
    for (const fabric::FiberId fiber : fibers) host_.join(fiber);
  }

  void load(std::uint64_t stream) {
    Buffers buffers(options_);
    for (std::uint64_t key = stream; key < options_.keys; key += options_.stream_count()) {
      if (board_.phase != Phase::loading || has_failed() || !store(*client_, key, 0, buffers))
        return;
      count_operation();
    }
  }

  void measure() {
    part_.operations = 0;
    const OperationStatistics before = client_->statistics();
    part_.begin_ns = host_.now_ns();
    if (options_.batches) {
      run_batches();
    } else {
      in_all_fibers(&ClientRun::run_stream);
    }
    part_.end_ns = host_.now_ns();
    part_.statistics = difference(client_->statistics(), before);
  }

  static OperationStatistics difference(OperationStatistics total,
                                        const OperationStatistics& before) {
    total.lookups -= before.lookups;
    total.verbs -= before.verbs;
    total.bytes -= before.bytes;
    total.round_trips -= before.round_trips;
    total.doorbells -= before.doorbells;
    total.restarts -= before.restarts;
    total.lost_compare_and_swaps -= before.lost_compare_and_swaps;
    total.cached_locations -= before.cached_locations;
    total.stale_locations -= before.stale_locations;
    return total;
  }

  struct Stream {
    Stream(const BenchmarkOptions& options, std::uint64_t number)
        : index(number),
          buffers(options),
          operations(options.workload, {.keys = options.keys,
                                        .streams = options.stream_count(),
                                        .index = number,
                                        .seed = options.seed}) {}

    std::uint64_t index;
    Buffers buffers;
    OperationStream operations;
    std::uint64_t writes = 0;
  };

  bool goes_on() const {
    return board_.phase.load(std::memory_order_relaxed) == Phase::running && !has_failed();
  }

  void run_stream(std::uint64_t index) {
    Stream stream(options_, index);
    while (goes_on() && run_next(*client_, stream, place_.clock.now_ticks())) continue;
  }

  // Each batch has one operation of each stream. A latency counts from the beginning of the batch.
  void run_batches() {
    std::vector<Stream> streams;
    for (std::uint32_t number = 0; number < options_.in_flight; ++number) {
      streams.emplace_back(options_, std::uint64_t{place_.number} * options_.in_flight + number);
    }
    bool has_more = true;
    while (has_more && goes_on()) {
      const std::uint64_t begin_ticks = place_.clock.now_ticks();
      client_->run_batch(streams.size(), [&](engine::Batch& batch, std::size_t number) {
        if (!run_next(batch, streams[number], begin_ticks)) has_more = false;
      });
    }
  }

  // `place` is the client or a batch of it. Returns false if the stream is over, or has failed.
  template <typename Place>
  bool run_next(Place& place, Stream& stream, std::uint64_t begin_ticks) {
    const auto operation = stream.operations.next();
    if (!operation) return false;
    const std::uint64_t writer_number = ++stream.writes << 16U | stream.index;
    if (!execute(place, *operation, writer_number, stream.buffers)) return false;
    const std::uint64_t duration_ns = place_.clock.to_ns(begin_ticks, place_.clock.now_ticks());
    part_.latencies[static_cast<std::size_t>(operation->kind)].record(duration_ns);
    count_operation();
    return true;
  }

  // There is one writer and many readers, so no atomic addition is needed.
  void count_operation() {
    part_.operations.store(part_.operations.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
  }

  template <typename Place>
  bool execute(Place& place, const WorkloadOperation& operation, std::uint64_t writer_number,
               Buffers& buffers) {
    switch (operation.kind) {
      case OperationKind::read: return read(place, operation.key, buffers);
      case OperationKind::update:
      case OperationKind::insert: return store(place, operation.key, writer_number, buffers);
      case OperationKind::remove: return remove(place, operation.key, buffers);
      case OperationKind::read_modify_write: break;
    }
    return read(place, operation.key, buffers) &&
           store(place, operation.key, writer_number, buffers);
  }

  template <typename Place>
  bool read(Place& place, std::uint64_t key, Buffers& buffers) {
    write_key(key, buffers.key);
    const engine::GetResult result = place.get(buffers.key);
    if (result.answer == Answer::found && result.value.size() == options_.value_bytes &&
        is_value_of(key, result.value)) {
      return true;
    }
    if (result.answer == Answer::not_found && options_.workload.removes()) {
      ++part_.absent_keys;
      return true;
    }
    fail(result.answer == Answer::found
             ? fmt::format("the value of key {}, {} bytes, was never written to that key", key,
                           result.value.size())
             : fmt::format("GET of key {} answered: {}", key, to_string(result.answer)));
    return false;
  }

  template <typename Place>
  bool store(Place& place, std::uint64_t key, std::uint64_t writer_number, Buffers& buffers) {
    write_key(key, buffers.key);
    write_value(key, writer_number, buffers.value);
    const Answer answer = place.set(buffers.key, buffers.value).answer;
    if (answer == Answer::stored) return true;
    fail(fmt::format("SET of key {} answered: {}", key, to_string(answer)));
    return false;
  }

  template <typename Place>
  bool remove(Place& place, std::uint64_t key, Buffers& buffers) {
    write_key(key, buffers.key);
    const Answer answer = place.remove(buffers.key).answer;
    if (answer == Answer::deleted) return true;
    if (answer == Answer::not_found) {
      ++part_.absent_keys;
      return true;
    }
    fail(fmt::format("DELETE of key {} answered: {}", key, to_string(answer)));
    return false;
  }

  fabric::Host& host_;
  const ClientPlace& place_;
  const BenchmarkOptions& options_;
  Board& board_;
  ClientPart& part_;
  std::unique_ptr<engine::Client> client_;
};

ServerSummary summarize(const engine::Server& server) {
  const engine::ServerInspection inspection = server.inspect();
  ServerSummary summary{.statistics = inspection.statistics, .mature_used_bytes = 0};
  for (const engine::MatureSpaceInspection& space : inspection.mature_spaces) {
    summary.mature_used_bytes += space.used_bytes;
  }
  return summary;
}

}  // namespace

void wait_while(fabric::Host& host, const Board& board, Phase phase) {
  constexpr std::uint64_t interval_ns = 5'000'000;  // rare enough not to disturb the measurement
  while (board.phase == phase) host.sleep_until(host.now_ns() + interval_ns);
}

void run_client(fabric::Host& host, const ClientPlace& place, const BenchmarkOptions& options,
                Board& board) {
  ClientRun(host, place, options, board).run();
}

void run_server(fabric::Host& host, const BenchmarkOptions& options, Board& board) {
  auto server = engine::Server::start(host, server_options(options));
  if (!server) {
    board.server.failure.set(server.error().detail);
    board.server.state = PartyState::failed;
    return;
  }
  board.server.state = PartyState::ready;
  wait_while(host, board, Phase::starting);
  wait_while(host, board, Phase::loading);
  board.server.after_loading = summarize(**server);
  wait_while(host, board, Phase::running);
  board.server.after_run = summarize(**server);
  board.server.state = PartyState::done;
  wait_while(host, board, Phase::finishing);
}

}  // namespace falafel::store_benchmark
