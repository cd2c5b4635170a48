// A client of Nessie (Cassell et al., IEEE TPDS 2017). In NessieCD (4), it does everything itself,
// by READ, CAS and WRITE on the tables of all nodes. In NessieSD and NessieHY (5), it asks the
// node that has the key: for everything, or for changes. It runs on the host of one of the nodes;
// in NessieCD, it fills the data table of that node. Clients of NessieSD and NessieHY may also run
// on other hosts. One fiber at a time may use a client; a node may have several.
//
// An operation is an attempt: it answers `busy` where the paper returns a "concurrent operation
// error", and the caller repeats it after a pause (Backoff).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/nessie/layout.h"
#include "stores/nessie/node.h"
#include "stores/nessie/options.h"
#include "stores/nessie/results.h"

namespace falafel::nessie {

class ClientState;

class Client {
 public:
  // Connects with all nodes, in the order of their numbers; the own node is one of them. The node
  // outlives the client. Errors: invalid_argument (an option out of range, a wrong number of
  // nodes), out_of_memory, unreachable (a node does not answer within connect_timeout_ns).
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host, Node& own_node,
                                                         std::span<const fabric::Address> nodes,
                                                         const Options& options);
  // The same for a client of NessieSD or NessieHY whose host has no node: all that it asks for and
  // reads passes through devices. Errors: also invalid_argument (NessieCD).
  static fabric::Result<std::unique_ptr<Client>> connect(fabric::Host& host,
                                                         std::span<const fabric::Address> nodes,
                                                         const Options& options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Each waits. `busy`, `disconnected`, `out_of_memory` (the data table has no free DTE) and
  // `table_full` (too many MIGRATEs would be needed) have changed no key, although a PUT that gave
  // up may have left its ITE behind (Options::abort). `unknown_outcome`: a CAS is in doubt, or a
  // PUT gave up when it had already removed another entry of its key, or a request was not
  // answered. A GET that was not answered is `disconnected`.
  GetResult get(std::span<const std::byte> key);
  // stored, busy, unknown_outcome, table_full, out_of_memory, disconnected, invalid_key,
  // value_too_large
  Answer put(std::span<const std::byte> key, std::span<const std::byte> value);
  // deleted, not_found, and as put
  Answer remove(std::span<const std::byte> key);

  // Marks the DTEs that were replaced (Options::lazy_marks). Each operation begins with it.
  void mark_staged();

  const OperationStatistics& statistics() const;

 private:
  explicit Client(std::unique_ptr<ClientState> state);
  static fabric::Result<std::unique_ptr<Client>> create(fabric::Host& host, Node* own_node,
                                                        std::span<const fabric::Address> nodes,
                                                        const Options& options);

  std::unique_ptr<ClientState> state_;
};

// The pause before an operation is repeated: twice as long each time, up to a limit, of which a
// random share is waited (4.3.2: standard exponential back-off).
class Backoff {
 public:
  explicit Backoff(fabric::Host& host) : host_(host) {}
  void pause();

 private:
  static constexpr std::uint64_t first_ns = 10'000;
  static constexpr std::uint64_t longest_ns = 1'000'000;

  fabric::Host& host_;
  std::uint64_t next_ns_ = first_ns;
};

}  // namespace falafel::nessie
