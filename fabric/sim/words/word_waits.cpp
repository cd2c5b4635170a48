#include "fabric/sim/words/word_waits.h"

#include "fabric/sim/words/words.h"

namespace falafel::sim {

WordWaits::Listener::Listener(WordWaits& waits, const std::byte* begin, std::uint64_t length_bytes)
    : waits_(waits), begin_(begin), length_bytes_(length_bytes) {
  waits_.listeners_.push_back(this);
}

WordWaits::Listener::~Listener() { std::erase(waits_.listeners_, this); }

WordWaits::Wait::Wait(WordWaits& waits, const std::byte* word, std::uint64_t seen)
    : Listener(waits, word, sizeof seen), word_(word), seen_(seen) {}

void WordWaits::Wait::range_changed() {
  if (load_word(word_) != seen_) waiters_.wake_all();
}

void WordWaits::wake_those_in(const std::byte* begin, std::uint64_t length_bytes) {
  for (Listener* listener : listeners_) {
    const bool is_within = listener->begin_ < begin + length_bytes &&
                           begin < listener->begin_ + listener->length_bytes_;
    if (is_within) listener->range_changed();
  }
}

}  // namespace falafel::sim
