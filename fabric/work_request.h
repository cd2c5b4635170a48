// The vocabulary of verbs: what is posted to a queue pair and what comes back. Values only; the rules
// that bind them (ordering, atomic width, completion, failure) are stated in fabric/fabric.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace falafel::fabric {

// RC: reliable connection. UC: unreliable connection. UD: unreliable datagram.
enum class Transport : std::uint8_t {
  reliable_connection,
  unreliable_connection,
  unreliable_datagram
};

enum class Opcode : std::uint8_t { read, write, compare_and_swap, fetch_and_add, send, receive };

std::string_view to_string(Transport transport);
std::string_view to_string(Opcode opcode);

constexpr bool is_atomic(Opcode opcode) {
  return opcode == Opcode::compare_and_swap || opcode == Opcode::fetch_and_add;
}

// READs and atomics bring data back: they count against the limit on outstanding requests, and a
// fence waits for them.
constexpr bool returns_data(Opcode opcode) { return opcode == Opcode::read || is_atomic(opcode); }

// Width and alignment of the words that atomics work on, and of the largest access that never tears.
inline constexpr std::uint32_t word_bytes = 8;

// A place in registered memory: the key of a memory region (its local key when this host uses it, its
// remote key when a peer does) and an offset from the start of the memory block that was registered
// (not of the region): what libibverbs calls an address, with the region's iova chosen as that offset.
struct MemoryAddress {
  std::uint32_t key = 0;
  std::uint64_t offset = 0;
};

// Where a datagram goes, or came from.
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
  std::uint64_t compare = 0;      // compare_and_swap: the word that is expected
  std::uint64_t swap_or_add = 0;  // compare_and_swap: the new word; fetch_and_add: the addend
  DatagramAddress destination{};  // SEND on UD
};

// One request of a receive queue: the buffer for one message. On UD its first
// `datagram_header_bytes` are overwritten with routing data of no use to the receiver.
struct ReceiveRequest {
  std::uint64_t id = 0;
  MemoryAddress local{};
  std::uint32_t length_bytes = 0;
};

inline constexpr std::uint32_t datagram_header_bytes = 40;

enum class CompletionStatus : std::uint8_t {
  success,
  local_length_error,            // a message did not fit the receive buffer
  remote_invalid_request_error,  // the responder could not take the message (its buffer was too small)
  remote_access_error,           // bad key, out of bounds, or a missing right at the responder
  retry_exceeded,                // the responder did not answer; what was in flight is in doubt
  receiver_not_ready_exceeded,  // the responder had no receive request posted for too long
  flushed,       // the queue pair went into error first; what was in flight is in doubt
  device_error,  // this host's device failed; what was in flight is in doubt
};

std::string_view to_string(CompletionStatus status);

struct WorkCompletion {
  std::uint64_t id = 0;
  CompletionStatus status = CompletionStatus::success;
  Opcode opcode = Opcode::read;
  std::uint32_t length_bytes = 0;  // receive: bytes received (UD: with header); undefined on error
  std::uint32_t queue_pair_number = 0;
  DatagramAddress source{};  // receive on UD
};

}  // namespace falafel::fabric
