// The reference of an entry (bits 63 .. 32): where its container is and, if the chunk leaves bits
// for it, which key the container may have and how long it is.
//
//   fingerprint : Geometry::fingerprint_bits | size class : Geometry::size_class_bits | offset
//
// A reference is a function of its container: whoever points an entry to a container takes the
// fingerprint from the key and the size class from the length, and whoever changes only the flags
// or the tag keeps them. A client therefore reads only containers that may have its key, and reads
// each of them with one request of about the right length.
//
// The fingerprint is the top bits of the key's hash. The home slot is the rest of a division of the
// hash, so it depends mostly on the low bits, and keys with the same home slot have different
// fingerprints.
//
// Size class c means that the container has at most 64 * 2^c bytes, except the last class, which
// says nothing. Without bits, every container is in the last class.
//
// A reference without a key, which is that of the stand-in, has the fingerprint and the size class
// 0.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"

namespace falafel::engine {

class References {
 public:
  explicit References(const Geometry& geometry) : geometry_(geometry) {}

  // The reference to a container of this length at `offset`, whose key has this hash.
  std::uint32_t to(std::uint64_t offset, std::uint64_t hash, std::uint64_t container_bytes) const;

  // Returns whether the container of an entry may have a key with this hash. An entry that only
  // correct parties have changed rules out no key that its container has.
  bool may_have_key(Entry entry, std::uint64_t hash) const;
  // An upper bound of the length of its container; nullopt: there is none.
  std::optional<std::uint64_t> most_bytes(Entry entry) const;

  std::uint32_t fingerprint(Entry entry) const;
  std::uint32_t size_class(Entry entry) const;

 private:
  std::uint32_t fingerprint_of(std::uint64_t hash) const;
  std::uint32_t last_class() const { return (1U << geometry_.size_class_bits) - 1; }

  const Geometry& geometry_;
};

}  // namespace falafel::engine
