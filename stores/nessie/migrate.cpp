#include "stores/nessie/migrate.h"

#include <algorithm>

namespace falafel::nessie {

Step<void> Migrate::run(const Slot& source, std::uint32_t depth) {
  if (depth > client_.options.most_migrations) return tl::unexpected(Answer::table_full);
  const auto word = client_.read_index(source, deadline_);
  if (!word) return tl::unexpected(word.error());
  if (decode(*word).is_empty) return {};
  const auto entry = client_.fetch(*word, true, deadline_);
  if (!entry) return tl::unexpected(entry.error());
  if (!entry->header.is_valid()) return client_.give_up(GiveUp::invalid_entry);
  const auto destination = destination_of(source, entry->key);
  if (!destination) return tl::unexpected(Answer::table_full);
  const auto free = free_destination(*destination, depth);
  if (!free) return tl::unexpected(free.error());
  ++client_.statistics.migrations;
  return move(source, *word, *destination, *free, *entry);
}

std::optional<Slot> Migrate::destination_of(const Slot& source,
                                            std::span<const std::byte> key) const {
  for (const Slot& slot : client_.candidates(key)) {
    if (slot != source) return slot;
  }
  return std::nullopt;
}

Step<std::uint64_t> Migrate::free_destination(const Slot& destination, std::uint32_t depth) {
  auto word = client_.read_index(destination, deadline_);
  if (!word || decode(*word).is_empty) return word;
  if (auto freed = run(destination, depth + 1); !freed) return tl::unexpected(freed.error());
  word = client_.read_index(destination, deadline_);
  if (word && !decode(*word).is_empty) return client_.give_up(GiveUp::changed_index);
  return word;
}

Step<void> Migrate::move(const Slot& source, std::uint64_t word, const Slot& destination,
                         std::uint64_t destination_word, const DataEntry& entry) {
  const auto copy = install_copy(destination, destination_word, entry);
  if (!copy) return tl::unexpected(copy.error());
  const auto emptied = client_.swap_index(source, word, client_.emptied(word), deadline_);
  if (!emptied && emptied.error() == Answer::unknown_outcome) {
    return tl::unexpected(Answer::disconnected);  // one of the two remains, nobody knows which
  }
  if (!emptied || !*emptied) {
    remove_copy(destination, *copy);
    if (!emptied) return tl::unexpected(emptied.error());
    return lose();
  }
  client_.own_data_table().set_valid(decode(*copy).data_entry);
  client_.stage(word, true);
  if (!client_.options.lazy_marks) client_.mark_staged();
  return {};
}

// Returns the copy's ITE.
Step<std::uint64_t> Migrate::install_copy(const Slot& destination, std::uint64_t destination_word,
                                          const DataEntry& entry) {
  DataTable& table = client_.own_data_table();
  const auto copy = table.allocate();
  if (!copy) return tl::unexpected(Answer::out_of_memory);
  table.write(*copy, 0, entry.key, entry.value);
  const std::uint64_t word = client_.word_of(*copy, entry.key);
  const auto installed = client_.swap_index(destination, destination_word, word, deadline_);
  if (installed && *installed) {
    table.use(*copy);
    return word;
  }
  if (!installed && installed.error() == Answer::unknown_outcome) {
    table.use(*copy);  // the CAS may still come: the DTE can never be used again
    return tl::unexpected(Answer::disconnected);
  }
  table.give_back(*copy);
  if (!installed) return tl::unexpected(installed.error());
  return lose();
}

tl::unexpected<Answer> Migrate::lose() {
  ++client_.statistics.lost_migrations;
  return client_.give_up(GiveUp::lost_swap);
}

// If somebody else has emptied the destination, he has marked the copy, too.
void Migrate::remove_copy(const Slot& destination, std::uint64_t copy_word) {
  const auto removed = client_.swap_index(destination, copy_word, client_.emptied(copy_word),
                                          client_.without_deadline());
  if (removed && *removed) client_.stage(copy_word, false);
  client_.mark_staged();
}

}  // namespace falafel::nessie
