// Random numbers of the operating system, fetched in blocks. They are unpredictable, so they are
// fit for secrets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace falafel::fabric {

// Not thread-safe.
class SystemRandom {
 public:
  // Uniform in [0, bound); all 64 bits if the bound is zero.
  std::uint64_t next(std::uint64_t bound);

 private:
  std::uint64_t next_word();

  std::array<std::uint64_t, 64> words_{};
  std::size_t used_ = 64;
};

}  // namespace falafel::fabric
