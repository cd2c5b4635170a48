// The state that a client's operations share: its connection, its copy of the directory, and its
// blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/operation_counts.h"
#include "stores/race/block_pool.h"
#include "stores/race/connection.h"
#include "stores/race/hashing.h"
#include "stores/race/options.h"
#include "stores/race/results.h"
#include "stores/race/search.h"

namespace falafel::race {

struct ClientState {
  ClientState(fabric::Host& own_host, fabric::Address node, const Options& own_options)
      : host(own_host), address(std::move(node)), options(own_options), id(own_host.random(0)) {}

  fabric::Result<void> connect();
  // Connects again if need be. False: not within server_timeout_ns, or never again.
  bool ensure_connected();
  // A search in the subtable that the directory names for the key. Connected.
  Search search_for(std::span<const std::byte> key);
  // The block of a word that this client has removed from its slot becomes this client's.
  void free_block_of(std::uint64_t word);
  // Waits after a lost CAS.
  void back_off();

  fabric::Host& host;
  const fabric::Address address;
  const Options options;
  const std::uint64_t id;
  std::uint64_t incarnation = 0;
  bool is_lost = false;  // the node that this client knew is gone
  stores::OperationCounts<OperationStatistics> counts{};
  BlockPool pool{};
  std::vector<std::uint64_t> directory{};
  std::unique_ptr<Connection> connection{};
};

}  // namespace falafel::race
