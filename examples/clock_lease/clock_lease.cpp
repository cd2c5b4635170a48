// Leases as in Gray and Cheriton (SOSP 1989): a reader that has a lease answers reads from its
// cache. A writer first stops further leases, and waits until the last one is over. The server's
// word `lease` contains the end of the last lease, in nanoseconds of the wall clock.
//
// The mistake: the writer waits until its own wall clock has passed the end. The reader compares
// the same number with its clock, which may be behind. It then still answers from its cache
// although the write has returned.
//
// The cure: the hosts state the largest error of their clocks, and the writer waits for twice this
// error longer. This excludes only reads from a cache. A WRITE that a holder has posted before the
// end of its lease may land at any time; that needs a fence, or a token (see lease_lock).
//
// By default, the clocks of a simulated network agree, so the program asks for errors.
#include <falafel/checkers/specifications/register.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Register;

// The server's memory.
constexpr std::uint64_t lease = 0;
constexpr std::uint64_t value = 8;
constexpr std::uint64_t memory_bytes = 16;

constexpr std::uint64_t lease_ns = 100'000;
constexpr std::uint64_t poll_interval_ns = 5'000;
constexpr std::uint64_t largest_clock_error_ns = 20'000;

// The lowest bit of the lease word: a writer waits, and nobody gets a lease.
constexpr std::uint64_t writer_waits = 1;

void sleep(fabric::Host& host) { host.sleep_until(host.now_ns() + poll_interval_ns); }

class Reader {
 public:
  explicit Reader(fabric::Host& host)
      : host_(host), endpoint_(host), connection_(endpoint_.connect("server")) {}

  std::uint64_t read() {
    while (host_.wall_clock_ns() >= end_ns_) renew();
    return cached_;
  }

 private:
  void renew() {
    const check::RemoteRegion& memory = connection_->region("memory");
    const std::uint64_t seen = connection_->read(memory, lease);
    const std::uint64_t end_ns = (host_.wall_clock_ns() + lease_ns) & ~writer_waits;
    const bool is_granted =
        (seen & writer_waits) == 0 &&
        connection_->compare_and_swap(memory, lease, seen, std::max(seen, end_ns)) == seen;
    if (!is_granted) return sleep(host_);
    cached_ = connection_->read(memory, value);
    end_ns_ = end_ns;
  }

  fabric::Host& host_;
  check::Endpoint endpoint_;
  std::unique_ptr<check::Connection> connection_;
  std::uint64_t end_ns_ = 0;
  std::uint64_t cached_ = 0;
};

void write(fabric::Host& host, check::Connection& connection, std::uint64_t desired,
           std::uint64_t allowance_ns) {
  const check::RemoteRegion& memory = connection.region("memory");
  std::uint64_t end_ns = connection.read(memory, lease);
  while (true) {
    const std::uint64_t found =
        connection.compare_and_swap(memory, lease, end_ns, end_ns | writer_waits);
    if (found == end_ns) break;
    end_ns = found;
  }
  while (host.wall_clock_ns() <= end_ns + allowance_ns) sleep(host);
  // The swap comes after the WRITE. When it is complete, everybody reads the new value.
  connection.execute(check::Chain()
                         .write(memory, value, desired)
                         .compare_and_swap(memory, lease, end_ns | writer_waits, 0));
}

void test(check::World& world, bool has_mistake) {
  const std::uint64_t allowance_ns = has_mistake ? 0 : 2 * largest_clock_error_ns;
  const auto readers = static_cast<std::uint32_t>(1 + world.choose(2));
  const std::uint64_t writes = 1 + world.choose(2);
  const std::uint64_t reads = 1 + world.choose(20);  // of each reader
  auto& history = world.history<Register>();
  world.name(lease, fabric::word_bytes, "lease");
  world.name(value, fabric::word_bytes, "value");

  world.server("server", [](fabric::Host& host) {
    check::Endpoint endpoint(host);
    endpoint.share("memory", memory_bytes);
    endpoint.serve();
  });
  world.clients(readers, [&](fabric::Host& host, std::uint32_t client) {
    Reader reader(host);
    for (std::uint64_t number = 0; number < reads; ++number) {
      history.call(client, Register::Read{}, [&] { return reader.read(); });
      sleep(host);
    }
  });
  world.client("writer", [&](fabric::Host& host) {
    check::Endpoint endpoint(host);
    const auto connection = endpoint.connect("server");
    for (std::uint64_t number = 1; number <= writes; ++number) {
      sleep(host);
      history.call(readers, Register::Write{number},
                   [&] { write(host, *connection, number, allowance_ns); });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: clock_lease mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  check::Options options{.name = std::string("clock_lease.").append(variant)};
  options.network.adjust = [](falafel::sim::SimulationOptions& simulation) {
    simulation.clock_offset_ns = largest_clock_error_ns;
    simulation.set_fault_rate(falafel::sim::FaultKind::clock_step, 100);
  };
  const check::Result result =
      check::random(options, [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
