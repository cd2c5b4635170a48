// The state that a client keeps between operations, and the requests of which its operations
// consist.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "stores/nessie/connection.h"
#include "stores/nessie/entry_cache.h"
#include "stores/nessie/hashing.h"
#include "stores/nessie/message.h"
#include "stores/nessie/node.h"
#include "stores/nessie/requester.h"
#include "stores/nessie/results.h"

namespace falafel::nessie {

// The result of a part of an operation, or the answer with which the operation ends.
template <typename Value>
using Step = tl::expected<Value, Answer>;

// The time within which an operation ends, because DTEs that it has read may be used again
// afterwards (4.3.1).
struct Deadline {
  std::uint64_t at_ns = 0;  // also of attempts to connect
  bool before_each_verb = false;
  bool at_end = false;
};

class ClientState {
 public:
  // `own_node` is null for a client whose host has no node.
  ClientState(fabric::Host& own_host, Node* own_node, const Options& own_options);

  fabric::Result<void> connect(std::span<const fabric::Address> nodes);

  tl::unexpected<Answer> give_up(GiveUp reason);
  // `busy` once the deadline has passed.
  Deadline start();
  Step<void> check_end(const Deadline& deadline);
  // For what must be cleaned up after an operation: it is never too late.
  Deadline without_deadline() const;

  // An ITE.
  Step<std::uint64_t> read_index(const Slot& slot, const Deadline& deadline);
  // Returns whether the ITE was swapped. `unknown_outcome`: perhaps.
  Step<bool> swap_index(const Slot& slot, std::uint64_t expected, std::uint64_t desired,
                        const Deadline& deadline);
  // The DTE to which an ITE refers: from the cache, the own data table, or by READ.
  Step<DataEntry> fetch(std::uint64_t word, bool with_value, const Deadline& deadline);
  // The same, but never from the cache.
  Step<DataEntry> fetch_again(std::uint64_t word, bool with_value, const Deadline& deadline);
  void remember(std::uint64_t word, const DataEntry& entry);

  std::uint64_t emptied(std::uint64_t word) const { return emptied_word(word, options); }
  std::uint64_t word_of(std::uint64_t entry, std::span<const std::byte> key) const {
    return index_word(own_node_->number(), entry, key, options);
  }
  DataTable& own_data_table() { return own_node_->data_table(); }
  Candidates candidates(std::span<const std::byte> key) const {
    host.spend(fabric::Work::hash, options.ways * key.size());
    return candidates_of(key, connections_.size(), options);
  }

  // Has the node that has the request's key carry it out. The response, or what is known of the
  // request.
  tl::expected<Message, Fate> request(Message request);

  // The DTE of this ITE, which this client has replaced or emptied, will be marked for recycling.
  void stage(std::uint64_t word, bool is_valid) { staged_.push_back({word, is_valid}); }
  void mark_staged();

  fabric::Host& host;
  const Options options;
  OperationStatistics statistics;

 private:
  struct Staged {
    std::uint64_t word;
    bool is_valid;
  };

  bool is_own(std::uint64_t number) const {
    return own_node_ != nullptr && number == own_node_->number();
  }
  bool is_possible(const IndexEntry& entry) const;
  Step<Connection*> connection(std::uint64_t number, const Deadline& deadline);
  Step<DataEntry> read_remote(const IndexEntry& entry, bool with_value, const Deadline& deadline);
  void mark(const Staged& staged);

  Node* own_node_;
  NodeLayout layout_;
  Buffers buffers_;
  std::unique_ptr<Requester> requester_;                  // of NessieSD and NessieHY
  std::vector<std::unique_ptr<Connection>> connections_;  // by node
  std::vector<Staged> staged_;
};

}  // namespace falafel::nessie
