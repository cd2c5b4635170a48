#include "tools/command_line/acceptance/intruder.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/layout/control_message.h"
#include "engine/layout/geometry.h"
#include "tools/command_line/acceptance/conformance.h"
#include "tools/command_line/acceptance/served_store.h"

namespace falafel::acceptance {
namespace {

using fabric::CompletionStatus;
using fabric::Opcode;

// A connection to the store, by which requests are posted past the client library.
class Intrusion {
 public:
  explicit Intrusion(Peer& peer)
      : peer_(peer), completions_(must(peer.device().create_completion_queue(8))) {
    auto connection = must(peer.device().connect({.host = peer.server(), .service = store_service},
                                                 {.protection_domain = &peer.domain(),
                                                  .send_completions = completions_.get(),
                                                  .receive_completions = completions_.get(),
                                                  .max_send_requests = 4,
                                                  .max_receive_requests = 4},
                                                 engine::to_bytes(engine::ClientHello{}),
                                                 peer.host().now_ns() + patience_ns));
    const auto hello = engine::from_bytes<engine::ServerHello>(connection.private_data);
    if (!hello) throw NotDone{"the store answered with another message"};
    hello_ = *hello;
    queue_pair_ = std::move(connection.queue_pair);
  }

  const engine::ServerHello& hello() const { return hello_; }

  CompletionStatus attempt(Opcode opcode, const fabric::MemoryAddress& remote) {
    fabric::WorkRequest request;
    request.opcode = opcode;
    request.length_bytes = fabric::word_bytes;
    request.local = {peer_.local_key(), 0};
    request.remote = remote;
    request.swap_or_add = 1;
    must(queue_pair_->post_send({&request, 1}));
    fabric::WorkCompletion completion;
    if (!completions_->wait(peer_.host().now_ns() + patience_ns) ||
        completions_->poll({&completion, 1}) != 1) {
      throw NotDone{"no completion came"};
    }
    return completion.status;
  }

 private:
  Peer& peer_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
  engine::ServerHello hello_;
};

struct Attempt {
  const char* name;
  Opcode opcode;
  bool by_table_key;
  std::uint64_t offset;
  CompletionStatus expected;
};

std::string try_once(Peer& peer, const Attempt& attempt) {
  Intrusion intrusion(peer);
  const std::uint32_t key =
      attempt.by_table_key ? intrusion.hello().table_key : intrusion.hello().chunk_key;
  demand_status(intrusion.attempt(attempt.opcode, {key, attempt.offset}), attempt.expected);
  const bool is_refused = attempt.expected != CompletionStatus::success;
  const auto later = intrusion.attempt(Opcode::read, {intrusion.hello().chunk_key, 0});
  demand_status(later, is_refused ? CompletionStatus::flushed : CompletionStatus::success);
  return is_refused ? "remote access error; the connection is broken" : "success";
}

std::vector<Check> attempts() {
  const engine::Geometry geometry = store_geometry();
  constexpr auto refused = CompletionStatus::remote_access_error;
  constexpr auto success = CompletionStatus::success;
  const std::uint64_t table = engine::Geometry::table_offset();
  std::vector<Check> checks;
  for (const Attempt& attempt :
       {Attempt{"READ of the superblock", Opcode::read, false, 0, success},
        Attempt{"READ of the table", Opcode::read, true, table, success},
        Attempt{"WRITE into the table", Opcode::write, true, table, refused},
        Attempt{"WRITE into the superblock", Opcode::write, false, 0, refused},
        Attempt{"WRITE into a region of others", Opcode::write, false, geometry.region_offset(0),
                refused},
        Attempt{"WRITE into the mature space", Opcode::write, false, geometry.mature_offset(0),
                refused},
        Attempt{"CAS of a region's word", Opcode::compare_and_swap, false,
                geometry.region_offset(0), refused},
        Attempt{"CAS beyond the table", Opcode::compare_and_swap, true, geometry.region_offset(0),
                refused},
        Attempt{"READ beyond the chunk", Opcode::read, false, geometry.chunk_bytes(), refused}}) {
    checks.push_back(
        {.name = attempt.name,
         .source = "the store's rights (docs/protocol.md)",
         .expected = attempt.expected == success ? "success" : "refused, the connection breaks",
         .body = [attempt](Peer& peer) { return try_once(peer, attempt); }});
  }
  return checks;
}

constexpr std::uint64_t revoked_offset = 8'192;
constexpr std::uint32_t revoked_bytes = 32'768;
constexpr std::uint64_t source_offset = 0;
constexpr std::uint64_t returned_offset = 32'768;
constexpr std::byte new_byte{0x7e};

std::uint32_t landed_bytes(Peer& peer) {
  const auto bytes = bytes_at(peer, returned_offset, revoked_bytes);
  return static_cast<std::uint32_t>(std::ranges::count(bytes, new_byte));
}

// One WRITE of many packets, while its region is revoked.
CompletionStatus revoke_during_write(Peer& peer, std::uint64_t delay_ns) {
  peer.ask({.task = Task::fill, .offset = revoked_offset, .length = revoked_bytes, .value = 0});
  const Reply region = peer.ask({.task = Task::register_region,
                                 .offset = revoked_offset,
                                 .length = revoked_bytes,
                                 .value = all_rights});
  const auto link = peer.connect();
  fabric::WorkRequest write = link->write(source_offset, revoked_offset, revoked_bytes);
  write.remote.key = static_cast<std::uint32_t>(region.words[1]);
  // Either may come first.
  const bool is_posted_first = peer.host().random(2) == 0;
  if (is_posted_first) {
    link->post({write});
    peer.host().sleep_until(peer.host().now_ns() + delay_ns);
  }
  peer.begin_asking({.task = Task::revoke, .object = static_cast<std::uint32_t>(region.words[0])});
  if (!is_posted_first) link->post({write});
  const CompletionStatus status = link->next().status;
  peer.end_asking();
  // Other queue pairs may find the WRITE only after a READ of its own one (rule 10).
  if (status == CompletionStatus::success)
    link->succeed({link->read(returned_offset, revoked_offset, revoked_bytes)});
  return status;
}

Observed revocations(Peer& peer, const Budget& budget) {
  peer.memory().write(source_offset, std::vector<std::byte>(revoked_bytes, new_byte));
  const auto reader = peer.connect();
  const std::uint64_t end_ns = peer.host().now_ns() + budget.duration_ns;
  const std::uint64_t most = std::min<std::uint64_t>(budget.most_repetitions, 200);
  std::uint64_t repetitions = 0;
  std::uint64_t succeeded = 0;
  std::uint64_t refused_whole = 0;
  std::uint64_t refused_midway = 0;
  std::uint64_t parts = 0;
  while (repetitions < most && peer.host().now_ns() < end_ns) {
    ++repetitions;
    const CompletionStatus status =
        revoke_during_write(peer, peer.host().random(20 * fabric::microsecond_ns));
    reader->succeed({reader->read(returned_offset, revoked_offset, revoked_bytes)});
    const std::uint32_t landed = landed_bytes(peer);
    if (status == CompletionStatus::success) {
      landed == revoked_bytes ? ++succeeded : ++parts;
    } else if (status != CompletionStatus::remote_access_error) {
      throw Mismatch{fmt::format("a WRITE completed with: {}", to_string(status))};
    } else {
      landed == 0 ? ++refused_whole : ++refused_midway;
    }
  }
  return {.repetitions = repetitions,
          .outcomes = {{"done before the revocation", succeeded},
                       {"refused as a whole", refused_whole},
                       {"refused after packets had landed", refused_midway},
                       {"success with a part of the data", parts, true}}};
}

}  // namespace

PartReport run_intruder(fabric::Host& host, const std::string& server, const Budget& budget) {
  PartReport report{.title = "Intruder",
                    .about =
                        "A client that connects to the store, then tries what it has no right "
                        "to, each on a connection of its own; and revocations during WRITEs."};
  const std::uint64_t begin_ns = host.now_ns();
  for (const Check& attempt : attempts()) report.rows.push_back(run_check(host, server, attempt));
  report.rows.push_back(run_shape(host, server,
                                  {"WRITE of 32 KiB | its region is revoked", "rule 26",
                                   "success with all data, or refused, maybe midway", revocations},
                                  budget));
  report.seconds = static_cast<double>(host.now_ns() - begin_ns) / 1e9;
  return report;
}

}  // namespace falafel::acceptance
