// GET (Nessie 4.2.1, 4.3.2): a forward pass over the candidates of the key, and a reverse pass if
// none has it.
#pragma once

#include <span>
#include <vector>

#include "stores/nessie/client_state.h"

namespace falafel::nessie {

class Get {
 public:
  Get(ClientState& client, std::span<const std::byte> key);
  GetResult run();

 private:
  Step<GetResult> try_to_run();
  // The value, if this ITE's DTE has the key.
  Step<std::optional<Bytes>> look_at(const Slot& slot, std::uint64_t word);
  Step<DataEntry> fetch_with_value(std::uint64_t word);
  Step<Bytes> value_of(const Slot& slot, std::uint64_t word, const DataEntry& entry);
  Step<Bytes> previous_value(const Slot& slot, std::uint64_t word, const DataEntry& entry);
  Step<void> validate(const Slot& slot, std::uint64_t word);
  Step<void> pass_in_reverse();

  ClientState& client_;
  std::span<const std::byte> key_;
  Candidates candidates_;
  Deadline deadline_;
  std::vector<std::uint64_t> seen_;  // the ITEs of the forward pass
};

}  // namespace falafel::nessie
