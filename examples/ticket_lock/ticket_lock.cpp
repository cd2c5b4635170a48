// A ticket lock over one-sided verbs. A client draws a ticket by FETCH_ADD and reads the number
// being served until it is its own. The lock protects a counter, which the holder increments by a
// READ and a WRITE.
//
// The mistake: the program keeps a connection for the lock and one for the data. The holder waits
// for the completion of its WRITE before it releases the lock, and believes that everybody now sees
// the new value. But a completed WRITE is visible only to later requests of the same queue pair.
// The next holder may still read the old value, and an increment is lost.
//
// The cure: one connection for both. The requests of one queue pair take effect in order, so
// whoever sees the release also sees the data.
#include <falafel/checkers/specifications/counter.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/workload.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Counter;

// The server's memory.
constexpr std::uint64_t next_ticket = 0;
constexpr std::uint64_t now_serving = 8;
constexpr std::uint64_t counter = 16;
constexpr std::uint64_t memory_bytes = 24;

class TicketLock {
 public:
  explicit TicketLock(check::RemoteMemory& memory) : memory_(memory) {}

  void acquire() {
    ticket_ = memory_.fetch_and_add(next_ticket, 1);
    while (memory_.read(now_serving) != ticket_) {
    }
  }
  void release() { memory_.write(now_serving, ticket_ + 1); }

 private:
  check::RemoteMemory& memory_;
  std::uint64_t ticket_ = 0;
};

std::uint64_t increment(TicketLock& lock, check::RemoteMemory& data) {
  lock.acquire();
  const std::uint64_t before = data.read(counter);
  data.write(counter, before + 1);
  lock.release();
  return before;
}

using Plan = check::Plan<Counter>;
check::Workload<Counter> workload() {
  return {.clients = {2, 3}, .operations = {1, 3}, .draw = [](check::Draw& /*draw*/) {
            return Counter::FetchAdd{1};
          }};
}

void test(check::World& world, const Plan& plan, bool has_mistake) {
  auto& history = world.history<Counter>();
  world.name(next_ticket, fabric::word_bytes, "next ticket");
  world.name(now_serving, fabric::word_bytes, "now serving");
  world.name(counter, fabric::word_bytes, "counter");

  world.server("server",
               [](fabric::Host& host) { check::MemoryServer(host, memory_bytes).serve(); });
  world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
    check::RemoteMemory memory(host, "server");
    std::unique_ptr<check::RemoteMemory> second;
    if (has_mistake) second = std::make_unique<check::RemoteMemory>(host, "server");
    TicketLock lock(memory);
    for (const Counter::Operation& operation : plan.operations(client)) {
      history.call(client, operation, [&] { return increment(lock, second ? *second : memory); });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: ticket_lock mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("ticket_lock.").append(variant)}, workload(),
                    [=](check::World& world, const Plan& plan) { test(world, plan, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
