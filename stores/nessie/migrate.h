// MIGRATE (Nessie 4.2.3, 4.3.1): frees a slot by moving its key to another one of the key's
// candidates.
#pragma once

#include <optional>

#include "stores/nessie/client_state.h"

namespace falafel::nessie {

class Migrate {
 public:
  Migrate(ClientState& client, const Deadline& deadline) : client_(client), deadline_(deadline) {}

  // Empties the slot, unless it is empty. An answer means that no key was changed.
  Step<void> run(const Slot& source, std::uint32_t depth = 1);

 private:
  // The slot that the key moves to; nullopt if it has no other one.
  std::optional<Slot> destination_of(const Slot& source, std::span<const std::byte> key) const;
  // Its word, once it is empty.
  Step<std::uint64_t> free_destination(const Slot& destination, std::uint32_t depth);
  Step<void> move(const Slot& source, std::uint64_t word, const Slot& destination,
                  std::uint64_t destination_word, const DataEntry& entry);
  Step<std::uint64_t> install_copy(const Slot& destination, std::uint64_t destination_word,
                                   const DataEntry& entry);
  // Somebody else has changed one of the two slots.
  tl::unexpected<Answer> lose();
  void remove_copy(const Slot& destination, std::uint64_t copy_word);

  ClientState& client_;
  Deadline deadline_;
};

}  // namespace falafel::nessie
