// The messages between the two sides of an acceptance run. The side that tries connects to the side
// that serves, and asks it by SEND and RECV to do what only its processor or its objects can do.
//
// A session begins with a connection for these messages. The connections under test carry the
// number of their session in their private data. Both sides run the same version, so the messages
// are the structs below.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fabric/fabric.h"

namespace falafel::acceptance {

// Not below 1,024, which only the superuser may use.
inline constexpr std::uint16_t control_service = 2'170;
inline constexpr std::uint16_t link_service = 2'171;
inline constexpr std::uint16_t store_service = 2'172;

inline constexpr std::uint64_t session_bytes = 65'536;  // of memory, on each side
inline constexpr std::uint32_t most_link_requests = 128;
inline constexpr std::uint32_t most_link_receives = 32;

enum class Task : std::uint32_t {
  greet,             // the words: Greeting; the text: the version, then lines about the machine
  load,              // the word at the offset
  store,             // value
  fill,              // value, for `length` bytes
  compare_and_swap,  // by the processor: compare, value; the word before
  post_receive,      // link, offset, length
  await_receive,     // link; the words: Received
  register_region,   // offset, length; value: Right bits; the words: number, key
  change_access,     // object: region; value: Right bits
  revoke,            // object: region
  move_to_error,     // object: link
  close,             // object: link
  state,             // object: link; the word: QueuePairState
  flush,             // object: link; posts a receive request, and awaits that it is flushed
  // The processor looks at memory until the word at `stop` changes; see observers.h.
  watch_two_words,
  watch_messages,
  count_up,
  store_up,
  begin_store,  // value: StoreSize
  end_store,    // the text: what is wrong with its memory; empty: nothing
  begin_calibration,
  end_calibration,
};

// Bits of Command::value for regions.
inline constexpr std::uint64_t right_local_write = 1;
inline constexpr std::uint64_t right_remote_read = 2;
inline constexpr std::uint64_t right_remote_write = 4;
inline constexpr std::uint64_t right_remote_atomic = 8;
inline constexpr std::uint64_t all_rights = 15;

struct Command {
  Task task = Task::greet;
  std::uint32_t object = 0;  // number of a link or a region
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t value = 0;
  std::uint64_t compare = 0;
};

enum class Answered : std::uint32_t { done, refused };

inline constexpr std::size_t most_text_bytes = 2'000;
struct Reply {
  Answered answered = Answered::done;
  std::uint32_t text_bytes = 0;  // refused: the reason
  std::array<std::uint64_t, 8> words{};
  std::array<char, most_text_bytes> text{};
};

// The words of replies.
struct Greeting {
  std::uint64_t mtu_bytes = 0;
  std::uint64_t atomic_capability = 0;
  std::uint64_t places_in_address_order = 0;
};
struct Received {
  std::uint64_t status = 0;
  std::uint64_t opcode = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t has_immediate = 0;
  std::uint64_t immediate = 0;
  std::uint64_t queue_pair_number = 0;
};

// The private data of a connection under test, and of its answer.
struct LinkHello {
  std::uint64_t session = 0;
  std::uint32_t transport = 0;
  std::uint32_t receiver_not_ready_retry_count = 7;
};
struct LinkAnswer {
  std::uint32_t remote_key = 0;
  std::uint32_t link = 0;
};

static_assert(sizeof(LinkHello) <= fabric::max_private_data_bytes);

template <typename Value>
std::vector<std::byte> to_bytes(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

// A transport may pad private data. Returns nullopt if the bytes are too few.
template <typename Value>
std::optional<Value> from_bytes(std::span<const std::byte> bytes) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if (bytes.size() < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data(), sizeof(Value));
  return value;
}

template <typename Value>
std::array<std::uint64_t, 8> to_words(const Value& value) {
  static_assert(sizeof(Value) <= sizeof(std::array<std::uint64_t, 8>));
  std::array<std::uint64_t, 8> words{};
  std::memcpy(words.data(), &value, sizeof(Value));
  return words;
}

template <typename Value>
Value from_words(const std::array<std::uint64_t, 8>& words) {
  return from_bytes<Value>(std::as_bytes(std::span(words))).value();
}

}  // namespace falafel::acceptance
