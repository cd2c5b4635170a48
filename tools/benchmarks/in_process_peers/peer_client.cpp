#include "tools/benchmarks/in_process_peers/peer_client.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>

#include "fabric/realtime/clock.h"
#include "fabric/text.h"
#include "tools/benchmarks/store/operation_clock.h"
#include "tools/benchmarks/store/record.h"

namespace falafel::in_process_peers {
namespace {

using store_benchmark::OperationKind;
using store_benchmark::PartyState;
using store_benchmark::Phase;

class PeerClient {
 public:
  PeerClient(Peer& peer, const store_benchmark::BenchmarkOptions& options, std::uint32_t number,
             store_benchmark::Board& board)
      : peer_(peer),
        options_(options),
        number_(number),
        board_(board),
        part_(board.clients[number]),
        key_(options.key_bytes),
        value_(options.value_bytes) {}

  // Throws if the store fails or finds a wrong value.
  void run() {
    part_.state = PartyState::ready;
    wait_while(Phase::starting);
    for (std::uint64_t key = number_; key < options_.keys; key += options_.clients) {
      store(key, 0);
      count_operation();
    }
    part_.state = PartyState::loaded;
    wait_while(Phase::loading);
    part_.operations = 0;
    part_.begin_ns = fabric::monotonic_ns();
    measure();
    part_.end_ns = fabric::monotonic_ns();
    part_.state = PartyState::done;
  }

 private:
  void wait_while(Phase phase) const {
    while (board_.phase == phase) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void count_operation() {
    part_.operations.store(part_.operations.load(std::memory_order_relaxed) + 1,
                           std::memory_order_relaxed);
  }

  void measure() {
    store_benchmark::OperationStream stream(options_.workload, {.keys = options_.keys,
                                                                .streams = options_.clients,
                                                                .index = number_,
                                                                .seed = options_.seed});
    std::uint64_t writes = 0;
    while (board_.phase.load(std::memory_order_relaxed) == Phase::running) {
      const auto operation = stream.next();
      if (!operation) return;
      const std::uint64_t begin_ticks = clock_.now_ticks();
      const bool reads = operation->kind == OperationKind::read ||
                         operation->kind == OperationKind::read_modify_write;
      if (reads) check(operation->key);
      if (operation->kind != OperationKind::read) store(operation->key, ++writes << 16U | number_);
      part_.latencies[static_cast<std::size_t>(operation->kind)].record(
          clock_.to_ns(begin_ticks, clock_.now_ticks()));
      count_operation();
    }
  }

  void store(std::uint64_t key, std::uint64_t writer_number) {
    store_benchmark::write_key(key, key_);
    store_benchmark::write_value(key, writer_number, value_);
    peer_.set(fabric::view_of(key_), fabric::view_of(value_));
  }

  void check(std::uint64_t key) {
    store_benchmark::write_key(key, key_);
    if (!peer_.get(fabric::view_of(key_), found_)) {
      throw std::runtime_error(fmt::format("key {} is missing", key));
    }
    if (found_.size() != options_.value_bytes || !store_benchmark::is_value_of(key, found_)) {
      throw std::runtime_error(fmt::format("the value of key {} was never written to it", key));
    }
  }

  Peer& peer_;
  const store_benchmark::BenchmarkOptions& options_;
  std::uint32_t number_;
  store_benchmark::Board& board_;
  store_benchmark::ClientPart& part_;
  const store_benchmark::OperationClock clock_ = store_benchmark::OperationClock::of_processor();
  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
  std::vector<std::byte> found_;
};

}  // namespace

void run_peer_client(const PeerKind& kind, const PeerPlace& place,
                     const store_benchmark::BenchmarkOptions& options, std::uint32_t client,
                     store_benchmark::Board& board) {
  try {
    const std::unique_ptr<Peer> peer = kind.open(place);
    PeerClient(*peer, options, client, board).run();
  } catch (const std::exception& error) {
    board.clients[client].failure.set(error.what());
    board.clients[client].state = PartyState::failed;
  }
}

}  // namespace falafel::in_process_peers
