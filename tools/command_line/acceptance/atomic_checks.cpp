// Compare-and-swap and fetch-and-add.
#include <fmt/format.h>

#include "tools/command_line/acceptance/conformance.h"

namespace falafel::acceptance {
namespace {

using fabric::ErrorCode;
using fabric::Opcode;
using fabric::WorkRequest;

constexpr std::uint64_t atomic_result = 512;  // of this side's memory

void require_atomics(Peer& peer) {
  if (peer.greeting().atomic_capability == 0) throw NotTried{"the other device has no atomics"};
}

// Runs the atomic on a word with the value; demands the old word as its result and the new one in
// memory.
std::string demand_atomic(Peer& peer, std::uint64_t before, const WorkRequest& atomic, Link& link,
                          std::uint64_t after) {
  require_atomics(peer);
  peer.ask({.task = Task::store, .offset = remote_place, .value = before});
  link.succeed({atomic, link.read(returned, remote_place, 8)});
  const std::uint64_t found = peer.memory().load(atomic_result);
  const std::uint64_t left = peer.memory().load(returned);
  std::string observed = fmt::format("returned {}, left {}", found, left);
  demand(found == before && left == after, observed);
  return observed;
}

std::string swap(Peer& peer, std::uint64_t expected, std::uint64_t after) {
  const auto link = peer.connect();
  return demand_atomic(peer, 7, link->swap(atomic_result, remote_place, expected, 9), *link, after);
}

std::string add(Peer& peer) {
  const auto link = peer.connect();
  return demand_atomic(peer, ~std::uint64_t{0}, link->add(atomic_result, remote_place, 3), *link,
                       2);
}

std::string misaligned(Peer& peer) {
  require_atomics(peer);
  const auto link = peer.connect();
  for (const WorkRequest& request : {link->swap(atomic_result, remote_place + 4, 0, 1),
                                     link->add(atomic_result, remote_place + 1, 1)}) {
    demand_error(link->queue_pair().post_send({&request, 1}), ErrorCode::invalid_argument);
  }
  link->succeed({link->read(returned, remote_place, 16)});
  demand(peer.memory().load(returned) == 0 && peer.memory().load(returned + 8) == 0,
         "memory has changed");
  return "refused when posted, as an invalid argument; the connection goes on";
}

std::string chained(Peer& peer) {
  require_atomics(peer);
  const auto link = peer.connect();
  peer.memory().store(0, 5);
  link->succeed({link->write(0, remote_place, 8), link->swap(atomic_result, remote_place, 5, 6),
                 fenced(link->add(atomic_result + 8, remote_place, 1)),
                 link->read(returned, remote_place, 8)});
  std::string observed =
      fmt::format("CAS found {}, FETCH_ADD {}, READ {}", peer.memory().load(atomic_result),
                  peer.memory().load(atomic_result + 8), peer.memory().load(returned));
  demand(observed == "CAS found 5, FETCH_ADD 6, READ 7", observed);
  return observed;
}

std::string masked(Peer& peer) {
  if (!peer.device().attributes().has_masked_atomics)
    throw NotTried{"the device has no masked atomics"};
  const auto link = peer.connect();
  WorkRequest request = link->swap(atomic_result, remote_place, 0x07, 0xff00);
  request.opcode = Opcode::masked_compare_and_swap;
  request.compare_mask = 0xff;
  request.swap_mask = 0xff00;
  return demand_atomic(peer, 0x1'2207, request, *link, 0x1'ff07);
}

}  // namespace

std::vector<Check> atomic_checks() {
  return {
      {"CAS that matches", "contract: atomics", "returns the old word, leaves the new one",
       [](Peer& peer) { return swap(peer, 7, 9); }},
      {"CAS that does not match", "contract: atomics, rule 12", "returns the word, leaves it",
       [](Peer& peer) { return swap(peer, 8, 7); }},
      {"FETCH_ADD that wraps around", "contract: atomics", "returns the old word, leaves the sum",
       add},
      {"misaligned atomics", "rule 14", "refused when posted", misaligned},
      {"WRITE; CAS; fenced FETCH_ADD; READ in one chain", "rules 5, 7, 8",
       "each finds the one before", chained},
      {"masked CAS", "contract: masked atomics", "only the bits of the mask change", masked},
  };
}

}  // namespace falafel::acceptance
