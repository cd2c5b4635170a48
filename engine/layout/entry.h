// An entry of the hash table is one word, so that one compare-and-swap changes all of it (Behringer
// 3.4, 4.2.1).
//
//   bit 63 .. 32  reference to the container (engine/layout/references.h): its offset from the
//                 chunk's start, in units of Geometry::unit_bytes, and, above it, bits of its key's
//                 hash and of its length if the store has room for them; 0: empty
//   bit 31 ..  2  tag, incremented by every change that could otherwise recreate an earlier word
//   bit 1         locked: the cleanup is working on the entry, and clients must not change it
//   bit 0         deleted: the key is not in the store; its container still says which key it was
//
// An empty entry has neither flag, except that an empty entry with the deleted flag is *frozen* in
// a store whose table can grow: nothing is ever inserted there, and searches go on in the next
// table (docs/protocol.md, "A table that grows"). The tag of an empty entry continues to count, so
// empty words also differ. A store may use fewer tag bits (Geometry::tag_bits); the other bits of
// the field then never change.
#pragma once

#include <cstdint>

namespace falafel::engine {

inline constexpr std::uint32_t most_tag_bits = 30;
inline constexpr std::uint64_t entry_bytes = 8;

class Entry {
 public:
  constexpr Entry() = default;
  constexpr explicit Entry(std::uint64_t word) : word_(word) {}

  // A live entry with this entry's tag.
  constexpr Entry pointing_to(std::uint32_t reference) const {
    return Entry((std::uint64_t{reference} << 32) | (word_ & tag_mask));
  }
  // The same entry, pointing to another container.
  constexpr Entry moved_to(std::uint32_t reference) const {
    return Entry((std::uint64_t{reference} << 32) | (word_ & 0xffff'ffff));
  }
  // `tag_bits` comes from the store's geometry; the tag repeats after 2^tag_bits steps.
  constexpr Entry with_next_tag(std::uint32_t tag_bits) const {
    const std::uint64_t counted = counted_mask(tag_bits);
    return Entry((word_ & ~counted) | ((word_ + (std::uint64_t{1} << 2)) & counted));
  }
  constexpr Entry with_deleted() const { return Entry(word_ | deleted_bit); }
  constexpr Entry with_locked() const { return Entry(word_ | locked_bit); }
  constexpr Entry without_lock() const { return Entry(word_ & ~locked_bit); }
  // This entry's reference and deleted flag with the tag of `tag_of`.
  constexpr Entry with_tag_of(Entry tag_of) const {
    return Entry((word_ & ~tag_mask) | (tag_of.word_ & tag_mask));
  }

  // The frozen entry that replaces this empty one.
  constexpr Entry frozen() const { return pointing_to(0).with_deleted(); }

  constexpr std::uint64_t word() const { return word_; }
  constexpr std::uint32_t reference() const { return static_cast<std::uint32_t>(word_ >> 32); }
  constexpr std::uint32_t tag() const { return static_cast<std::uint32_t>(word_ & tag_mask) >> 2; }
  constexpr bool is_empty() const { return reference() == 0; }
  constexpr bool is_frozen() const { return is_empty() && is_deleted() && !is_locked(); }
  constexpr bool is_locked() const { return (word_ & locked_bit) != 0; }
  constexpr bool is_deleted() const { return (word_ & deleted_bit) != 0; }

  friend constexpr bool operator==(Entry, Entry) = default;

 private:
  static constexpr std::uint64_t deleted_bit = 1;
  static constexpr std::uint64_t locked_bit = 2;
  static constexpr std::uint64_t counted_mask(std::uint32_t tag_bits) {
    return ((std::uint64_t{1} << tag_bits) - 1) << 2;
  }
  static constexpr std::uint64_t tag_mask = ((std::uint64_t{1} << most_tag_bits) - 1) << 2;

  std::uint64_t word_ = 0;
};

static_assert(sizeof(Entry) == entry_bytes);

}  // namespace falafel::engine
