#include "stores/nessie/put.h"

#include <algorithm>

#include "stores/nessie/migrate.h"

namespace falafel::nessie {

Put::Put(ClientState& client, std::span<const std::byte> key,
         std::optional<std::span<const std::byte>> value)
    : client_(client),
      key_(key),
      value_(value),
      candidates_(client.candidates(key)),
      deadline_(client.start()) {}

Answer Put::run() {
  const auto answer = try_to_run();
  return answer ? *answer : answer.error();
}

Step<Answer> Put::try_to_run() {
  auto chosen = pass_forward();
  while (chosen && !*chosen) {
    if (auto migrated = migrate(); !migrated) return tl::unexpected(migrated.error());
    chosen = pass_forward();
  }
  if (!chosen) return tl::unexpected(chosen.error());
  if (auto installed = install(**chosen); !installed) return tl::unexpected(installed.error());
  const auto answer = complete();
  return answer ? *answer : abandon(answer.error());
}

// -------------------------------------------------------------------------------------------------
// Until the CAS: nothing has changed.

Step<std::optional<std::size_t>> Put::pass_forward() {
  seen_.clear();
  std::optional<std::size_t> empty;
  std::optional<std::size_t> own;
  const bool looks_at_all = client_.options.safeguards.whole_forward_pass;
  for (const Slot& slot : candidates_) {
    const auto seen = look_at(slot);
    if (!seen) return tl::unexpected(seen.error());
    if (!empty && decode(seen->word).is_empty) empty = seen_.size();
    if (!own && seen->has_key) own = seen_.size();
    seen_.push_back(*seen);
    if ((own || empty) && !looks_at_all) break;
  }
  return own ? own : empty;
}

Step<Put::Seen> Put::look_at(const Slot& slot) {
  const auto word = client_.read_index(slot, deadline_);
  if (!word) return tl::unexpected(word.error());
  const bool minds_all = client_.options.give_up_on_invalid == GiveUpOnInvalid::any;
  const IndexEntry index = decode(*word);
  if (index.is_empty) return Seen{.word = *word};
  const bool may_have_key = index.filter == filter_of(key_, client_.options);
  if (!may_have_key) ++client_.statistics.filtered;
  if (!may_have_key && !minds_all) return Seen{.word = *word};
  const auto entry = client_.fetch(*word, false, deadline_);
  if (!entry) return tl::unexpected(entry.error());
  const bool has_key = std::ranges::equal(entry->key, key_);
  if (!entry->header.is_valid() && (has_key || minds_all)) {
    return client_.give_up(GiveUp::invalid_entry);
  }
  return Seen{.word = *word, .has_key = has_key};
}

Step<void> Put::migrate() { return Migrate(client_, deadline_).run(candidates_[0]); }

Step<void> Put::install(std::size_t chosen) {
  chosen_ = chosen;
  replaced_ = seen_[chosen].word;
  found_key_ = seen_[chosen].has_key;
  DataTable& table = client_.own_data_table();
  const auto entry = table.allocate();
  if (!entry) return tl::unexpected(Answer::out_of_memory);
  entry_ = *entry;
  own_word_ = client_.word_of(entry_, key_);
  const std::span<const std::byte> value = value_.value_or(std::span<const std::byte>());
  table.write(entry_, decode(replaced_).is_empty ? 0 : replaced_, Bytes(key_.begin(), key_.end()),
              Bytes(value.begin(), value.end()));
  const auto swapped = client_.swap_index(candidates_[chosen_], replaced_, own_word_, deadline_);
  if (swapped && *swapped) {
    table.use(entry_);
    return {};
  }
  if (swapped || swapped.error() != Answer::unknown_outcome) {
    table.give_back(entry_);
  } else {
    table.use(entry_);  // the CAS may still come: the DTE can never be used again
  }
  if (!swapped) return tl::unexpected(swapped.error());
  return client_.give_up(GiveUp::lost_swap);
}

// -------------------------------------------------------------------------------------------------
// After the CAS

Step<Answer> Put::complete() {
  if (!client_.options.safeguards.whole_forward_pass) {
    if (auto removed = remove_others(); !removed) return tl::unexpected(removed.error());
  }
  if (auto unchanged = pass_in_reverse(); !unchanged) return tl::unexpected(unchanged.error());
  if (auto in_time = client_.check_end(deadline_); !in_time) {
    return tl::unexpected(in_time.error());
  }
  if (auto finished = value_ ? finish_put() : finish_delete(); !finished) {
    return tl::unexpected(finished.error());
  }
  if (!decode(replaced_).is_empty) client_.stage(replaced_, true);
  if (!client_.options.lazy_marks) client_.mark_staged();
  if (value_) return Answer::stored;
  return found_key_ ? Answer::deleted : Answer::not_found;
}

// Empties the candidates behind the own one that have the key, too.
Step<void> Put::remove_others() {
  for (std::size_t number = chosen_ + 1; number < candidates_.size(); ++number) {
    const Slot& slot = candidates_[number];
    const auto word = client_.read_index(slot, deadline_);
    if (!word) return tl::unexpected(word.error());
    seen_.push_back({.word = *word});
    const IndexEntry index = decode(*word);
    if (index.is_empty || index.filter != filter_of(key_, client_.options)) continue;
    const auto entry = client_.fetch(*word, false, deadline_);
    if (!entry) return tl::unexpected(entry.error());
    if (!std::ranges::equal(entry->key, key_)) continue;
    const std::uint64_t emptied = client_.emptied(*word);
    removed_another_ = true;
    const auto swapped = client_.swap_index(slot, *word, emptied, deadline_);
    if (!swapped) return tl::unexpected(swapped.error());
    if (!*swapped) return client_.give_up(GiveUp::lost_swap);
    if (entry->header.is_valid()) found_key_ = true;
    client_.stage(*word, entry->header.is_valid());
    seen_.back().word = emptied;
  }
  return {};
}

Step<void> Put::pass_in_reverse() {
  if (!client_.options.safeguards.reverse_pass) return {};
  for (std::size_t number = seen_.size(); number > 0; --number) {
    if (number - 1 == chosen_) continue;
    const auto word = client_.read_index(candidates_[number - 1], deadline_);
    if (!word) return tl::unexpected(word.error());
    if (*word != seen_[number - 1].word) return client_.give_up(GiveUp::changed_index);
  }
  return {};
}

Step<void> Put::finish_put() {
  client_.own_data_table().set_valid(entry_);
  return {};
}

Step<void> Put::finish_delete() {
  const auto swapped =
      client_.swap_index(candidates_[chosen_], own_word_, client_.emptied(own_word_), deadline_);
  if (!swapped) return tl::unexpected(swapped.error());
  if (!*swapped) return client_.give_up(GiveUp::lost_swap);
  client_.stage(own_word_, false);
  return {};
}

// The PUT gives up. Its DTE never becomes valid.
Answer Put::abandon(Answer answer) {
  if (answer == Answer::unknown_outcome) return answer;
  const bool is_restored = client_.options.abort == Abort::leave || restore();
  client_.mark_staged();
  return is_restored && !removed_another_ ? answer : Answer::unknown_outcome;
}

bool Put::restore() {
  const std::uint64_t restored =
      decode(replaced_).is_empty ? client_.emptied(own_word_) : replaced_;
  // Without a deadline: what is left behind would block the key.
  const auto swapped =
      client_.swap_index(candidates_[chosen_], own_word_, restored, client_.without_deadline());
  if (!swapped || !*swapped) return false;
  client_.stage(own_word_, false);
  return true;
}

}  // namespace falafel::nessie
