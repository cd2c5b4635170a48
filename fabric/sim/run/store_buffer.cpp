#include "fabric/sim/run/store_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "fabric/sim/run/world.h"
#include "fabric/sim/words/words.h"

namespace falafel::sim {

using fabric::word_bytes;

StoreBuffer::StoreBuffer(World& world, std::uint32_t host, const std::string& host_name)
    : world_(world), host_(host), host_name_(host_name) {
  world_.ready.introduce(*this);
}

// Entries have numbers, so that a store commutes with the drain of an earlier one.
void StoreBuffer::touch(std::uint64_t entry_number) const {
  if (!world_.hears(Touchable::store_buffer)) return;
  world_.step_observer->touch(
      {Touchable::store_buffer, host_, Access::writes, entry_number, entry_number + 1});
}

void StoreBuffer::append(const Entry& entry) {
  touch(drained_ + entries_.size());
  entries_.push_back(entry);
  world_.ready.set_work(*this, true);
}

void StoreBuffer::store(StoredMemory& block, fabric::FiberId fiber, std::uint64_t offset,
                        std::uint64_t value) {
  Entry entry{.fiber = fiber,
              .block = &block,
              .offset = offset,
              .length_bytes = word_bytes,
              .is_word = true};
  std::memcpy(entry.bytes.data(), &value, word_bytes);
  append(entry);
}

void StoreBuffer::write(StoredMemory& block, fabric::FiberId fiber, std::uint64_t offset,
                        std::span<const std::byte> source) {
  while (!source.empty()) {
    const std::uint64_t to_next_word = word_bytes - offset % word_bytes;
    const std::uint64_t length = std::min<std::uint64_t>(to_next_word, source.size());
    Entry entry{.fiber = fiber,
                .block = &block,
                .offset = offset,
                .length_bytes = static_cast<std::uint8_t>(length)};
    std::memcpy(entry.bytes.data(), source.data(), length);
    append(entry);
    offset += length;
    source = source.subspan(length);
  }
}

void StoreBuffer::ring_doorbell(DoorbellOwner& queue_pair, std::uint64_t end_place) {
  append({.queue_pair = &queue_pair, .end_place = end_place});
}

void StoreBuffer::show_own_stores(const std::byte* begin, std::span<std::byte> seen) const {
  const std::byte* const end = begin + seen.size();
  for (const Entry& entry : entries_) {
    if (entry.block == nullptr) continue;
    const std::byte* const stored = entry.block->data() + entry.offset;
    const std::byte* const from = std::max(stored, begin);
    const std::byte* const to = std::min(stored + entry.length_bytes, end);
    if (from >= to) continue;
    std::memcpy(seen.data() + (from - begin), entry.bytes.data() + (from - stored),
                static_cast<std::size_t>(to - from));
  }
}

void StoreBuffer::drain_stores_to(const StoredMemory& block) {
  const auto last = std::find_if(entries_.rbegin(), entries_.rend(),
                                 [&](const Entry& entry) { return entry.block == &block; });
  drain(static_cast<std::size_t>(std::distance(last, entries_.rend())));
}

// An observer may look at memory between two entries.
void StoreBuffer::drain(std::size_t count) {
  for (; count > 0; --count) {
    const Entry entry = entries_.front();
    entries_.pop_front();
    touch(drained_++);
    apply(entry);
  }
  world_.ready.set_work(*this, !entries_.empty());
}

void StoreBuffer::apply(const Entry& entry) {
  if (entry.queue_pair != nullptr) {
    entry.queue_pair->hear_doorbell(entry.end_place);
  } else if (entry.is_word) {
    entry.block->change_word(entry.fiber, entry.offset, load_word(entry.bytes.data()));
  } else {
    entry.block->change_bytes(entry.fiber, entry.offset,
                              std::span(entry.bytes).first(entry.length_bytes));
  }
}

std::string StoreBuffer::describe() const {
  return fmt::format("store buffer of {}: {} stores and doorbells", host_name_, entries_.size());
}

}  // namespace falafel::sim
