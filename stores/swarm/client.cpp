// Location of keys, and GET.
#include "stores/swarm/client.h"

#include <algorithm>
#include <utility>

namespace falafel::swarm {
namespace {

std::string_view text_of(std::span<const std::byte> key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

}  // namespace

fabric::Result<std::unique_ptr<Client>> Client::create(fabric::Host& host, std::uint32_t writer,
                                                       const std::vector<stores::Member>& members,
                                                       const Options& options) {
  FALAFEL_ASSERT(writer < options.writers, "writer {} of {}", writer, options.writers);
  auto replicas = Replicas::create(host, writer, members, options);
  if (!replicas) return tl::unexpected(replicas.error());
  return std::unique_ptr<Client>(new Client(host, writer, options, std::move(*replicas)));
}

Client::Client(fabric::Host& host, std::uint32_t writer, const Options& options,
               std::unique_ptr<Replicas> replicas)
    : writer_(writer),
      options_(options),
      layout_(options),
      replicas_(std::move(replicas)),
      registers_(options, *replicas_),
      index_(options, *replicas_),
      clock_(host, options) {}

// Location

bool Client::is_valid_key(std::span<const std::byte> key) const {
  return !key.empty() && key.size() <= options_.key_bytes;
}

// The oldest location makes room for a new one [reading of ours: the authors' code has a clock].
Client::Cached& Client::remember(std::span<const std::byte> key, Place place) {
  if (cache_.size() >= options_.cached_keys && !cache_order_.empty()) {
    cache_.erase(cache_order_.front());
    cache_order_.pop_front();
  }
  cache_order_.emplace_back(text_of(key));
  Cached& cached = cache_[std::string(text_of(key))];
  cached = {.place = place, .known = Words(registers_.nodes())};
  return cached;
}

Client::Located Client::locate(std::span<const std::byte> key, bool inserts) {
  if (options_.cached_keys == 0) cache_.clear();
  if (const auto known = cache_.find(text_of(key)); known != cache_.end()) {
    return {.answer = Answer::found, .cached = &known->second};
  }
  const HashedKey hashed(key);
  const std::size_t first = hashed.hashes[0] % registers_.nodes();
  Index::Found found = index_.search(hashed);
  if (found.answer == Answer::not_found && inserts) {
    if (used_registers_ == options_.registers_per_writer) return {.answer = Answer::out_of_memory};
    found = index_.insert(hashed,
                          std::uint64_t{writer_} * options_.registers_per_writer + used_registers_);
    // Without an answer, the register may be in the index.
    const bool is_used = found.answer == Answer::stored || found.answer == Answer::disconnected ||
                         (found.may_write_later && options_.safeguards.landed_keys);
    if (is_used) ++used_registers_;
    if (found.answer == Answer::stored) ++statistics_.inserted;
    if (found.answer == Answer::found) ++statistics_.lost_inserts;
  }
  if (found.answer != Answer::found && found.answer != Answer::stored) {
    return {.answer = found.answer};
  }
  return {.answer = Answer::found,
          .cached = &remember(key, {.number = found.number, .first = first})};
}

void Client::learn(Cached& cached, const Words& words) {
  for (std::size_t node = 0; node < words.size(); ++node) {
    if (words[node]) cached.known[node] = words[node];
  }
  clock_.see(newest_of(words));
}

// GET

std::optional<Content> Client::content_of_newest(const Cached& cached,
                                                 const Registers::Found& found, Word newest) {
  const bool is_in_place = found.in_place && found.in_place->word.is_same_version(newest) &&
                           (!options_.safeguards.in_place_hash || found.in_place->has_right_hash());
  if (is_in_place) {
    ++statistics_.in_place;
    return found.in_place->content;
  }
  ++statistics_.out_of_place;
  return registers_.fetch(cached.place, found.words, newest);
}

// The newest word of a majority, with its value. Each repetition has lost another node.
std::optional<Client::Value> Client::read(Cached& cached) {
  for (std::size_t tries = 0; tries <= registers_.nodes(); ++tries) {
    const auto found = registers_.read(cached.place, options_.in_place);
    if (!found) return std::nullopt;
    learn(cached, found->words);
    Value value{.word = newest_of(found->words), .words = found->words, .content = {}};
    if (value.word.is_empty()) return value;
    auto content = content_of_newest(cached, *found, value.word);
    if (content) {
      value.content = std::move(*content);
      return value;
    }
    ++statistics_.lost_contents;
    if (!options_.safeguards.repeated_reads) return std::nullopt;
  }
  return std::nullopt;
}

// Locks the guess that was read, and reads again; decided unless a newer word is there.
std::optional<Client::Value> Client::lock(Cached& cached, Value value, bool& is_decided) {
  const auto words = registers_.lock_and_read(cached.place, value.word);
  if (!words) return std::nullopt;
  learn(cached, *words);
  Word newest = newest_of(*words);
  if (options_.safeguards.remembered_words) newest = std::max(newest, value.word);
  is_decided =
      newest.is_same_version(value.word) || !options_.safeguards.read_after_lock ||
      // The authors' code returns what it has read before with a newer word that is verified.
      (newest.is_verified() && !options_.safeguards.repair_contents);
  value.words = *words;
  value.word = newest;
  return value;
}

std::optional<Client::Value> Client::find(Cached& cached) {
  std::map<std::uint64_t, Value> first_by_writer;
  Value newest;
  Word previous;
  Word locked;
  while (true) {
    auto value = read(cached);
    if (!value) return std::nullopt;
    if (options_.safeguards.remembered_words && value->word < newest.word) {
      value->word = newest.word;
      value->content = newest.content;
    }
    newest = *value;
    if (value->word.is_empty() || value->word.is_verified()) return value;
    if (!options_.safeguards.reader_locks) return value;
    if (value->word == previous || !options_.safeguards.read_before_lock) {
      if (value->word != locked) ++statistics_.locked;
      locked = value->word;
      bool is_decided = false;
      auto last = lock(cached, std::move(*value), is_decided);
      if (!last || is_decided) return last;
      previous = Word();
      continue;
    }
    previous = value->word;
    const auto [first, is_new] = first_by_writer.try_emplace(value->word.writer(), *value);
    if (is_new || first->second.word == value->word) continue;
    ++statistics_.first_guesses;
    Value overtaken = first->second;
    overtaken.words.clear();
    return overtaken;
  }
}

// Puts a word that a majority has there as verified. The next change of this client expects it,
// because the tasks of a node are done in order.
void Client::verify_later(Cached& cached, const Registers::Change& change) {
  registers_.put_later(cached.place, change, cached.known);
  for (std::optional<Seen>& seen : cached.known) {
    if (seen && seen->newest < change.word && seen->newest.is_same_version(change.word)) {
      seen->own = change.word;
    }
  }
}

// Sees to it that no later GET misses the word.
Answer Client::finish(Cached& cached, const Value& value) {
  if (value.word.is_empty() || value.words.empty()) return Answer::stored;
  const bool is_at_majority = registers_.is_at_majority(value.words, value.word);
  if (is_at_majority && value.word.is_verified()) return Answer::stored;
  const Registers::Change change{.word = value.word.verified(),
                                 .filling = registers_.filling_of(value.content),
                                 .fills = true};
  if (is_at_majority || !options_.safeguards.write_back) {
    verify_later(cached, change);
    return Answer::stored;
  }
  ++statistics_.write_backs;
  const auto changed = registers_.put(cached.place, change, cached.known);
  if (!changed) return Answer::disconnected;
  learn(cached, changed->words);
  return Answer::stored;
}

GetResult Client::get(std::span<const std::byte> key) {
  if (!is_valid_key(key)) return {.answer = Answer::invalid_key};
  const Located located = locate(key, false);
  if (located.cached == nullptr) return {.answer = located.answer};
  const auto value = find(*located.cached);
  if (!value) return {.answer = Answer::disconnected};
  if (const Answer answer = finish(*located.cached, *value); answer != Answer::stored) {
    return {.answer = answer};
  }
  if (value->word.is_empty()) return {.answer = Answer::not_found};
  auto bytes = value_in(value->content);
  if (!bytes) return {.answer = Answer::not_found};
  return {.answer = Answer::found, .value = std::move(*bytes)};
}

}  // namespace falafel::swarm
