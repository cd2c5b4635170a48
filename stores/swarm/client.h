// A client of SWARM-KV. It keeps each key at several memory nodes and answers once a majority has
// answered, so it needs nobody's processor, and waits for no other client.
//
// Safe-Guess (authors' code, oops_data_future.hpp): a write guesses a timestamp, and is done in one
// round trip if no node of a majority has a newer word. Otherwise its guess may be stale: it puts
// the newer word at a majority, looks whether a reader has locked its guess, and if not, writes
// again with a timestamp that is newer. A reader returns a word that is verified; one that is not,
// it reads twice, and then locks. It also returns the first of two guesses of one writer, which
// must have completed meanwhile, so no operation waits for another one.
//
// One fiber at a time may use a client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "stores/answer.h"
#include "stores/swarm/clock.h"
#include "stores/swarm/index.h"
#include "stores/swarm/layout.h"
#include "stores/swarm/link.h"
#include "stores/swarm/options.h"
#include "stores/swarm/registers.h"
#include "stores/swarm/replicas.h"

namespace falafel::swarm {

struct GetResult {
  Answer answer = Answer::disconnected;  // found, not_found, disconnected
  std::vector<std::byte> value{};
};

// The counts of events.
struct Statistics {
  std::uint64_t in_place = 0;       // GETs that found the value in place
  std::uint64_t out_of_place = 0;   // GETs that fetched it from a buffer
  std::uint64_t write_backs = 0;    // GETs that put their word at a majority
  std::uint64_t lost_contents = 0;  // times that no node had the value of the newest word
  std::uint64_t locked = 0;         // guesses that GETs locked
  std::uint64_t first_guesses = 0;  // GETs that returned the first of two guesses of one writer
  std::uint64_t guessed = 0;        // changes that took one round trip
  std::uint64_t overtaken = 0;      // changes that found a newer word after their guess
  std::uint64_t found_locks = 0;    // of these: a reader counts the guess
  std::uint64_t withdrawn = 0;      // of these: written again
  std::uint64_t inserted = 0;       // registers that this client has entered into the index
  std::uint64_t lost_inserts = 0;   // keys that another client entered at the same time
};

class Client {
 public:
  // `writer` is below Options::writers, and no other client ever has the same.
  static fabric::Result<std::unique_ptr<Client>> create(fabric::Host& host, std::uint32_t writer,
                                                        const std::vector<stores::Member>& members,
                                                        const Options& options);

  // All of them wait. `disconnected`: no majority answers, and the operation has changed nothing;
  // `unknown_outcome`: the same, but it may have changed something, or will.
  GetResult get(std::span<const std::byte> key);
  Answer set(std::span<const std::byte> key, std::span<const std::byte> value);
  // `deleted` does not say that there was a value [reading of ours: the authors' code has no
  // DELETE]. A key that is not in the index is `not_found`.
  Answer remove(std::span<const std::byte> key);

  const Statistics& statistics() const { return statistics_; }
  std::uint64_t round_trips() const { return replicas_->round_trips(); }

 private:
  struct Cached {
    Place place;
    Words known;
  };
  struct Located {
    Answer answer = Answer::disconnected;  // found, not_found, and reasons not to know
    Cached* cached = nullptr;
  };
  struct Value {
    Word word;
    Words words;
    Content content;  // empty: the key has never been written
  };

  Client(fabric::Host& host, std::uint32_t writer, const Options& options,
         std::unique_ptr<Replicas> replicas);
  Located locate(std::span<const std::byte> key, bool inserts);
  Cached& remember(std::span<const std::byte> key, Place place);
  void learn(Cached& cached, const Words& words);
  bool is_valid_key(std::span<const std::byte> key) const;

  std::optional<Value> read(Cached& cached);
  std::optional<Value> find(Cached& cached);
  std::optional<Value> lock(Cached& cached, Value value, bool& is_decided);
  std::optional<Content> content_of_newest(const Cached& cached, const Registers::Found& found,
                                           Word newest);
  void verify_later(Cached& cached, const Registers::Change& change);
  Answer finish(Cached& cached, const Value& value);

  Answer change(Cached& cached, Content content);
  bool may_guess() const;
  Answer given_up();
  Answer change_after_reading(Cached& cached, const SharedFilling& filling, std::uint64_t buffer);
  Answer change_by_guess(Cached& cached, const SharedFilling& filling, std::uint64_t buffer);
  Answer after_being_overtaken(Cached& cached, Word guess, const Registers::Tried& tried,
                               const SharedFilling& filling);
  // The fate of a guess that was overtaken.
  enum class Fate : std::uint8_t {
    unknown,
    holds,     // the newer word is gone, with its node
    locked,    // a reader counts the guess
    withdrawn  // a newer word is at a majority, and no reader counts the guess
  };
  Fate overtake_and_look(Cached& cached, Word guess, const Words& words);
  std::optional<Value> repair(Cached& cached, const Words& words);
  Answer put_verified(Cached& cached, Word word, const SharedFilling& filling, bool fills);

  std::uint32_t writer_;
  Options options_;
  Layout layout_;
  std::unique_ptr<Replicas> replicas_;
  Registers registers_;
  Index index_;
  Clock clock_;
  std::uint64_t used_buffers_ = 0;
  std::uint64_t used_registers_ = 0;
  bool has_given_up_ = false;  // a write, with unknown outcome
  std::map<std::string, Cached, std::less<>> cache_;
  std::deque<std::string> cache_order_;  // the oldest first
  Statistics statistics_;
};

}  // namespace falafel::swarm
