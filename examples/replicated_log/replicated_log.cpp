// A replicated log as in Mu (Aguilera et al., OSDI 2020): the leader appends by an RDMA WRITE to
// the logs of its followers, and only it has the right to write there. A new leader asks each
// follower for the right, waits for the answer, READs the log, and appends behind the last entry.
// One follower is enough to show the mistake, so there is one here.
//
// The mistake: the follower takes the right from the old leader and answers at once. The device
// refuses further requests, but a WRITE that it has admitted before may still land. The new leader
// does not find that entry, and both append to the same place.
//
// The cure: before it answers, the follower moves its queue pair of the old leader to error, and
// waits for the flush of a receive request. Then nothing of the old leader can land any more.
#include <falafel/checkers/specifications/append_log.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::AppendLog;

// The follower's memory: entries of a word each, and 0 where there is none.
constexpr std::uint64_t slots = 6;
constexpr std::uint64_t log_bytes = slots * fabric::word_bytes;

constexpr std::uint16_t service_of_old_leader = 1;
constexpr std::uint16_t service_of_new_leader = 2;
constexpr fabric::Access reads_only{.remote_read = true};

void follow(fabric::Host& host, bool fences) {
  // One protection domain for each leader, so each has rights of its own to the log.
  check::Endpoint for_old_leader(host, service_of_old_leader);
  check::Endpoint for_new_leader(host, service_of_new_leader);
  for_new_leader.share("log", for_old_leader.share("log", log_bytes), reads_only);
  const auto old_leader = for_old_leader.accept();
  const auto new_leader = for_new_leader.accept();
  const check::Connection::Message request = new_leader->receive();
  if (!for_old_leader.region("log").change_access(reads_only)) return;
  if (fences) {
    old_leader->queue_pair().move_to_error();
    try {
      while (true) old_leader->receive();
    } catch (const check::Disconnected&) {
    }
  }
  if (!for_new_leader.region("log").change_access(check::every_right)) return;
  new_leader->send(request);
  new_leader->receive();  // keeps the connections; nobody sends
}

AppendLog::Result append(check::Connection& follower, std::uint64_t index, std::uint64_t entry) {
  follower.write(follower.region("log"), index * fabric::word_bytes, entry);
  return {.index = index};
}

std::vector<std::uint64_t> read_log(check::Connection& follower) {
  const check::Outcome outcome =
      follower.execute(check::Chain().read(follower.region("log"), 0, log_bytes));
  std::vector<std::uint64_t> entries;
  for (std::uint64_t index = 0; index < slots; ++index) {
    std::uint64_t entry = 0;
    std::memcpy(&entry, &outcome.bytes(0)[index * fabric::word_bytes], fabric::word_bytes);
    if (entry == 0) break;
    entries.push_back(entry);
  }
  return entries;
}

void test(check::World& world, bool has_mistake) {
  const std::uint64_t entries = 1 + world.choose(3);  // of each leader
  constexpr std::uint32_t old_leader = 0;
  constexpr std::uint32_t new_leader = 1;
  auto& history = world.history<AppendLog>();
  world.name(0, log_bytes, "log");

  world.server("follower", [=](fabric::Host& host) { follow(host, !has_mistake); });
  world.client("old leader", [&](fabric::Host& host) {
    check::Endpoint endpoint(host);
    const auto follower = endpoint.connect("follower", {}, service_of_old_leader);
    try {
      for (std::uint64_t index = 0; index < entries; ++index) {
        const std::uint64_t entry = 10 + index;
        history.call(old_leader, AppendLog::Append{entry},
                     [&] { return append(*follower, index, entry); });
      }
    } catch (const std::out_of_range&) {  // it has lost its right
    } catch (const check::Disconnected&) {
    }
  });
  world.client("new leader", [&](fabric::Host& host) {
    check::Endpoint endpoint(host);
    const auto follower = endpoint.connect("follower", {}, service_of_new_leader);
    follower->send({});
    follower->receive();
    const std::uint64_t first = read_log(*follower).size();
    for (std::uint64_t index = first; index < first + entries; ++index) {
      const std::uint64_t entry = 20 + index;
      history.call(new_leader, AppendLog::Append{entry},
                   [&] { return append(*follower, index, entry); });
    }
    history.call(new_leader, AppendLog::ReadAll{},
                 [&] { return AppendLog::Result{.values = read_log(*follower)}; });
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: replicated_log mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("replicated_log.").append(variant)},
                    [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
