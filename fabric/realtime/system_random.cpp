#include "fabric/realtime/system_random.h"

#include <unistd.h>

#include "fabric/assert.h"

namespace falafel::fabric {

std::uint64_t SystemRandom::next_word() {
  if (used_ == words_.size()) {
    const int failed = ::getentropy(words_.data(), sizeof words_ / 2);
    const int failed_again = ::getentropy(words_.data() + words_.size() / 2, sizeof words_ / 2);
    FALAFEL_ASSERT(failed == 0 && failed_again == 0,
                   "getentropy failed: the system provides no random numbers");
    used_ = 0;
  }
  return words_[used_++];
}

// Lemire 2019: the high half of the product is uniform if the few low halves that favor some
// numbers are rejected.
std::uint64_t SystemRandom::next(std::uint64_t bound) {
  __extension__ using Product = unsigned __int128;
  if (bound == 0) return next_word();
  const std::uint64_t threshold = (0 - bound) % bound;
  for (;;) {
    const Product product = Product{next_word()} * bound;
    if (static_cast<std::uint64_t>(product) < threshold) continue;
    const auto number = static_cast<std::uint64_t>(product >> 64U);
    FALAFEL_ASSERT(number < bound, "drew {} for the bound {}", number, bound);
    return number;
  }
}

}  // namespace falafel::fabric
