// One request of a send queue: the work request, its progress, and the data that its steps need.
//
//   not started    posted, held_back, overtakable, refusal_deferred: it has had no effect
//   under way      READ, WRITE: moving          atomic: in_gap, unless it writes at once
//   answered       WRITE: landing, then done    all others: done
//
// The requester may learn of a request once it is answered. A WRITE is answered when its packets
// have arrived, which may be before its words are in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/sim/network/placement.h"
#include "fabric/work_request.h"

namespace falafel::fabric {
class MemoryBlock;
}

namespace falafel::sim {

enum class RequestState : std::uint8_t {
  posted,            // not started
  held_back,         // not started; it waited for a fence, a limit or a receive request
  overtakable,       // not started; a datagram that later ones may overtake
  refusal_deferred,  // not started; refused once the earlier requests are answered
  moving,            // a READ or WRITE: packets arrive, words are moved
  in_gap,            // an atomic between its read and its write
  landing,           // a WRITE of which no packet is missing, but some words in memory are
  done,              // it has had all its effects
};
std::string_view to_string(RequestState state);

struct Request {
  fabric::WorkRequest work;
  std::uint64_t place = 0;  // in the send queue, counted from the queue pair's creation
  RequestState state = RequestState::posted;
  // Not success if the responder refused the request, or if it failed its queue pair.
  fabric::CompletionStatus status = fabric::CompletionStatus::success;
  // The order of its region, once the responder has admitted the request.
  fabric::RegionOrdering ordering = fabric::RegionOrdering::strong;
  bool has_passed_write = false;      // a READ: it started before an earlier WRITE was in memory
  bool is_solicited = false;          // see existing_programs.h
  std::uint32_t invalidated_key = 0;  // of a SEND: the window that it invalidates; 0: none
  std::uint32_t tries = 0;            // that found no receive request
  std::uint64_t surviving_bytes = 0;  // of an orphan; the bytes beyond never arrive
  std::uint64_t old_word = 0;         // of an atomic: the word it read
  std::byte* local = nullptr;         // its local buffer, unless that has segments
  // Once the responder has admitted it: where it begins in the responder's memory, and the block.
  std::byte* target = nullptr;
  const fabric::MemoryBlock* target_block = nullptr;
  std::uint32_t target_block_number = 0;
  Placement placement;  // of a READ or WRITE
  // The list that `work.segments` refers to: the program's need not live longer than posting.
  std::vector<fabric::LocalSegment> segments;
  // The receive request that a WRITE with immediate consumed, once its last packet has arrived.
  std::optional<std::uint64_t> consumed_receive_id;
  std::vector<std::byte> payload;  // the data, once the local buffer may no longer be read

  bool is_read() const { return work.opcode == fabric::Opcode::read; }
  bool is_write() const { return fabric::is_write(work.opcode); }
  bool is_send() const { return fabric::is_send(work.opcode); }
  bool is_atomic() const { return fabric::is_atomic(work.opcode); }
  bool has_started() const { return state >= RequestState::moving; }
  bool is_answered() const { return state >= RequestState::landing; }
  bool is_done() const { return state == RequestState::done; }
  // A packet of a READ or WRITE under way is missing. A WRITE with immediate has one even without
  // data.
  bool expects_packet() const {
    if (state != RequestState::moving) return false;
    return !placement.all_arrived() || carries_unconsumed_immediate();
  }
  // The next packet of a WRITE needs a receive request.
  bool awaits_receive_request() const {
    return carries_unconsumed_immediate() && placement.is_last_packet_next();
  }
  // The responder admitted data or an atomic that is not in its memory yet.
  bool is_landing() const {
    if (state == RequestState::in_gap) return true;
    return is_write() && has_started() && !is_done() && placement.has_unplaced();
  }

 private:
  bool carries_unconsumed_immediate() const {
    return work.opcode == fabric::Opcode::write_with_immediate && !consumed_receive_id;
  }
};

}  // namespace falafel::sim
