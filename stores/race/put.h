// One PUT: an update of the key's slot by CAS, or an insert into an empty one.
//
// The client writes the block, reads both combined buckets in the same doorbell, and looks for the
// key. If it is there, the client swaps its slot. Otherwise, it swaps an empty slot of the less
// loaded combined bucket, reads both again, and removes all copies of the key but one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "stores/race/client_state.h"

namespace falafel::race {

class Put {
 public:
  // All of them outlive this object.
  Put(ClientState& client, std::span<const std::byte> key, std::span<const std::byte> value)
      : client_(client), key_(key), value_(value) {}

  Answer run();

 private:
  // Nothing: start over.
  using Step = std::optional<Answer>;
  using Route = ClientState::Route;

  Step attempt();
  Step take_block();
  Step update(const SeenSlot& slot);
  Step insert(Route& route);
  Step split(Route& route);
  Step wait_for_split(Route& route);
  Step confirm(Route& route, std::uint64_t slot);
  Step remove_duplicates(Route& route, std::uint64_t slot);

  // The other copies of its key that an inserter with a tentative slot finds.
  enum class Rivals : std::uint8_t { none, changed, stored_copy, misplaced, broken };
  Rivals remove_rivals(Route& route, std::uint64_t slot);
  Step withdraw(std::uint64_t slot);
  Look find_all(Route& route, std::vector<Copy>& copies);
  bool remove_other_copies(std::vector<Copy>& copies);

  std::uint64_t word(bool is_tentative) const;
  // The connection is down and a WRITE or a CAS may still happen, so nobody uses the block again.
  Step lose_block();
  Step lose_block_in_doubt();
  void return_block();

  ClientState& client_;
  std::span<const std::byte> key_;
  std::span<const std::byte> value_;
  std::optional<FreeBlock> block_;
  Bytes bytes_;  // of the block
  bool is_written_ = false;
  std::uint32_t waits_ = 0;  // for splits
};

}  // namespace falafel::race
