#include "fabric/sim/word_waits.h"

#include "fabric/sim/words.h"

namespace falafel::sim {

WordWaits::Wait::Wait(WordWaits& waits, const std::byte* word, std::uint64_t seen)
    : waits_(waits), word_(word), seen_(seen) {
  waits_.waits_.push_back(this);
}

WordWaits::Wait::~Wait() { std::erase(waits_.waits_, this); }

void WordWaits::wake_those_in(const std::byte* begin, std::uint64_t length_bytes) {
  for (Wait* wait : waits_) {
    const bool is_within =
        wait->word_ < begin + length_bytes && begin < wait->word_ + sizeof(std::uint64_t);
    if (is_within && load_word(wait->word_) != wait->seen_) wait->waiters_.wake_all();
  }
}

}  // namespace falafel::sim
