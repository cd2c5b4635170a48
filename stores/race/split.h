// One split: half of the keys of a full subtable move to a new one, while other clients go on.
//
// The client locks the subtable's entry of the directory, requests memory for the new subtable,
// changes the headers of all old buckets, and publishes the new subtable. It then moves the slots
// one by one: it freezes the old slot, copies it into the new subtable, and clears it. Clients that
// see the lock look into the old subtable first, and clients with an old directory notice the
// headers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "stores/race/client_state.h"

namespace falafel::race {

class Split {
 public:
  // `client` outlives this object and is connected. `hash` is that of a key of the subtable.
  Split(ClientState& client, const KeyHash& hash) : client_(client), hash_(hash) {}

  enum class Outcome : std::uint8_t {
    done,           // also by another client
    locked,         // another client splits the subtable
    full,           // the directory has its largest depth
    out_of_memory,  // of the memory node
    broken,         // the connection is down; the entry may stay locked
  };
  Outcome run();

 private:
  enum class Moved : std::uint8_t { done, changed, broken };
  using Action = std::function<Moved(const SeenSlot&, std::span<const std::byte> key)>;

  bool create_subtable();
  bool change_headers();
  bool publish();
  bool raise_depth();
  bool unlock();
  bool for_each_moving_slot(const Action& action);
  bool treat(SeenSlot slot, const Action& action);
  Moved remove_tentative(const SeenSlot& slot);
  Moved move(const SeenSlot& slot, std::span<const std::byte> key);
  Moved copy(const SeenSlot& slot, std::span<const std::byte> key);
  bool write_headers(std::uint64_t subtable, std::uint64_t suffix);
  // False: the connection is down.
  bool swap(std::uint64_t offset, std::uint64_t expected, std::uint64_t desired, bool& is_swapped);

  ClientState& client_;
  const KeyHash hash_;
  std::uint64_t depth_ = 0;   // before
  std::uint64_t suffix_ = 0;  // of the old subtable
  std::uint64_t old_ = 0;
  std::uint64_t new_ = 0;
  bool has_room_ = true;
};

}  // namespace falafel::race
