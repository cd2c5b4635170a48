// Requests that the other device must refuse: unknown keys, wrong bounds, missing and revoked
// rights. It refuses with remote_access_error, both ends go to the error state, and memory stays as
// it is.
#include <fmt/format.h>

#include <algorithm>

#include "tools/command_line/acceptance/conformance.h"

namespace falafel::acceptance {
namespace {

using fabric::CompletionStatus;
using fabric::WorkRequest;

constexpr std::uint64_t region_offset = 8'192;
constexpr std::uint64_t region_bytes = 4'096;
constexpr std::uint8_t old_byte = 0x33;

struct Region {
  std::uint32_t number = 0;
  std::uint32_t key = 0;
};

Region make_region(Peer& peer, std::uint64_t rights) {
  peer.ask(
      {.task = Task::fill, .offset = region_offset, .length = 2 * region_bytes, .value = old_byte});
  const Reply reply = peer.ask({.task = Task::register_region,
                                .offset = region_offset,
                                .length = region_bytes,
                                .value = rights});
  return {static_cast<std::uint32_t>(reply.words[0]), static_cast<std::uint32_t>(reply.words[1])};
}

// Returns the number of changed bytes from the beginning of the region on.
std::size_t changed_bytes(Peer& peer) {
  const auto other = peer.connect();
  other->succeed({other->read(returned, region_offset, 2 * region_bytes)});
  const auto bytes = bytes_at(peer, returned, 2 * region_bytes);
  return static_cast<std::size_t>(
      std::ranges::count_if(bytes, [](std::byte byte) { return byte != std::byte{old_byte}; }));
}

void demand_broken(Peer& peer, Link& link) {
  demand_status(link.status_of(link.read(0, 0, 8)), CompletionStatus::flushed);
  demand(link.queue_pair().state() == fabric::QueuePairState::error,
         "the queue pair is not in the error state");
  const std::uint64_t deadline_ns = peer.host().now_ns() + patience_ns;
  const auto state = [&] {
    return peer.ask({.task = Task::state, .object = link.number()}).words[0];
  };
  while (state() != static_cast<std::uint64_t>(fabric::QueuePairState::error)) {
    demand(peer.host().now_ns() < deadline_ns, "the other end is not in the error state");
    peer.host().sleep_until(peer.host().now_ns() + fabric::millisecond_ns);
  }
}

// `make` is given the region's key.
std::string refused(Peer& peer, std::uint64_t rights,
                    const std::function<WorkRequest(const Link&, std::uint32_t)>& make) {
  const Region region = make_region(peer, rights);
  const auto link = peer.connect();
  peer.memory().write(0, pattern(8'192, 9));
  demand_status(link->status_of(make(*link, region.key)), CompletionStatus::remote_access_error);
  demand_broken(peer, *link);
  const std::size_t changed = changed_bytes(peer);
  demand(changed == 0, fmt::format("refused, but {} bytes have changed", changed));
  return "remote access error; both ends in error, nothing changed";
}

WorkRequest with_key(WorkRequest request, std::uint32_t key) {
  request.remote.key = key;
  return request;
}

Check unknown_key(std::string name, WorkRequest (*make)(const Link&)) {
  return {std::move(name), "rules 19, 26", "remote access error, nothing changed",
          [make](Peer& peer) {
            return refused(peer, all_rights, [&](const Link& link, std::uint32_t key) {
              return with_key(make(link), key ^ 0x5a5a5a5aU);
            });
          }};
}

Check missing_right(std::string name, std::uint64_t rights, WorkRequest (*make)(const Link&)) {
  return {std::move(name), "rules 19, 26", "remote access error, nothing changed",
          [make, rights](Peer& peer) {
            return refused(peer, rights, [&](const Link& link, std::uint32_t key) {
              return with_key(make(link), key);
            });
          }};
}

WorkRequest read_inside(const Link& link) { return link.read(512, region_offset, 8); }
WorkRequest write_inside(const Link& link) { return link.write(0, region_offset, 8); }
WorkRequest add_inside(const Link& link) { return link.add(512, region_offset, 1); }
WorkRequest read_beyond(const Link& link) {
  return link.read(512, region_offset + region_bytes - 7, 8);
}
WorkRequest write_behind(const Link& link) {
  return link.write(0, region_offset + region_bytes, 1);
}
WorkRequest write_before(const Link& link) { return link.write(0, region_offset - 8, 8); }
WorkRequest add_behind(const Link& link) { return link.add(512, region_offset + region_bytes, 1); }

// A device may check the bounds of each packet alone, so the packets inside the region may land.
std::string ends_beyond(Peer& peer) {
  const Region region = make_region(peer, all_rights);
  const auto link = peer.connect();
  peer.memory().write(0, pattern(2 * region_bytes, 9));
  WorkRequest request = link->write(0, region_offset, 2 * region_bytes - 8);
  request.remote.key = region.key;
  demand_status(link->status_of(request), CompletionStatus::remote_access_error);
  const std::size_t changed = changed_bytes(peer);
  demand(changed <= region_bytes, fmt::format("{} bytes changed, more than the region", changed));
  return fmt::format("remote access error; {} bytes of the region had landed", changed);
}

std::string right_taken_away(Peer& peer) {
  const Region region = make_region(peer, all_rights);
  const auto link = peer.connect();
  peer.memory().write(0, std::vector<std::byte>(8, std::byte{old_byte}));
  link->succeed({with_key(write_inside(*link), region.key)});
  try {
    peer.ask({.task = Task::change_access,
              .object = region.number,
              .value = right_local_write | right_remote_read});
  } catch (const NotDone& refused) {
    throw NotTried{"the device does not change rights: " + refused.shown};
  }
  link->succeed({with_key(read_inside(*link), region.key)});
  peer.memory().write(0, pattern(8, 9));
  demand_status(link->status_of(with_key(write_inside(*link), region.key)),
                CompletionStatus::remote_access_error);
  demand(changed_bytes(peer) == 0, "refused, but memory has changed");
  return "READ still succeeds, WRITE is refused";
}

std::string revoked(Peer& peer) {
  const Region region = make_region(peer, all_rights);
  const auto link = peer.connect();
  link->succeed({with_key(read_inside(*link), region.key)});
  peer.ask({.task = Task::revoke, .object = region.number});
  peer.memory().write(0, pattern(8, 9));
  demand_status(link->status_of(with_key(write_inside(*link), region.key)),
                CompletionStatus::remote_access_error);
  demand_broken(peer, *link);
  demand(changed_bytes(peer) == 0, "refused, but memory has changed");
  return "remote access error after the revocation";
}

std::string others_go_on(Peer& peer) {
  const auto broken = peer.connect();
  const auto other = peer.connect();
  other->succeed({other->read(0, 0, 8)});
  demand_status(broken->status_of(broken->read(0, session_bytes, 8)),
                CompletionStatus::remote_access_error);
  other->succeed({other->read(0, 0, 8)});
  return "the other connection works";
}

}  // namespace

std::vector<Check> access_checks() {
  const std::uint64_t no_read = all_rights & ~right_remote_read;
  const std::uint64_t no_write = all_rights & ~right_remote_write;
  const std::uint64_t no_atomic = all_rights & ~right_remote_atomic;
  return {
      unknown_key("READ with an unknown key", read_inside),
      unknown_key("WRITE with an unknown key", write_inside),
      unknown_key("FETCH_ADD with an unknown key", add_inside),
      missing_right("READ that ends beyond the region", all_rights, read_beyond),
      missing_right("WRITE behind the region", all_rights, write_behind),
      missing_right("WRITE before the region", all_rights, write_before),
      missing_right("FETCH_ADD behind the region", all_rights, add_behind),
      missing_right("READ without its right", no_read, read_inside),
      missing_right("WRITE without its right", no_write, write_inside),
      missing_right("FETCH_ADD without its right", no_atomic, add_inside),
      {"WRITE of two pages to a region of one", "rule 26",
       "remote access error, no byte beyond the region", ends_beyond},
      {"a right is taken away", "contract: change_access", "refused from then on",
       right_taken_away},
      {"a region is revoked", "contract: revoke", "refused from then on", revoked},
      {"another connection, after one was refused", "rule 19", "goes on", others_go_on},
  };
}

}  // namespace falafel::acceptance
