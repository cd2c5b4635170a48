// The index from keys to registers, as a client uses it: a hash table after RACE without its
// growth (authors' code, race/client_index.hpp). A key has two groups of slots. A slot has a number
// of a register and a fingerprint of its key, and never becomes empty again.
//
// The table is on one node: that of the key's data in place, as in the authors' code, or one of its
// own (Safeguards::own_index_node).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/fabric.h"
#include "stores/answer.h"
#include "stores/swarm/layout.h"
#include "stores/swarm/options.h"
#include "stores/swarm/replicas.h"

namespace falafel::swarm {

using stores::Answer;

struct HashedKey {
  std::span<const std::byte> key;
  std::array<std::uint64_t, 2> hashes{};

  explicit HashedKey(std::span<const std::byte> bytes);
};

class Index {
 public:
  // `replicas` outlive the index.
  Index(const Options& options, Replicas& replicas);

  struct Found {
    Answer answer = Answer::disconnected;  // found, not_found, stored, table_full
    std::uint64_t number = 0;
    bool may_write_later =
        false;  // an insert may yet write the key of the register that it has got
  };
  Found search(const HashedKey& key);
  // Enters the register under the key (stored), unless the key has one already (found).
  Found insert(const HashedKey& key, std::uint64_t number);

 private:
  struct Groups {
    std::array<std::uint64_t, 2> first_slots{};
    Link::Groups words{};
  };
  std::size_t member_of(const HashedKey& key) const;
  std::optional<Groups> read(const HashedKey& key);
  Found find(const HashedKey& key, const Groups& groups);
  std::optional<bool> has_key(const HashedKey& key, std::uint64_t number);
  std::optional<std::size_t> free_slot(const HashedKey& key, const Groups& groups) const;

  Options options_;
  Layout layout_;
  Replicas& replicas_;
};

}  // namespace falafel::swarm
