// A lock that clients take by COMPARE_AND_SWAP, and that protects a counter, while connections
// break. A request in flight is then in doubt: it has taken effect, or it has not, or it still
// will. The client connects anew and repeats the request.
//
// The first mistake, `writes`: the holder releases the lock by a WRITE. Atomics are atomic only
// with respect to each other, and a swap that fails may write back the word that it has read. If
// the swap of a waiting client reads the lock before the WRITE and writes it back after it, the
// release is lost. A WRITE repeated after a break may also release the lock of the next holder.
//
// The second mistake, `repeats_at_once`: the server accepts the new connection, and leaves the old
// one of that client as it is. Requests that went out there may still arrive, in the middle of
// what the client and others do later: an old swap takes the lock for a client that has finished,
// or releases it although its holder has come back to use it again.
//
// The cure: the holder releases the lock by a COMPARE_AND_SWAP from its own number, which changes
// nothing if it is repeated. And before the server answers on the new connection, it moves its
// end of the old one to error and waits for the flush, so nothing from there can arrive any more.
// The rules are 11, 12, 17 and 21 of the fabric contract (docs/fabric.md).
#include <falafel/checkers/specifications/counter.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Counter;

enum class Variant { writes, repeats_at_once, cure };

// The server's memory. The lock contains the number of its holder, from 1 on.
constexpr std::uint64_t lock = 0;
constexpr std::uint64_t counter = 8;
constexpr std::uint64_t memory_bytes = 16;
constexpr std::uint64_t nobody = 0;

constexpr std::uint64_t patience_ns = 1'000'000;  // the server's end may break, which is silent
// It takes a holder seconds to notice that, so those who wait poll less and less often.
constexpr std::uint64_t first_pause_ns = 1'000;
constexpr std::uint64_t longest_pause_ns = 1'000'000'000;

// Serves the connections of one client, one after the other.
void serve(fabric::Host& host, std::uint16_t client,
           const std::shared_ptr<fabric::MemoryBlock>& memory, bool fences) {
  check::Endpoint endpoint(host, client);
  endpoint.share("memory", memory);
  std::vector<std::unique_ptr<check::Connection>> connections;
  while (true) {
    auto next = endpoint.accept();
    try {
      if (fences && !connections.empty()) {
        connections.back()->queue_pair().move_to_error();
        while (true) connections.back()->receive();
      }
    } catch (const check::Disconnected&) {  // the flush
    }
    connections.push_back(std::move(next));
    try {
      connections.back()->send({});
    } catch (const check::Disconnected&) {  // the client will connect again
    }
  }
}

class Client {
 public:
  Client(fabric::Host& host, std::uint16_t number)
      : host_(host), number_(number), endpoint_(host) {}

  std::uint64_t increment(bool releases_by_write) {
    std::uint64_t pause_ns = first_pause_ns;
    while (true) {
      const std::uint64_t holder = swap_lock(nobody, number_);
      if (holder == nobody || holder == number_) break;  // it may have been swapped in doubt
      host_.sleep_until(host_.now_ns() + pause_ns);
      pause_ns = std::min(2 * pause_ns, longest_pause_ns);
    }
    const auto read = [](const auto& memory) { return check::Chain().read(memory, counter); };
    const std::uint64_t before = insist(read).word(0);
    // The next holder uses another queue pair. It finds the WRITE when the READ is complete.
    insist([before](const auto& memory) {
      return check::Chain().write(memory, counter, before + 1).read(memory, counter);
    });
    if (releases_by_write) {
      insist([](const auto& memory) { return check::Chain().write(memory, lock, nobody); });
    } else {
      swap_lock(number_, nobody);
    }
    return before;
  }

 private:
  // Repeats the requests until they are complete.
  template <typename AddRequests>
  check::Outcome insist(const AddRequests& add_requests) {
    while (true) {
      try {
        if (!connection_) connect();
        return connection_->execute(add_requests(connection_->region("memory")));
      } catch (const check::Disconnected&) {
        broken_.push_back(std::move(connection_));  // to close it would not take back requests
      }
    }
  }
  std::uint64_t swap_lock(std::uint64_t expected, std::uint64_t desired) {
    return insist([=](const auto& memory) {
             return check::Chain().compare_and_swap(memory, lock, expected, desired);
           })
        .word(0);
  }
  void connect() {
    connection_ = endpoint_.connect("server", {}, number_);
    if (!connection_->receive_until(host_.now_ns() + patience_ns)) throw check::Disconnected();
  }

  fabric::Host& host_;
  std::uint16_t number_;
  check::Endpoint endpoint_;
  std::unique_ptr<check::Connection> connection_;
  std::vector<std::unique_ptr<check::Connection>> broken_;
};

void test(check::World& world, Variant variant) {
  const auto clients = static_cast<std::uint32_t>(2 + world.choose(2));
  const std::uint64_t increments = 1 + world.choose(4);
  auto& history = world.history<Counter>();
  world.name(lock, fabric::word_bytes, "lock");
  world.name(counter, fabric::word_bytes, "counter");

  world.server("server", [=](fabric::Host& host) {
    const std::shared_ptr<fabric::MemoryBlock> memory = *host.allocate_memory(memory_bytes);
    for (std::uint32_t client = 0; client < clients; ++client) {
      host.spawn({.name = "service", .daemon = true}, [=, &host] {
        serve(host, static_cast<std::uint16_t>(client + 1), memory,
              variant != Variant::repeats_at_once);
      });
    }
  });
  world.clients(clients, [&](fabric::Host& host, std::uint32_t client) {
    Client self(host, static_cast<std::uint16_t>(client + 1));
    for (std::uint64_t number = 0; number < increments; ++number) {
      history.call(client, Counter::FetchAdd{1},
                   [&] { return self.increment(variant == Variant::writes); });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::map<std::string_view, Variant> variants{{"writes", Variant::writes},
                                                     {"repeats_at_once", Variant::repeats_at_once},
                                                     {"cure", Variant::cure}};
  const auto variant = variants.find(argument_count == 2 ? arguments[1] : "");
  if (variant == variants.end()) {
    std::fputs("usage: write_released_lock writes|repeats_at_once|cure\n", stderr);
    return 2;
  }
  check::Options options{.name = std::string("write_released_lock.").append(variant->first)};
  // A request that is late on a connection that breaks is rare otherwise.
  options.network.adjust = [](falafel::sim::SimulationOptions& simulation) {
    simulation.set_fault_rate(falafel::sim::FaultKind::queue_pair_error, 40);
    simulation.set_fault_rate(falafel::sim::FaultKind::late_packets, 10);
  };
  const check::Result result = check::random(
      options, [variant = variant->second](check::World& world) { test(world, variant); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
