// SET and DELETE.
#include <algorithm>
#include <cstring>
#include <utility>

#include "stores/replicated/client.h"

namespace falafel::replicated {

Answer Client::set(std::uint64_t key, std::span<const std::byte> value) {
  const std::uint64_t header = value.size() + 1;
  Content content(Layout::header_bytes + value.size());
  if (content.size() > layout_.content_bytes()) return Answer::value_too_large;
  std::memcpy(content.data(), &header, sizeof header);
  std::ranges::copy(value, content.begin() + static_cast<std::ptrdiff_t>(Layout::header_bytes));
  return change(key, false, std::move(content));
}

Answer Client::remove(std::uint64_t key) {
  const Answer answer = change(key, true, {});
  return answer == Answer::stored ? Answer::deleted : answer;
}

Answer Client::change(std::uint64_t key, bool is_absent, Content content) {
  const auto container = allocate_container();
  if (!container) return Answer::out_of_memory;
  const SharedFilling filling = filling_of(*container, std::move(content));
  const bool asks_before = is_absent && !options_.safeguards.blind_deletes;
  if (options_.guesses && !asks_before && known_.contains(key)) {
    return change_by_guess(key, is_absent, filling);
  }
  return change_in_two_steps(key, is_absent, filling);
}

Word Client::next_word(std::uint64_t key, Word newest, bool is_absent, std::uint64_t container) {
  std::uint64_t& own_stamp = own_stamps_[key];
  const std::uint64_t before =
      options_.safeguards.own_stamps ? std::max(own_stamp, newest.stamp()) : newest.stamp();
  own_stamp = before + 1;
  FALAFEL_ASSERT(own_stamp < Word::most_stamps, "stamp {} of key {}", own_stamp, key);
  const std::uint64_t writer = options_.safeguards.unique_stamps ? writer_ : 0;
  return Word(own_stamp, writer, is_absent, container);
}

Answer Client::change_in_two_steps(std::uint64_t key, bool is_absent,
                                   const SharedFilling& filling) {
  const auto words = steps_.fill_and_read(key, filling);
  if (!words) return Answer::disconnected;
  const Word newest = newest_of(*words);
  const Word word = next_word(key, newest, is_absent, filling->container).settled();
  const Answer answer = put(key, word, filling, *words);
  const bool was_absent = newest == Word() || newest.is_absent();
  if (is_absent && !options_.safeguards.blind_deletes && was_absent && answer == Answer::stored) {
    return Answer::not_found;
  }
  return answer;
}

Answer Client::put(std::uint64_t key, Word word, const SharedFilling& filling,
                   const Words& expected) {
  const auto words = steps_.raise(key, word, filling, expected);
  if (!words) return Answer::unknown_outcome;
  remember(key, *words);
  return Answer::stored;
}

// Guesses

Answer Client::change_by_guess(std::uint64_t key, bool is_absent, const SharedFilling& filling) {
  const Words expected = known_.at(key);
  const Word guess = next_word(key, newest_of(expected), is_absent, filling->container);
  const auto words = steps_.raise(key, guess, filling, expected);
  if (!words) return Answer::unknown_outcome;
  remember(key, *words);
  // A majority has had the word, so no write that ended before this one began is newer.
  if (steps_.is_at_majority(*words, guess.version())) {
    ++statistics_.guessed;
    steps_.settle_later(key, guess);
    return Answer::stored;
  }
  ++statistics_.overtaken;
  return after_being_overtaken(key, guess, *words, filling);
}

// The guess may be too low: a newer write may have ended before this one began. It must then be
// withdrawn, and written again with a higher stamp, unless a reader may have returned it.
Answer Client::after_being_overtaken(std::uint64_t key, Word guess, Words words,
                                     const SharedFilling& filling) {
  Word newest = newest_of(words);
  std::optional<bool> is_marked = false;
  if (newest.is_settled() && steps_.is_at_majority(words, newest.version())) {
    if (options_.safeguards.writer_checks) is_marked = has_mark(guess);
  } else {
    auto value = find(key);
    if (!value) return Answer::unknown_outcome;
    words = value->decided.words;
    newest = value->decided.newest;
    if (newest.version() == guess.version()) return put(key, guess.settled(), filling, words);
    if (options_.safeguards.writer_checks) is_marked = overtake_and_look(key, guess, *value);
  }
  if (!is_marked) return Answer::unknown_outcome;
  if (*is_marked) {
    ++statistics_.found_marks;
    return Answer::stored;  // just before the newer word
  }
  ++statistics_.withdrawn;
  const Word word = next_word(key, newest, guess.is_absent(), filling->container).settled();
  return put(key, word, filling, words);
}

// Returns whether a reader has marked the guess. A newer word is at a majority.
std::optional<bool> Client::has_mark(Word guess) {
  const auto marks = steps_.read_marks(guess.container());
  if (!marks) return std::nullopt;
  return std::ranges::find(*marks, guess.version()) != marks->end();
}

// The same, after it has put the newer word at a majority.
std::optional<bool> Client::overtake_and_look(std::uint64_t key, Word guess, const Value& newer) {
  const Word newest = newer.decided.newest;
  if (steps_.is_at_majority(newer.decided.words, newest.version())) return has_mark(guess);
  std::uint64_t container = newest.container();
  if (!newest.is_absent()) {
    const auto copy = allocate_container();
    if (!copy) return std::nullopt;
    container = *copy;
  }
  const auto raised = steps_.raise_and_read_marks(key, newest.settled().in_container(container),
                                                  filling_of(container, newer.content),
                                                  newer.decided.words, guess.container());
  if (!raised) return std::nullopt;
  return std::ranges::find(raised->marks, guess.version()) != raised->marks.end();
}

}  // namespace falafel::replicated
