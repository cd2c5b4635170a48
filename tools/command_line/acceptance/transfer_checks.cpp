// READ and WRITE: lengths, places, inlined data, segments, and what a later SEND makes visible.
#include <fmt/format.h>

#include <array>

#include "tools/command_line/acceptance/conformance.h"

namespace falafel::acceptance {
namespace {

using fabric::Opcode;

std::string write_and_read_back(Peer& peer, std::uint64_t offset, std::uint32_t length) {
  const auto link = peer.connect();
  const auto sent = pattern(length, 3);
  peer.memory().write(0, sent);
  link->succeed({link->write(0, remote_place + offset, length),
                 link->read(returned, remote_place + offset - 8, length + 16)});
  const std::vector<std::byte> zeros(8);
  demand(bytes_at(peer, returned + 8, length) == sent, "READ brought other bytes");
  demand(bytes_at(peer, returned, 8) == zeros && bytes_at(peer, returned + 8 + length, 8) == zeros,
         "bytes beside the WRITE have changed");
  return fmt::format("{} bytes as written, neighbors unchanged", length);
}

std::string read_what_the_processor_wrote(Peer& peer) {
  peer.ask({.task = Task::fill, .offset = remote_place, .length = 4'096, .value = 0xa5});
  const auto link = peer.connect();
  link->succeed({link->read(returned, remote_place, 4'096)});
  demand(bytes_at(peer, returned, 4'096) == std::vector<std::byte>(4'096, std::byte{0xa5}),
         "READ brought other bytes");
  return "4096 bytes as the processor wrote them";
}

std::string visible_after_send(Peer& peer) {
  const auto link = peer.connect();
  peer.ask({.task = Task::post_receive, .object = link->number(), .offset = 1'024, .length = 8});
  peer.memory().store(0, 77);
  link->succeed({link->write(0, remote_place, 8), link->send(0, 8)});
  peer.ask({.task = Task::await_receive, .object = link->number()});
  const std::uint64_t word = peer.ask({.task = Task::load, .offset = remote_place}).words[0];
  demand(word == 77, fmt::format("the processor loaded {} instead of 77", word));
  return "the processor loads the written word";
}

std::string transfer_of_nothing(Peer& peer) {
  const auto link = peer.connect();
  fabric::WorkRequest nothing = link->write(0, 0, 0);
  nothing.remote.key ^= 0x5a5a5a5a;
  demand_status(link->status_of(nothing), fabric::CompletionStatus::success);
  return "success";
}

std::string inlined(Peer& peer) {
  const std::uint32_t most = peer.device().attributes().max_inline_bytes;
  if (most < 8) throw NotTried{"the device inlines no data"};
  const auto link = peer.connect({.max_inline_bytes = 8});
  peer.memory().store(0, 5);
  fabric::WorkRequest request = link->write(0, remote_place, 8);
  request.inlined = true;
  link->post({request});
  peer.memory().store(0, 6);
  demand_status(link->next().status, fabric::CompletionStatus::success);
  link->succeed({link->read(returned, remote_place, 8)});
  const std::uint64_t word = peer.memory().load(returned);
  demand(word == 5, fmt::format("{} arrived instead of 5", word));
  return "the word from before the posting arrived";
}

std::string segments(Peer& peer) {
  if (peer.device().attributes().max_scatter_gather_entries < 2)
    throw NotTried{"the device has one segment per request"};
  const auto link = peer.connect({.max_send_segments = 2});
  peer.memory().store(0, 1);
  peer.memory().store(512, 2);
  const std::array<fabric::LocalSegment, 2> parts{fabric::LocalSegment{{peer.local_key(), 0}, 8},
                                                  fabric::LocalSegment{{peer.local_key(), 512}, 8}};
  fabric::WorkRequest request = link->write(0, remote_place, 16);
  request.local = {};
  request.segments = parts;
  link->succeed({request, link->read(returned, remote_place, 16)});
  demand(peer.memory().load(returned) == 1 && peer.memory().load(returned + 8) == 2,
         "the segments arrived in another order");
  return "both segments in order";
}

std::string outstanding_reads(Peer& peer) {
  const auto link = peer.connect();
  const std::uint32_t limit = peer.device().attributes().max_outstanding_reads_and_atomics;
  const std::uint32_t count = std::min(2 * limit + 1, most_link_requests);
  peer.ask({.task = Task::fill, .offset = remote_place, .length = 8, .value = 1});
  std::vector<fabric::WorkRequest> chain;
  for (std::uint32_t number = 0; number < count; ++number)
    chain.push_back(link->read(returned + 8 * std::uint64_t{number}, remote_place, 8));
  link->succeed(chain);
  for (std::uint32_t number = 0; number < count; ++number) {
    demand(peer.memory().load(returned + 8 * std::uint64_t{number}) == 0x0101'0101'0101'0101,
           fmt::format("READ {} brought another word", number));
  }
  return fmt::format("{} READs in one chain, {} at a time", count, limit);
}

}  // namespace

std::vector<Check> transfer_checks() {
  return {
      {"READ of 4 KiB", "contract: READ", "the processor's bytes", read_what_the_processor_wrote},
      {"WRITE and READ of a word", "contract: WRITE", "the same bytes, neighbors unchanged",
       [](Peer& peer) { return write_and_read_back(peer, 0, 8); }},
      {"WRITE and READ of one byte inside a word", "contract: WRITE",
       "the same byte, neighbors unchanged",
       [](Peer& peer) { return write_and_read_back(peer, 3, 1); }},
      {"WRITE and READ of several packets", "contract: WRITE, rule 4",
       "the same bytes, neighbors unchanged",
       [](Peer& peer) { return write_and_read_back(peer, 0, 12'288); }},
      {"WRITE of no bytes with an unknown key", "contract: a transfer of no bytes needs no key",
       "success", transfer_of_nothing},
      {"WRITE, then SEND: the receiver's processor", "rule 10", "it sees the WRITE",
       visible_after_send},
      {"inlined WRITE whose source changes after posting", "rule 26, contract: buffers",
       "the bytes from before", inlined},
      {"WRITE from two segments", "contract: segments", "one range, in order", segments},
      {"more READs than may be outstanding, in one chain", "rule 15", "all succeed",
       outstanding_reads},
  };
}

}  // namespace falafel::acceptance
