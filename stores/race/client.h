// A client of RACE hashing: all operations by one-sided READ, WRITE and CAS.
//
//   auto client = Client::connect(host, {.host = "node", .service = 11}, {}).value();
//   client->set(key, value);
//   GetResult result = client->get(key);
//
// One fiber at a time may use a client. If the connection breaks, the next operation connects
// again. A memory node that has started anew has none of the contents, so the client is then
// disconnected for good.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "stores/race/client_state.h"
#include "stores/race/options.h"
#include "stores/race/results.h"

namespace falafel::race {

class Client {
 public:
  // Waits. Errors: those of Connection::open; invalid_argument (an option out of range).
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         const fabric::Address& node,
                                                         const Options& options);

  // All of them wait. Keys and values are arbitrary bytes; a key has at least one.
  GetResult get(std::span<const std::byte> key);
  Result set(std::span<const std::byte> key, std::span<const std::byte> value);
  Result remove(std::span<const std::byte> key);

  // The sum over all operations.
  const OperationStatistics& statistics() const { return state_.counts.total; }

 private:
  Client(fabric::Host& host, const fabric::Address& node, const Options& options)
      : state_(host, node, options) {}

  bool is_too_large(std::span<const std::byte> key, std::span<const std::byte> value) const;
  Answer look_up(std::span<const std::byte> key, std::vector<std::byte>& value);
  Answer try_to_remove(std::span<const std::byte> key);
  std::optional<Answer> remove_slot(const SeenSlot& slot);

  ClientState state_;
  std::uint64_t most_block_bytes_ = 0;
};

}  // namespace falafel::race
