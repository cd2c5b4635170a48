// A queue in a ring of places, which grow to as many as were ever needed at once.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace falafel::sim {

// Elements are named by how many were put in before them; the owner keeps count of which are in. What
// leaves is not destroyed, so that the next element in its place can use what it had allocated.
template <typename Element>
class Ring {
 public:
  Element& operator[](std::uint64_t index) { return places_[index & mask_]; }
  const Element& operator[](std::uint64_t index) const { return places_[index & mask_]; }

  // For so many elements more than [first, end).
  void make_room(std::uint64_t first, std::uint64_t end, std::uint64_t count) {
    if (end - first + count > size_) grow(first, end, count);
  }

 private:
  void grow(std::uint64_t first, std::uint64_t end, std::uint64_t count) {
    const std::uint64_t size = std::bit_ceil(end - first + count);
    auto places = std::make_unique<Element[]>(size);
    for (std::uint64_t index = first; index < end; ++index) {
      places[index & (size - 1)] = std::move((*this)[index]);
    }
    places_ = std::move(places);
    size_ = size;
    mask_ = size - 1;
  }

  std::unique_ptr<Element[]> places_;
  std::uint64_t size_ = 0;  // a power of two, or nothing yet
  std::uint64_t mask_ = 0;
};

}  // namespace falafel::sim
