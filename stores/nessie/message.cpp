#include "stores/nessie/message.h"

#include <cstring>

#include "stores/bytes.h"

namespace falafel::nessie {

namespace {

std::uint64_t first_word_of(const Message& message) {
  return std::uint64_t{message.sequence} << message_sequence_shift |
         std::uint64_t{message.kind} << message_kind_shift | message.key.size();
}

std::uint64_t key_bytes_of(const MessageHeader& header) {
  return header.first_word & most_message_key_bytes;
}

}  // namespace

MessageLayout::MessageLayout(const Options& options)
    : MessageLayout(options.most_key_bytes, options.most_value_bytes,
                    options.safeguards.keyed_checksums ? stores::Checksum::keyed(options.hash_seed)
                                                       : stores::Checksum()) {}

std::uint64_t MessageLayout::tail_of(std::span<const std::byte> before, std::uint32_t sequence,
                                     Arrival arrival) const {
  return arrival == Arrival::checksum ? checksum_.of(before) : sequence;
}

std::uint64_t MessageLayout::slot_bytes() const {
  return sizeof(MessageHeader) + stores::whole_words(most_key_bytes_) +
         stores::whole_words(most_value_bytes_) + fabric::word_bytes;
}

std::optional<std::uint64_t> MessageLayout::tail_offset(const MessageHeader& header) const {
  if (key_bytes_of(header) > most_key_bytes_ || header.value_bytes > most_value_bytes_) {
    return std::nullopt;
  }
  return sizeof header + stores::whole_words(key_bytes_of(header)) +
         stores::whole_words(header.value_bytes);
}

Bytes MessageLayout::encode(const Message& message, Arrival arrival) const {
  const MessageHeader header{.first_word = first_word_of(message),
                             .value_bytes = message.value.size()};
  const auto tail = tail_offset(header);
  FALAFEL_ASSERT(tail, "a key of {} bytes and a value of {} bytes do not fit a slot for {} and {}",
                 message.key.size(), message.value.size(), most_key_bytes_, most_value_bytes_);
  Bytes bytes(*tail + fabric::word_bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  const auto put = [&bytes](std::uint64_t offset, const Bytes& part) {
    if (!part.empty()) std::memcpy(bytes.data() + offset, part.data(), part.size());
  };
  put(sizeof header, message.key);
  put(sizeof header + stores::whole_words(message.key.size()), message.value);
  const std::uint64_t word = tail_of(std::span(bytes).first(*tail), message.sequence, arrival);
  std::memcpy(bytes.data() + *tail, &word, sizeof word);
  return bytes;
}

std::optional<Message> MessageLayout::decode(std::span<const std::byte> bytes,
                                             Arrival arrival) const {
  MessageHeader header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto tail = tail_offset(header);
  if (!tail || bytes.size() < *tail + fabric::word_bytes) return std::nullopt;
  Message message{.sequence = sequence_of(header.first_word),
                  .kind = static_cast<std::uint8_t>(header.first_word >> message_kind_shift)};
  if (arrival != Arrival::separate_flag_write) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + *tail, sizeof word);
    if (word != tail_of(bytes.first(*tail), message.sequence, arrival)) return std::nullopt;
  }
  const auto key = bytes.subspan(sizeof header, key_bytes_of(header));
  const auto value = bytes.subspan(sizeof header + stores::whole_words(key.size()),
                                   static_cast<std::size_t>(header.value_bytes));
  message.key.assign(key.begin(), key.end());
  message.value.assign(value.begin(), value.end());
  return message;
}

}  // namespace falafel::nessie
