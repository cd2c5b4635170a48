#include "tools/command_line/acceptance/observers.h"

#include <optional>

#include "fabric/time_units.h"
#include "tools/command_line/acceptance/stamps.h"

namespace falafel::acceptance {
namespace {

// An observer whose peer has died must end too.
constexpr std::uint64_t observer_patience_ns = 900 * fabric::second_ns;

// Calls `look` until the peer says stop. Others get a turn now and then: on some fabrics, the
// peer's requests need it.
template <typename Look>
void look_until_stopped(fabric::Host& host, fabric::MemoryBlock& memory, Look look) {
  constexpr std::uint64_t looks_in_a_row = 16;
  const std::uint64_t deadline_ns = host.now_ns() + observer_patience_ns;
  while (memory.load(stop_offset) == 0 && host.now_ns() < deadline_ns) {
    for (std::uint64_t number = 0; number < looks_in_a_row; ++number) look();
    host.sleep_until(host.now_ns() + 1);
  }
}

}  // namespace

TwoWords watch_two_words(fabric::Host& host, fabric::MemoryBlock& memory,
                         std::uint64_t earlier_offset, std::uint64_t later_offset,
                         bool later_counts_plainly) {
  TwoWords found;
  std::uint64_t last = 0;
  look_until_stopped(host, memory, [&] {
    const std::uint64_t later_word = memory.load(later_offset);
    const std::uint64_t earlier_word = memory.load(earlier_offset);
    const auto later = later_counts_plainly ? std::optional(static_cast<std::uint32_t>(later_word))
                                            : count_of(later_word);
    const auto earlier = count_of(earlier_word);
    ++found.looks;
    if (later_word != last) ++found.changes;
    last = later_word;
    if (!later || !earlier) {
      ++found.torn;
    } else if (*earlier < *later) {
      ++found.inverted;
    }
  });
  return found;
}

Messages watch_messages(fabric::Host& host, fabric::MemoryBlock& memory,
                        const MessageSource& source, std::uint64_t word_offset) {
  Messages found;
  std::uint32_t next = 1;
  const auto look = [&] {
    fabric::WorkCompletion completion;
    while (source.receives->poll({&completion, 1}) == 1) {
      ++found.messages;
      if (completion.status != fabric::CompletionStatus::success) {
        ++found.failed;
        return;
      }
      const std::uint64_t offset = source.buffer_offset + completion.id * fabric::word_bytes;
      const auto number = count_of(memory.load(offset));
      const auto word = count_of(memory.load(word_offset));
      if (!number || *number != next) ++found.out_of_order;
      if (!word || *word < number.value_or(next)) ++found.older_word;
      next = number.value_or(next) + 1;
      const fabric::ReceiveRequest again{.id = completion.id,
                                         .local = {source.local_key, offset},
                                         .length_bytes = fabric::word_bytes};
      if (!source.queue_pair->post_receive({&again, 1})) ++found.failed;
    }
  };
  look_until_stopped(host, memory, look);
  look();
  return found;
}

CountedUp count_up(fabric::Host& host, fabric::MemoryBlock& memory, std::uint64_t offset) {
  CountedUp counted;
  look_until_stopped(host, memory, [&] {
    const std::uint64_t found = memory.load(offset);
    if (memory.compare_and_swap(offset, found, found + 1) == found) ++counted.additions;
  });
  return counted;
}

StoredUp store_up(fabric::Host& host, fabric::MemoryBlock& memory, std::uint64_t offset) {
  StoredUp stored;
  std::uint64_t number = memory.load(offset);
  look_until_stopped(host, memory, [&] {
    memory.store(offset, ++number);
    ++stored.stores;
    for (int look = 0; look < 4; ++look) {
      if (memory.load(offset) == number) continue;
      ++stored.undone;
      break;
    }
  });
  return stored;
}

}  // namespace falafel::acceptance
