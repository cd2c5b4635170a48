// A queue in a ring of places. The ring grows to the largest number of elements it ever held.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>

namespace falafel::sim {

// The index of an element is the number of elements inserted before it; the owner counts which of
// them are present. An element that leaves is not destroyed, so the next element in its place can
// reuse the memory it had allocated.
template <typename Element>
class Ring {
 public:
  Element& operator[](std::uint64_t index) { return places_[index & mask_]; }
  const Element& operator[](std::uint64_t index) const { return places_[index & mask_]; }

  // Makes room for `count` elements in addition to [first, end).
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
  std::uint64_t size_ = 0;  // a power of two; 0 at first
  std::uint64_t mask_ = 0;
};

}  // namespace falafel::sim
