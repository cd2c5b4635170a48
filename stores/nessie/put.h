// PUT and DELETE (Nessie 4.2.2, 4.2.4): a forward pass that finds an ITE for the key, a CAS that
// installs an invalid DTE there, a pass over the other candidates, and the valid bit. A DELETE is a
// PUT whose DTE never becomes valid and whose ITE is emptied instead.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "stores/nessie/client_state.h"

namespace falafel::nessie {

class Put {
 public:
  // Without a value: DELETE.
  Put(ClientState& client, std::span<const std::byte> key,
      std::optional<std::span<const std::byte>> value);
  Answer run();

 private:
  // The findings of the forward pass about an ITE.
  struct Seen {
    std::uint64_t word = 0;
    bool has_key = false;
  };

  Step<Answer> try_to_run();
  // The number of the candidate that the PUT will change; nullopt if a MIGRATE must free one.
  Step<std::optional<std::size_t>> pass_forward();
  Step<Seen> look_at(const Slot& slot);
  Step<void> migrate();

  Step<void> install(std::size_t chosen);
  // From the CAS on, a PUT that ends early has to be undone.
  Step<Answer> complete();
  Step<void> remove_others();
  Step<void> pass_in_reverse();
  Step<void> finish_put();
  Step<void> finish_delete();
  Answer abandon(Answer answer);
  bool restore();

  ClientState& client_;
  std::span<const std::byte> key_;
  std::optional<std::span<const std::byte>> value_;
  Candidates candidates_;
  Deadline deadline_;
  std::vector<Seen> seen_;  // by candidate, as far as the passes have come
  std::size_t chosen_ = 0;
  std::uint64_t replaced_ = 0;  // the word before the CAS
  std::uint64_t entry_ = 0;     // the own DTE
  std::uint64_t own_word_ = 0;
  bool found_key_ = false;
  bool removed_another_ = false;  // tried to empty another ITE of the key
};

}  // namespace falafel::nessie
