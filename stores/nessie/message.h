// Messages of NessieSD and NessieHY (5): requests, which clients WRITE into the request region of a
// node, and responses, which the node WRITEs into the client's memory. README.md lists the bytes.
//
// A message is in a slot that the next one overwrites. Its receiver must expect any bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "stores/checksum.h"
#include "stores/nessie/layout.h"
#include "stores/nessie/options.h"

namespace falafel::nessie {

enum class RequestKind : std::uint8_t { get = 1, put = 2, remove = 3 };

struct Message {
  std::uint32_t sequence = 0;  // of a client's requests; a response has that of its request
  std::uint8_t kind = 0;       // a RequestKind; in a response, an Answer
  Bytes key{};
  Bytes value{};

  friend bool operator==(const Message&, const Message&) = default;
};

// The first word of a message.
inline constexpr unsigned message_key_bits = 24;
inline constexpr unsigned message_kind_bits = 8;
inline constexpr unsigned message_sequence_bits = 32;
inline constexpr unsigned message_kind_shift = message_key_bits;
inline constexpr unsigned message_sequence_shift = message_kind_shift + message_kind_bits;
static_assert(message_sequence_shift == 32);
static_assert(message_sequence_shift + message_sequence_bits == 64);
inline constexpr std::uint64_t most_message_key_bytes = (std::uint64_t{1} << message_key_bits) - 1;

constexpr std::uint32_t sequence_of(std::uint64_t first_word) {
  return static_cast<std::uint32_t>(first_word >> message_sequence_shift);
}

// The words in front of the key. The padded key, the padded value and the tail follow.
struct MessageHeader {
  std::uint64_t first_word = 0;
  std::uint64_t value_bytes = 0;
};
static_assert(sizeof(MessageHeader) == 16);
static_assert(offsetof(MessageHeader, first_word) == 0);
static_assert(offsetof(MessageHeader, value_bytes) == 8);

class MessageLayout {
 public:
  MessageLayout(std::uint64_t most_key_bytes, std::uint64_t most_value_bytes,
                const stores::Checksum& checksum = {})
      : most_key_bytes_(most_key_bytes), most_value_bytes_(most_value_bytes), checksum_(checksum) {}
  explicit MessageLayout(const Options& options);

  // The room of the longest message, a multiple of 8.
  std::uint64_t slot_bytes() const;
  // The bytes of a message, with its tail: the sequence, or with Arrival::checksum the checksum of
  // all bytes before it. Key and value fit.
  Bytes encode(const Message& message, Arrival arrival) const;
  // The place of the tail of a message with this header. nullopt if its sizes exceed the limits.
  std::optional<std::uint64_t> tail_offset(const MessageHeader& header) const;
  // The inverse of encode. nullopt if the sizes exceed the limits, the bytes are too few, or the
  // tail is wrong. With Arrival::separate_flag_write, the tail is not looked at.
  std::optional<Message> decode(std::span<const std::byte> bytes, Arrival arrival) const;

 private:
  std::uint64_t tail_of(std::span<const std::byte> before, std::uint32_t sequence,
                        Arrival arrival) const;

  std::uint64_t most_key_bytes_;
  std::uint64_t most_value_bytes_;
  stores::Checksum checksum_;
};

}  // namespace falafel::nessie
