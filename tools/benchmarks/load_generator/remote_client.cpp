#include "tools/benchmarks/load_generator/remote_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include "fabric/realtime/clock.h"
#include "fabric/text.h"
#include "tools/benchmarks/load_generator/connection.h"
#include "tools/benchmarks/store/record.h"

namespace falafel::load_generator {
namespace {

using store_benchmark::OperationKind;
using store_benchmark::OperationStream;
using store_benchmark::PartyState;
using store_benchmark::Phase;
using store_benchmark::WorkloadOperation;

class RemoteClient {
 public:
  RemoteClient(const std::string& socket_path, const Protocol& protocol,
               const store_benchmark::BenchmarkOptions& options, std::uint32_t number,
               store_benchmark::Board& board)
      : protocol_(protocol),
        options_(options),
        number_(number),
        board_(board),
        part_(board.clients[number]),
        connection_(socket_path, protocol),
        key_(options.key_bytes),
        value_(options.value_bytes) {}

  void run() {
    part_.state = PartyState::ready;
    wait_while(Phase::starting);
    load();
    part_.state = has_failed() ? PartyState::failed : PartyState::loaded;
    wait_while(Phase::loading);
    part_.operations = 0;
    part_.begin_ns = fabric::monotonic_ns();
    measure();
    part_.end_ns = fabric::monotonic_ns();
    if (!has_failed()) part_.state = PartyState::done;
  }

 private:
  bool has_failed() const { return part_.state == PartyState::failed; }

  void fail(std::string_view message) {
    part_.failure.set(message);
    part_.state = PartyState::failed;
  }

  void wait_while(Phase phase) const {
    while (board_.phase == phase) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::uint64_t first_stream() const { return std::uint64_t{number_} * options_.in_flight; }

  void count_operations(std::uint64_t count) {
    part_.operations.store(part_.operations.load(std::memory_order_relaxed) + count,
                           std::memory_order_relaxed);
  }

  void append_set(std::uint64_t key, std::uint64_t writer_number) {
    store_benchmark::write_key(key, key_);
    store_benchmark::write_value(key, writer_number, value_);
    protocol_.append_set(requests_, fabric::view_of(key_), fabric::view_of(value_));
  }

  void append_get(std::uint64_t key) {
    store_benchmark::write_key(key, key_);
    protocol_.append_get(requests_, fabric::view_of(key_));
  }

  // Sends batches, which every store processes fastest.
  void load() {
    constexpr std::uint64_t most_in_batch = 64;
    std::uint64_t key = number_;
    while (key < options_.keys && !has_failed()) {
      requests_.clear();
      std::uint64_t batch = 0;
      for (; batch < most_in_batch && key < options_.keys; ++batch, key += options_.clients) {
        append_set(key, 0);
      }
      connection_.send(requests_);
      for (std::uint64_t answer = 0; answer < batch; ++answer) expect_stored();
      count_operations(batch);
    }
  }

  void expect_stored() {
    const Answer answer = connection_.receive();
    if (answer.kind != Answer::Kind::stored) fail(fmt::format("SET answered: {}", answer.value));
  }

  void expect_value_of(std::uint64_t key) {
    const Answer answer = connection_.receive();
    const auto value = std::as_bytes(std::span(answer.value));
    if (answer.kind == Answer::Kind::value && value.size() == options_.value_bytes &&
        store_benchmark::is_value_of(key, value)) {
      return;
    }
    fail(answer.kind == Answer::Kind::missing
             ? fmt::format("key {} is missing", key)
             : fmt::format("GET of key {} answered: {}", key, answer.value.substr(0, 100)));
  }

  void measure() {
    std::vector<OperationStream> streams;
    for (std::uint64_t index = 0; index < options_.in_flight; ++index) {
      streams.emplace_back(options_.workload,
                           store_benchmark::StreamPlace{.keys = options_.keys,
                                                        .streams = options_.stream_count(),
                                                        .index = first_stream() + index,
                                                        .seed = options_.seed});
    }
    while (board_.phase == Phase::running && !has_failed()) {
      if (!run_batch(streams)) return;
    }
  }

  // A read-modify-write is a batch of reads followed by a batch of writes.
  bool run_batch(std::vector<OperationStream>& streams) {
    batch_.clear();
    for (OperationStream& stream : streams) {
      const auto operation = stream.next();
      if (!operation) return false;
      batch_.push_back(*operation);
    }
    const std::uint64_t begin_ticks = clock_.now_ticks();
    request_first_halves();
    for (const WorkloadOperation& operation : batch_) {
      receive_first_half(operation);
      if (operation.kind != OperationKind::read_modify_write) record(operation, begin_ticks);
    }
    write_second_halves(begin_ticks);
    count_operations(batch_.size());
    return true;
  }

  void request_first_halves() {
    requests_.clear();
    for (const WorkloadOperation& operation : batch_) {
      if (reads(operation)) {
        append_get(operation.key);
      } else {
        append_set(operation.key, ++writes_ << 16U | first_stream());
      }
    }
    connection_.send(requests_);
  }

  static bool reads(const WorkloadOperation& operation) {
    return operation.kind == OperationKind::read ||
           operation.kind == OperationKind::read_modify_write;
  }

  void receive_first_half(const WorkloadOperation& operation) {
    if (reads(operation)) {
      expect_value_of(operation.key);
    } else {
      expect_stored();
    }
  }

  void write_second_halves(std::uint64_t begin_ticks) {
    requests_.clear();
    for (const WorkloadOperation& operation : batch_) {
      if (operation.kind == OperationKind::read_modify_write) {
        append_set(operation.key, ++writes_ << 16U | first_stream());
      }
    }
    if (requests_.empty()) return;
    connection_.send(requests_);
    for (const WorkloadOperation& operation : batch_) {
      if (operation.kind != OperationKind::read_modify_write) continue;
      expect_stored();
      record(operation, begin_ticks);
    }
  }

  void record(const WorkloadOperation& operation, std::uint64_t begin_ticks) {
    part_.latencies[static_cast<std::size_t>(operation.kind)].record(
        clock_.to_ns(begin_ticks, clock_.now_ticks()));
  }

  const Protocol& protocol_;
  const store_benchmark::BenchmarkOptions& options_;
  std::uint32_t number_;
  store_benchmark::Board& board_;
  store_benchmark::ClientPart& part_;
  Connection connection_;
  const store_benchmark::OperationClock clock_ = store_benchmark::OperationClock::of_processor();
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
  std::string requests_;
  std::vector<WorkloadOperation> batch_;
  std::uint64_t writes_ = 0;
};

}  // namespace

void run_remote_client(const std::string& socket_path, const Protocol& protocol,
                       const store_benchmark::BenchmarkOptions& options, std::uint32_t client,
                       store_benchmark::Board& board) {
  try {
    RemoteClient(socket_path, protocol, options, client, board).run();
  } catch (const std::exception& error) {
    board.clients[client].failure.set(error.what());
    board.clients[client].state = PartyState::failed;
  }
}

}  // namespace falafel::load_generator
