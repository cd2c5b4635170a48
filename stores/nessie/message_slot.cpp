#include "stores/nessie/message_slot.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace falafel::nessie {

namespace {

// How long a receiver waits for more of a message before it looks at all of it again: twice as long
// each time. Only one word can be waited for, and any other may come last.
constexpr std::uint64_t shortest_wait_ns = 500;
constexpr std::uint64_t most_wait_ns = 100'000;

}  // namespace

MessageSlot::MessageSlot(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock> block,
                         std::uint64_t offset, const Options& options)
    : host_(host),
      block_(std::move(block)),
      offset_(offset),
      layout_(options),
      arrival_(options.arrival) {}

std::optional<Message> MessageSlot::receive(std::uint64_t deadline_ns) {
  std::uint64_t wait_ns = shortest_wait_ns;
  for (;;) {
    const std::uint64_t first_word = block_->load(offset_);
    if (sequence_of(first_word) == seen_) {
      if (block_->wait_until_changed(offset_, first_word, deadline_ns) == first_word) {
        return std::nullopt;
      }
      continue;
    }
    if (auto message = look()) {
      seen_ = message->sequence;
      return message;
    }
    ++incomplete_looks_;
    if (!wait_for_more(deadline_ns, wait_ns)) return std::nullopt;
    wait_ns = std::min(2 * wait_ns, most_wait_ns);
  }
}

MessageHeader MessageSlot::load_header() const {
  return {.first_word = block_->load(offset_),
          .value_bytes = block_->load(offset_ + offsetof(MessageHeader, value_bytes))};
}

// With the tail in address order, nothing may be read before the tail is there.
bool MessageSlot::has_arrived(const MessageHeader& header, std::uint64_t tail_offset) const {
  return arrival_ != Arrival::tail_in_address_order ||
         block_->load(offset_ + tail_offset) == sequence_of(header.first_word);
}

std::optional<Message> MessageSlot::look() const {
  const MessageHeader header = load_header();
  const auto tail = layout_.tail_offset(header);
  if (!tail || !has_arrived(header, *tail)) return std::nullopt;
  Bytes bytes(*tail + fabric::word_bytes);
  host_.spend(fabric::Work::copy, bytes.size());
  block_->read(offset_, bytes);
  if (arrival_ == Arrival::checksum) host_.spend(fabric::Work::checksum, bytes.size());
  auto message = layout_.decode(bytes, arrival_);
  if (message && message->sequence == seen_) return std::nullopt;
  return message;
}

bool MessageSlot::wait_for_more(std::uint64_t deadline_ns, std::uint64_t longest_wait_ns) {
  const std::uint64_t now_ns = host_.now_ns();
  if (now_ns >= deadline_ns || host_.is_cancelled()) return false;
  const std::uint64_t place = offset_ + layout_.tail_offset(load_header()).value_or(0);
  block_->wait_until_changed(place, block_->load(place),
                             std::min(deadline_ns, now_ns + longest_wait_ns));
  return true;
}

MessageWrites::MessageWrites(Arrival arrival, std::uint64_t length_bytes,
                             fabric::MemoryAddress local, fabric::MemoryAddress remote) {
  const auto add = [&](std::uint64_t offset, std::uint64_t bytes) {
    writes_[count_++] = {.opcode = fabric::Opcode::write,
                         .length_bytes = static_cast<std::uint32_t>(bytes),
                         .local = {.key = local.key, .offset = local.offset + offset},
                         .remote = {.key = remote.key, .offset = remote.offset + offset}};
  };
  const bool has_flag = arrival == Arrival::separate_flag_write;
  if (has_flag) add(fabric::word_bytes, length_bytes - fabric::word_bytes);
  add(0, has_flag ? fabric::word_bytes : length_bytes);
}

void store_message(fabric::MemoryBlock& block, std::uint64_t offset,
                   std::span<const std::byte> bytes, Arrival arrival) {
  if (arrival != Arrival::separate_flag_write) return block.write(offset, bytes);
  std::uint64_t first_word = 0;
  std::memcpy(&first_word, bytes.data(), sizeof first_word);
  block.write(offset + fabric::word_bytes, bytes.subspan(fabric::word_bytes));
  block.store(offset, first_word);
}

}  // namespace falafel::nessie
