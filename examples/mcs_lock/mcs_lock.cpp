// The queue lock of Mellor-Crummey and Scott (ACM TOCS, 1991) over one-sided verbs. Each client has
// a node in its own memory. The server's word `tail` names the last client of the queue. A client
// swaps itself in, links itself by a WRITE to the node of the client before it, and waits in its
// own memory until that client hands over the lock by a WRITE. The lock protects a counter.
//
// The mistake: a holder that finds no successor in its node frees the lock by a WRITE of the tail.
// A client that has swapped itself in, and whose link is not there yet, then waits forever.
//
// The cure: the holder frees the lock by a COMPARE_AND_SWAP of the tail from itself to nobody. If
// that fails, somebody is about to link, and the holder waits for the link to hand over the lock.
#include <falafel/checkers/specifications/counter.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Counter;

// The server's memory, then that of each client. Clients are numbered from 1, and 0 is nobody.
constexpr std::uint64_t tail = 0;
constexpr std::uint64_t counter = 8;
constexpr std::uint64_t server_bytes = 16;
constexpr std::uint64_t successor = 16;
constexpr std::uint64_t is_holder = 24;
constexpr std::uint64_t node_bytes = 32;  // the offsets of the server's words are not used
constexpr std::uint64_t nobody = 0;

class Client {
 public:
  Client(fabric::Host& host, std::uint64_t number, fabric::MemoryBlock& node)
      : number_(number), node_(node), endpoint_(host), server_(endpoint_.connect("server")) {}

  std::uint64_t increment(bool has_mistake) {
    acquire();
    const check::RemoteRegion& memory = server_->region("lock");
    const std::uint64_t before = server_->read(memory, counter);
    // The next holder reads by another queue pair. A WRITE is visible there when a READ behind it
    // is complete.
    server_->execute(check::Chain().write(memory, counter, before + 1).read(memory, counter));
    release(has_mistake);
    return before;
  }

 private:
  void acquire() {
    node_.store(successor, nobody);
    node_.store(is_holder, 0);
    std::uint64_t last = nobody;
    while (true) {
      const std::uint64_t found = swap_tail(last, number_);
      if (found == last) break;
      last = found;
    }
    if (last == nobody) return;
    write_to(last, successor, number_);
    node_.wait_until_changed(is_holder, 0, fabric::never_ns);
  }

  void release(bool has_mistake) {
    std::uint64_t next = node_.load(successor);
    if (next == nobody && has_mistake) {
      server_->write(server_->region("lock"), tail, nobody);
      return;
    }
    if (next == nobody) {
      if (swap_tail(number_, nobody) == number_) return;
      next = node_.wait_until_changed(successor, nobody, fabric::never_ns);
    }
    write_to(next, is_holder, 1);
  }

  std::uint64_t swap_tail(std::uint64_t expected, std::uint64_t desired) {
    return server_->compare_and_swap(server_->region("lock"), tail, expected, desired);
  }
  void write_to(std::uint64_t client, std::uint64_t offset, std::uint64_t word) {
    auto& connection = others_[client];
    if (!connection) connection = endpoint_.connect("client " + std::to_string(client - 1));
    connection->write(connection->region("node"), offset, word);
  }

  std::uint64_t number_;
  fabric::MemoryBlock& node_;
  check::Endpoint endpoint_;
  std::unique_ptr<check::Connection> server_;
  std::map<std::uint64_t, std::unique_ptr<check::Connection>> others_;
};

void test(check::World& world, bool has_mistake) {
  const auto clients = static_cast<std::uint32_t>(2 + world.choose(2));
  const std::uint64_t increments = 1 + world.choose(2);
  auto& history = world.history<Counter>();
  world.name(tail, fabric::word_bytes, "tail");
  world.name(counter, fabric::word_bytes, "counter");
  world.name(successor, fabric::word_bytes, "successor");
  world.name(is_holder, fabric::word_bytes, "is holder");

  world.server("server", [](fabric::Host& host) {
    check::Endpoint endpoint(host);
    endpoint.share("lock", server_bytes);
    endpoint.serve();
  });
  world.clients(clients, [&](fabric::Host& host, std::uint32_t client) {
    const std::shared_ptr<fabric::MemoryBlock> node = *host.allocate_memory(node_bytes);
    host.spawn({.name = "node", .daemon = true}, [&host, node] {
      check::Endpoint endpoint(host);
      endpoint.share("node", node);
      endpoint.serve();
    });
    Client self(host, client + 1, *node);
    for (std::uint64_t number = 0; number < increments; ++number) {
      history.call(client, Counter::FetchAdd{1}, [&] { return self.increment(has_mistake); });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: mcs_lock mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("mcs_lock.").append(variant)},
                    [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
