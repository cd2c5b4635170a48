// A client of the replicated registers. It keeps each key at all servers and answers once a
// majority has answered, so it needs nobody's processor, and waits for no other client.
//
// A key is a multi-writer register as in Attiya, Bar-Noy and Dolev (JACM 1995), whose values are
// outside the words that the servers hold: a SET writes a container to the servers and learns the
// newest word of a majority, and then makes its own word, with a higher stamp, the newest of a
// majority, by compare-and-swap. With guesses (Options), the first step is left out, and
// docs/replication.md explains what that takes. One fiber at a time may use a client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/answer.h"
#include "stores/replicated/layout.h"
#include "stores/replicated/link.h"
#include "stores/replicated/options.h"
#include "stores/replicated/replicas.h"
#include "stores/replicated/steps.h"

namespace falafel::replicated {

using stores::Answer;

struct GetResult {
  Answer answer = Answer::disconnected;  // found, not_found, disconnected, out_of_memory
  Content value{};
};

// The counts of rare events.
struct Statistics {
  std::uint64_t write_backs = 0;
  std::uint64_t lost_contents = 0;  // GETs that read the words again
  std::uint64_t marked = 0;         // by a GET, or by an overtaken SET
  std::uint64_t guessed = 0;        // SETs and DELETEs that took one step
  std::uint64_t overtaken = 0;      // by a newer word, after a guess
  std::uint64_t found_marks = 0;    // of these: a reader counts the guess
  std::uint64_t withdrawn = 0;      // of these: written again
};

class Client {
 public:
  // `writer` is below Options::writers, and no other client ever has the same.
  static fabric::Result<std::unique_ptr<Client>> create(fabric::Host& host, std::uint32_t writer,
                                                        const std::vector<stores::Member>& members,
                                                        const Options& options);

  // All of them wait. `disconnected`: no majority answers, and the operation has changed nothing;
  // `unknown_outcome`: the same, but it may have changed something, or will.
  GetResult get(std::uint64_t key);
  // stored, out_of_memory, value_too_large, disconnected, unknown_outcome
  Answer set(std::uint64_t key, std::span<const std::byte> value);
  // deleted, out_of_memory, disconnected, unknown_outcome. `deleted` does not say whether the key
  // was present. Without blind deletes, not_found: it was not.
  Answer remove(std::uint64_t key);

  std::uint64_t round_trips() const { return steps_.round_trips(); }
  const Statistics& statistics() const { return statistics_; }

 private:
  Client(std::uint32_t writer, const Options& options, std::unique_ptr<Replicas> replicas);

  // The words of a key at a majority, once no writer will withdraw the newest one.
  struct Decided {
    Words words;
    Word newest;
  };
  std::optional<Decided> decide(std::uint64_t key, Words words);
  std::optional<Steps::WordsAndContents> look_up(std::uint64_t key);
  // The newest value; nothing without a majority. Decided::newest is Word() if there is none.
  struct Value {
    Decided decided;
    Content content{};
  };
  std::optional<Value> find(std::uint64_t key);
  std::optional<Value> try_to_find(std::uint64_t key, bool& has_lost_content);
  // Puts the word at a majority, with a copy of its container. The answer: stored, disconnected or
  // out_of_memory.
  Answer write_back(std::uint64_t key, const Decided& decided, const Content& content);

  Answer change(std::uint64_t key, bool is_absent, Content content);
  Answer change_in_two_steps(std::uint64_t key, bool is_absent, const SharedFilling& filling);
  Answer change_by_guess(std::uint64_t key, bool is_absent, const SharedFilling& filling);
  Answer after_being_overtaken(std::uint64_t key, Word guess, Words words,
                               const SharedFilling& filling);
  std::optional<bool> has_mark(Word guess);
  std::optional<bool> overtake_and_look(std::uint64_t key, Word guess, const Value& newer);
  Answer put(std::uint64_t key, Word word, const SharedFilling& filling, const Words& expected);

  Word next_word(std::uint64_t key, Word newest, bool is_absent, std::uint64_t container);
  std::optional<std::uint64_t> allocate_container();
  SharedFilling filling_of(std::uint64_t container, Content content) const;
  void remember(std::uint64_t key, const Words& words);

  std::uint32_t writer_;
  Options options_;
  Layout layout_;
  Steps steps_;
  Statistics statistics_;
  std::uint64_t used_containers_ = 0;
  std::map<std::uint64_t, Words> known_;               // by key
  std::map<std::uint64_t, std::uint64_t> own_stamps_;  // by key, the last one used
};

}  // namespace falafel::replicated
