// The vocabulary of verbs: what is posted to a queue pair, and what it returns. These are plain
// values; fabric/fabric.h states the rules (ordering, atomic width, completion, failure).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace falafel::fabric {

// RC: reliable connection. UC: unreliable connection. UD: unreliable datagram. A message stream
// carries messages through the kernels of both hosts, as a TCP connection does.
enum class Transport : std::uint8_t {
  reliable_connection,
  unreliable_connection,
  unreliable_datagram,
  message_stream,
};

enum class Opcode : std::uint8_t {
  read,
  write,
  compare_and_swap,
  fetch_and_add,
  send,
  receive,  // a receive request and the message in its buffer
  send_with_immediate,
  write_with_immediate,
  receive_of_write,  // in completions only: a WRITE with immediate consumed the receive request
  masked_compare_and_swap,
  masked_fetch_and_add,
  // Memory windows, which the contract does not have: fabric/sim/memory_windows.h offers them to
  // existing programs, and posting refuses them.
  bind_window,
  invalidate_window,
  receive_of_invalidation,  // in completions only: a SEND that has invalidated a window
};

std::string_view to_string(Transport transport);
std::string_view to_string(Opcode opcode);

constexpr bool is_masked(Opcode opcode) {
  return opcode == Opcode::masked_compare_and_swap || opcode == Opcode::masked_fetch_and_add;
}
constexpr bool is_atomic(Opcode opcode) {
  return opcode == Opcode::compare_and_swap || opcode == Opcode::fetch_and_add || is_masked(opcode);
}

constexpr bool is_send(Opcode opcode) {
  return opcode == Opcode::send || opcode == Opcode::send_with_immediate;
}
constexpr bool is_write(Opcode opcode) {
  return opcode == Opcode::write || opcode == Opcode::write_with_immediate;
}
// These consume a receive request of the responder.
constexpr bool needs_receive_request(Opcode opcode) {
  return is_send(opcode) || opcode == Opcode::write_with_immediate;
}
constexpr bool is_receive(Opcode opcode) {
  return opcode == Opcode::receive || opcode == Opcode::receive_of_write ||
         opcode == Opcode::receive_of_invalidation;
}
constexpr bool is_of_window(Opcode opcode) {
  return opcode == Opcode::bind_window || opcode == Opcode::invalidate_window;
}

// READs and atomics return data: they count towards the limit of outstanding requests, and a fence
// waits for them.
constexpr bool returns_data(Opcode opcode) { return opcode == Opcode::read || is_atomic(opcode); }

// Width and alignment of the words on which atomics operate, and of the largest access that is
// never torn.
inline constexpr std::uint32_t word_bytes = 8;

// A location in registered memory: the key of a memory region (the local key for this host, the
// remote key for a peer) and an offset from the start of the registered memory block, not of the
// region. It corresponds to an address in libibverbs if the region's iova is that offset.
struct MemoryAddress {
  std::uint32_t key = 0;
  std::uint64_t offset = 0;
};

// A part of a local buffer that is not contiguous.
struct LocalSegment {
  MemoryAddress address{};
  std::uint32_t length_bytes = 0;
};

// The destination or source of a datagram.
struct DatagramAddress {
  std::uint32_t host = 0;
  std::uint32_t queue_pair_number = 0;

  friend bool operator==(const DatagramAddress&, const DatagramAddress&) = default;
};

// One request of a send queue.
struct WorkRequest {
  std::uint64_t id = 0;  // returned in the completion, not interpreted
  Opcode opcode = Opcode::read;
  bool signalled = true;           // a successful request produces a completion
  bool fenced = false;             // starts only after earlier READs and atomics have finished
  bool inlined = false;            // SEND, WRITE: the data is copied while posting
  std::uint32_t length_bytes = 0;  // of the local buffer; atomics: word_bytes
  MemoryAddress local{};
  MemoryAddress remote{};         // READ, WRITE, atomics
  std::uint64_t compare = 0;      // compare_and_swap: the expected word
  std::uint64_t swap_or_add = 0;  // compare_and_swap: the new word; fetch_and_add: the addend
  DatagramAddress destination{};  // SEND on UD
  std::uint32_t immediate = 0;    // send_with_immediate, write_with_immediate: see WorkCompletion
  // Masked atomics. Compare-and-swap: the bits that are compared, and the bits that are replaced.
  std::uint64_t compare_mask = 0;
  std::uint64_t swap_mask = 0;
  // Masked fetch-and-add: the highest bit of each field of the word. The fields are added one by
  // one, and no carry leaves a field.
  std::uint64_t field_boundaries = 0;
  // If not empty, the local buffer in parts, instead of `local`: gathered by WRITE and SEND, filled
  // by READ, in this order. The list is copied while posting.
  std::span<const LocalSegment> segments{};
};

// A request of a receive queue: the buffer for one message. A WRITE with immediate consumes the
// request but leaves the buffer as it is. On UD, routing data overwrites the first
// `datagram_header_bytes` of the buffer.
struct ReceiveRequest {
  std::uint64_t id = 0;
  MemoryAddress local{};
  std::uint32_t length_bytes = 0;
  // If not empty, the buffer in parts, instead of `local`. The list is copied while posting.
  std::span<const LocalSegment> segments{};
};

inline constexpr std::uint32_t datagram_header_bytes = 40;

enum class CompletionStatus : std::uint8_t {
  success,
  local_length_error,  // a message did not fit the receive buffer
  // the responder could not accept the message (its buffer was too small)
  remote_invalid_request_error,
  remote_access_error,          // bad key, out of bounds, or a missing right at the responder
  retry_exceeded,               // the responder did not answer; requests in flight are in doubt
  receiver_not_ready_exceeded,  // the responder had no receive request posted for too long
  flushed,       // the queue pair entered the error state first; requests in flight are in doubt
  device_error,  // this host's device failed; requests in flight are in doubt
  // The device found that the local buffer is not registered for it. Posting refuses such requests,
  // so only existing programs get it, which post past the contract.
  local_protection_error,
  // The same for the receive buffer of the responder.
  remote_operation_error,
  // The device could not bind or invalidate a memory window.
  window_error,
};

std::string_view to_string(CompletionStatus status);

// Unless the status is success, only id, status and queue_pair_number are defined.
struct WorkCompletion {
  std::uint64_t id = 0;
  CompletionStatus status = CompletionStatus::success;
  Opcode opcode = Opcode::read;
  // receive: bytes received (UD: with header); receive_of_write: bytes written
  std::uint32_t length_bytes = 0;
  std::uint32_t queue_pair_number = 0;
  DatagramAddress source{};  // receive on UD
  // receive, receive_of_write: the sender's number, if it sent one
  std::optional<std::uint32_t> immediate{};
};

}  // namespace falafel::fabric
