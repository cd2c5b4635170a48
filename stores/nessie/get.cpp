#include "stores/nessie/get.h"

#include <algorithm>
#include <utility>

namespace falafel::nessie {

Get::Get(ClientState& client, std::span<const std::byte> key)
    : client_(client), key_(key), candidates_(client.candidates(key)), deadline_(client.start()) {}

GetResult Get::run() {
  auto result = try_to_run();
  if (!result) return {.answer = result.error()};
  return std::move(*result);
}

Step<GetResult> Get::try_to_run() {
  for (const Slot& slot : candidates_) {
    const auto word = client_.read_index(slot, deadline_);
    if (!word) return tl::unexpected(word.error());
    seen_.push_back(*word);
    auto value = look_at(slot, *word);
    if (!value) return tl::unexpected(value.error());
    if (!*value) continue;
    if (auto in_time = client_.check_end(deadline_); !in_time) {
      return tl::unexpected(in_time.error());
    }
    return GetResult{.answer = Answer::found, .value = std::move(**value)};
  }
  if (auto unchanged = pass_in_reverse(); !unchanged) return tl::unexpected(unchanged.error());
  if (auto in_time = client_.check_end(deadline_); !in_time) {
    return tl::unexpected(in_time.error());
  }
  return GetResult{.answer = Answer::not_found};
}

Step<std::optional<Bytes>> Get::look_at(const Slot& slot, std::uint64_t word) {
  const IndexEntry index = decode(word);
  if (index.is_empty) return std::nullopt;
  if (index.filter != filter_of(key_, client_.options)) {
    ++client_.statistics.filtered;
    return std::nullopt;
  }
  const auto entry = fetch_with_value(word);
  if (!entry) return tl::unexpected(entry.error());
  if (!std::ranges::equal(entry->key, key_)) return std::nullopt;
  auto value = value_of(slot, word, *entry);
  if (!value) return tl::unexpected(value.error());
  return std::optional(std::move(*value));
}

// With multi_read, the value is fetched only if the key is right (4.3.2). Both READs are checked,
// because the DTE may have been used again between them.
Step<DataEntry> Get::fetch_with_value(std::uint64_t word) {
  if (!client_.options.multi_read) return client_.fetch(word, true, deadline_);
  auto front = client_.fetch(word, false, deadline_);
  if (!front || !std::ranges::equal(front->key, key_)) return front;
  const bool is_whole = front->value.size() == front->header.value_bytes;
  if (!front->header.is_valid() || is_whole) return front;
  return client_.fetch(word, true, deadline_);
}

Step<Bytes> Get::value_of(const Slot& slot, std::uint64_t word, const DataEntry& entry) {
  if (!entry.header.is_valid()) return previous_value(slot, word, entry);
  if (auto valid = validate(slot, word); !valid) return tl::unexpected(valid.error());
  client_.remember(word, entry);
  return entry.value;
}

// A PUT of the key is pending. It has not happened yet, and the DTE that it replaces remains.
Step<Bytes> Get::previous_value(const Slot& slot, std::uint64_t word, const DataEntry& entry) {
  if (!client_.options.previous_versions || entry.header.previous == 0) {
    return client_.give_up(GiveUp::invalid_entry);
  }
  const auto previous = client_.fetch(entry.header.previous, true, deadline_);
  if (!previous) return tl::unexpected(previous.error());
  if (!previous->header.is_valid() || !std::ranges::equal(previous->key, key_)) {
    return client_.give_up(GiveUp::invalid_entry);
  }
  if (client_.options.safeguards.validated_hits) {
    // The replaced DTE may be used again once the PUT has completed.
    const auto again = client_.fetch_again(word, false, deadline_);
    if (!again) return tl::unexpected(again.error());
    if (again->header.is_valid()) return client_.give_up(GiveUp::changed_entry);
  }
  if (auto valid = validate(slot, word); !valid) return tl::unexpected(valid.error());
  return previous->value;
}

Step<void> Get::validate(const Slot& slot, std::uint64_t word) {
  if (!client_.options.safeguards.validated_hits) return {};
  const auto now = client_.read_index(slot, deadline_);
  if (!now) return tl::unexpected(now.error());
  if (*now != word) return client_.give_up(GiveUp::changed_entry);
  return {};
}

Step<void> Get::pass_in_reverse() {
  if (!client_.options.safeguards.reverse_pass) return {};
  for (std::size_t number = candidates_.size(); number > 0; --number) {
    const auto word = client_.read_index(candidates_[number - 1], deadline_);
    if (!word) return tl::unexpected(word.error());
    if (*word != seen_[number - 1]) return client_.give_up(GiveUp::changed_index);
  }
  return {};
}

}  // namespace falafel::nessie
