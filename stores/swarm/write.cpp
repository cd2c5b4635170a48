// SET and DELETE.
#include <algorithm>
#include <utility>

#include "stores/swarm/client.h"

namespace falafel::swarm {

Answer Client::set(std::span<const std::byte> key, std::span<const std::byte> value) {
  if (!is_valid_key(key)) return Answer::invalid_key;
  if (value.size() > options_.value_bytes) return Answer::value_too_large;
  const Located located = locate(key, true);
  if (located.cached == nullptr) return located.answer;
  return change(*located.cached, content_of(value));
}

// The register stays, and holds no value [reading of ours].
Answer Client::remove(std::span<const std::byte> key) {
  if (!is_valid_key(key)) return Answer::invalid_key;
  const Located located = locate(key, false);
  if (located.cached == nullptr) return located.answer;
  const Answer answer = change(*located.cached, absent_content());
  return answer == Answer::stored ? Answer::deleted : answer;
}

Answer Client::change(Cached& cached, Content content) {
  if (used_buffers_ == layout_.buffers_per_writer()) return Answer::out_of_memory;
  const std::uint64_t buffer = used_buffers_++;
  const SharedFilling filling = registers_.filling_of(std::move(content));
  return may_guess() ? change_by_guess(cached, filling, buffer)
                     : change_after_reading(cached, filling, buffer);
}

// A reader takes the second guess of a writer for a sign that its first write has ended.
bool Client::may_guess() const {
  return options_.guesses && !(has_given_up_ && options_.safeguards.ended_guesses);
}

Answer Client::given_up() {
  has_given_up_ = true;
  return Answer::unknown_outcome;
}

Answer Client::put_verified(Cached& cached, Word word, const SharedFilling& filling, bool fills) {
  const auto changed = registers_.put(
      cached.place, {.word = word.verified(), .filling = filling, .fills = fills, .in_place = true},
      cached.known);
  if (!changed) return given_up();
  learn(cached, changed->words);
  return Answer::stored;
}

Answer Client::change_after_reading(Cached& cached, const SharedFilling& filling,
                                    std::uint64_t buffer) {
  const auto found = registers_.read(cached.place, false);
  if (!found) return Answer::disconnected;
  learn(cached, found->words);
  return put_verified(cached, Word(clock_.guess(), buffer, writer_), filling, true);
}

// Guesses

Answer Client::change_by_guess(Cached& cached, const SharedFilling& filling, std::uint64_t buffer) {
  const Word guess(clock_.guess(), buffer, writer_);
  const auto tried = registers_.try_to_write(cached.place, guess, filling, cached.known);
  if (!tried) return given_up();
  learn(cached, tried->words);
  if (newest_of(tried->words) > guess.verified()) {
    ++statistics_.overtaken;
    return after_being_overtaken(cached, guess, *tried, filling);
  }
  // No write that ended before this one began is newer.
  if (!registers_.is_at_majority(tried->words, guess))
    return put_verified(cached, guess, filling, false);
  ++statistics_.guessed;
  verify_later(cached, {.word = guess.verified(), .filling = filling, .in_place = true});
  return Answer::stored;
}

// The guess may be stale: a newer write may have ended before this one began. It must then be
// written again, unless a reader may have returned it.
Answer Client::after_being_overtaken(Cached& cached, Word guess, const Registers::Tried& tried,
                                     const SharedFilling& filling) {
  // The authors' code takes the nodes that have answered for all.
  const bool is_nowhere = options_.safeguards.certain_absence
                              ? !tried.may_be_somewhere
                              : std::ranges::all_of(tried.words, [&](const auto& seen) {
                                  return !seen || seen->own > guess;
                                });
  const bool looks = !is_nowhere && options_.safeguards.writer_checks;
  switch (looks ? overtake_and_look(cached, guess, tried.words) : Fate::withdrawn) {
    case Fate::unknown: return given_up();
    case Fate::holds: return put_verified(cached, guess, filling, false);
    case Fate::locked: ++statistics_.found_locks; return Answer::stored;  // before the newer word
    case Fate::withdrawn: break;
  }
  ++statistics_.withdrawn;
  return put_verified(cached, Word(clock_.guess(), guess.buffer(), writer_), filling, false);
}

// The newer word, with its value.
std::optional<Client::Value> Client::repair(Cached& cached, const Words& words) {
  Value value{.word = newest_of(words), .words = words, .content = {}};
  auto content = registers_.fetch(cached.place, words, value.word);
  if (!content) return read(cached);
  value.content = std::move(*content);
  return value;
}

Client::Fate Client::overtake_and_look(Cached& cached, Word guess, const Words& words) {
  // A majority has answered, so no later GET finds the guess to be the newest word.
  const bool is_overtaken_everywhere =
      std::ranges::all_of(words, [&](const auto& seen) { return !seen || seen->newest > guess; });
  if (is_overtaken_everywhere && options_.safeguards.repair_contents) {
    const auto looked = registers_.read_lock(cached.place, guess, words);
    if (!looked) return Fate::unknown;
    if (looked->is_locked) return Fate::locked;
    if (looked->is_overtaken) return Fate::withdrawn;
    // A reader may yet lock the guess at the node that has no newer word, and count it.
  }
  // The authors' code does not read the newer value in the first case, and may yet write it.
  std::optional<Value> value =
      is_overtaken_everywhere && !options_.safeguards.repair_contents
          ? Value{.word = newest_of(words), .words = words, .content = absent_content()}
          : repair(cached, words);
  if (!value) return Fate::unknown;
  if (value->word <= guess.verified()) return Fate::holds;
  const auto changed = registers_.put(cached.place,
                                      {.word = value->word,
                                       .filling = registers_.filling_of(value->content),
                                       .fills = true,
                                       .lock = guess},
                                      cached.known);
  if (!changed) return Fate::unknown;
  learn(cached, changed->words);
  return changed->is_locked ? Fate::locked : Fate::withdrawn;
}

}  // namespace falafel::swarm
