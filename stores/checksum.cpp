#include "stores/checksum.h"

#include <algorithm>
#include <cstring>

#include "stores/crc64.h"

namespace falafel::stores {
namespace {

__extension__ using Product = unsigned __int128;

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

std::uint64_t reduce(Product product) {
  const Product once = (product & prime) + (product >> 61);
  const auto twice = static_cast<std::uint64_t>((once & prime) + (once >> 61));
  return twice >= prime ? twice - prime : twice;
}

}  // namespace

// The secret is mixed so that those with few bits are as good (SplitMix64). The point is not 0.
Checksum Checksum::keyed(std::uint64_t secret) {
  std::uint64_t mixed = secret + 0x9e37'79b9'7f4a'7c15;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58'476d'1ce4'e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d0'49bb'1331'11eb;
  mixed ^= mixed >> 31;
  Checksum checksum;
  checksum.point_ = 1 + mixed % (prime - 1);
  return checksum;
}

// Each half of a word is a coefficient, because a whole word does not fit below the prime. The
// first coefficient is the length.
std::uint64_t Checksum::of(std::span<const std::byte> bytes) const {
  if (point_ == 0) return crc64(bytes);
  const std::uint64_t square = reduce(Product{point_} * point_);
  std::uint64_t sum = bytes.size() + 1;
  for (std::size_t begin = 0; begin < bytes.size(); begin += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + begin, std::min(sizeof word, bytes.size() - begin));
    sum = reduce(Product{sum} * square + Product{word >> 32} * point_ + (word & 0xffff'ffff));
  }
  return reduce(Product{sum} * point_);
}

}  // namespace falafel::stores
