// A lock whose holder may die, because its host crashes. The lock word names its holder. The lock
// protects a record of several words, which the holder reads and writes anew.
//
// The first mistake: nobody takes the lock from a holder that died, and the others wait forever.
//
// The second mistake: a client that has seen the same holder for longer than a lease believes that
// it died, and takes the lock over. But the old holder may be alive and slow. It believes that it
// still has the lock, and its WRITE destroys what the new holder has written.
//
// The cure: leases with a fencing token. Every holder has a higher token than the one before. A
// holder writes the record to memory of its own, which nobody else writes to, and publishes it by a
// COMPARE_AND_SWAP of the word that refers to the record and carries the token of its writer. If
// another holder has published a record in the meantime, the COMPARE_AND_SWAP fails, and the client
// starts over.
#include <falafel/checkers/specifications/counter.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/workload.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Counter;

// The server's memory: the lock, the reference to the record, and places for records. The first
// place contains the record at the start; each client has two more.
constexpr std::uint64_t lock = 0;
constexpr std::uint64_t reference = 8;
constexpr std::uint64_t words = 3;
constexpr std::uint64_t place(std::uint64_t number) {
  return 16 + number * words * fabric::word_bytes;
}

constexpr std::uint64_t lease_ns = 100'000;
constexpr std::uint64_t poll_interval_ns = 20'000;

enum class Variant { waits_forever, trusts_leases, cure };

// Lock and reference: the holder or the place in the lower half, the token in the upper half.
constexpr std::uint64_t nobody = 0;
constexpr std::uint64_t number_in(std::uint64_t word) { return word & 0xffff'ffff; }
constexpr std::uint64_t token_in(std::uint64_t word) { return word >> 32; }
constexpr std::uint64_t word_of(std::uint64_t token, std::uint64_t number) {
  return token << 32 | number;
}

// A record is a counter, stored in each of its words.
using Record = std::array<std::uint64_t, words>;

class LeaseLock {
 public:
  LeaseLock(fabric::Host& host, check::RemoteMemory& memory, std::uint64_t client, bool has_leases)
      : host_(host), memory_(memory), holder_(client + 1), has_leases_(has_leases) {}

  void acquire() {
    std::uint64_t seen = memory_.read(lock);
    std::uint64_t first_seen_ns = host_.now_ns();
    while (true) {
      const bool is_free = number_in(seen) == nobody;
      const bool is_over = has_leases_ && host_.now_ns() - first_seen_ns > lease_ns;
      if (is_free || is_over) {
        held_ = word_of(token_in(seen) + 1, holder_);
        if (memory_.compare_and_swap(lock, seen, held_) == seen) return;
      }
      host_.sleep_until(host_.now_ns() + poll_interval_ns);
      const std::uint64_t found = memory_.read(lock);
      if (found != seen) first_seen_ns = host_.now_ns();
      seen = found;
    }
  }
  void release() { memory_.compare_and_swap(lock, held_, word_of(token_in(held_), nobody)); }

  std::uint64_t token() const { return token_in(held_); }

 private:
  fabric::Host& host_;
  check::RemoteMemory& memory_;
  std::uint64_t holder_;
  bool has_leases_;
  std::uint64_t held_ = 0;  // the lock word
};

Record read_record(check::RemoteMemory& memory, std::uint64_t number) {
  Record record{};
  memory.read(place(number), std::as_writable_bytes(std::span(record)));
  return record;
}

void write_record(check::RemoteMemory& memory, std::uint64_t number, std::uint64_t value) {
  Record record{};
  record.fill(value);
  memory.write(place(number), std::as_bytes(std::span(record)));
}

std::uint64_t increment_in_place(LeaseLock& lease, check::RemoteMemory& memory) {
  lease.acquire();
  const std::uint64_t before = read_record(memory, 0).front();
  write_record(memory, 0, before + 1);
  lease.release();
  return before;
}

// Returns nothing if another client has published a record in the meantime.
std::optional<std::uint64_t> try_to_increment(std::uint64_t token, check::RemoteMemory& memory,
                                              std::uint64_t client) {
  const std::uint64_t seen = memory.read(reference);
  if (token_in(seen) > token) return std::nullopt;
  const std::uint64_t before = read_record(memory, number_in(seen)).front();
  // The client has two places. It uses the one to which the reference does not point.
  const std::uint64_t first = 1 + 2 * client;
  const std::uint64_t own = number_in(seen) == first ? first + 1 : first;
  write_record(memory, own, before + 1);
  const bool is_published = memory.compare_and_swap(reference, seen, word_of(token, own)) == seen;
  return is_published ? std::optional(before) : std::nullopt;
}

std::uint64_t increment_with_token(LeaseLock& lease, check::RemoteMemory& memory,
                                   std::uint64_t client) {
  while (true) {
    lease.acquire();
    const auto before = try_to_increment(lease.token(), memory, client);
    lease.release();
    if (before) return *before;
  }
}

using Plan = check::Plan<Counter>;
check::Workload<Counter> workload() {
  return {.clients = {2, 3}, .operations = {1, 3}, .draw = [](check::Draw& /*draw*/) {
            return Counter::FetchAdd{1};
          }};
}

std::string describe_word(std::uint64_t word) {
  const std::string number = std::to_string(number_in(word));
  return word == number_in(word) ? number
                                 : number + " (token " + std::to_string(token_in(word)) + ")";
}

void test(check::World& world, const Plan& plan, Variant variant) {
  const std::uint64_t places = 1 + 2 * plan.clients();
  auto& history = world.history<Counter>();
  world.name(lock, fabric::word_bytes, "lock");
  world.name(reference, fabric::word_bytes, "reference");
  for (std::uint64_t number = 0; number < places; ++number) {
    world.name(place(number), words * fabric::word_bytes, "record " + std::to_string(number));
  }
  world.describe_words(describe_word);

  world.server("server",
               [=](fabric::Host& host) { check::MemoryServer(host, place(places)).serve(); });
  world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
    check::RemoteMemory memory(host, "server");
    LeaseLock lease(host, memory, client, variant != Variant::waits_forever);
    for (const Counter::Operation& operation : plan.operations(client)) {
      history.call(client, operation, [&] {
        return variant == Variant::cure ? increment_with_token(lease, memory, client)
                                        : increment_in_place(lease, memory);
      });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::map<std::string_view, Variant> variants{{"waits_forever", Variant::waits_forever},
                                                     {"trusts_leases", Variant::trusts_leases},
                                                     {"cure", Variant::cure}};
  const auto variant = variants.find(argument_count == 2 ? arguments[1] : "");
  if (variant == variants.end()) {
    std::fputs("usage: lease_lock waits_forever|trusts_leases|cure\n", stderr);
    return 2;
  }
  check::Options options{.name = std::string("lease_lock.").append(variant->first)};
  options.network.faults.push_back(falafel::sim::FaultKind::client_crash);
  const check::Result result = check::random(
      options, workload(), [variant = variant->second](check::World& world, const Plan& plan) {
        test(world, plan, variant);
      });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
