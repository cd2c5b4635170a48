// The state that a client's operations share: its connection, its copy of the directory, and its
// blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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
  bool read_directory();
  // Searches in the subtables that may have the key, in the order in which to look; the key belongs
  // to the one of the directory. There are two while a split moves the key's slots. Connected.
  struct Route {
    std::vector<Search> searches;
    std::size_t target = 0;
    Search& own() { return searches[target]; }
  };
  std::optional<Route> route_for(std::span<const std::byte> key);
  // Looks for a stored copy of the key, after the WRITE of a block if there is one.
  Look find_in(Route& route, std::optional<BlockWrite> write, std::vector<Copy>& copies);
  // After a look that has found nothing: the key was in none of its slots, or (changed) it belongs
  // to another subtable by now.
  Look confirm_absence(Route& route);
  // The headers say that the key is elsewhere, or its slot is frozen. Finishes the split of another
  // client after enough waits. Nothing: look again.
  std::optional<Answer> wait_for_split(std::uint32_t& waits, const KeyHash& hash);
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
  std::optional<std::uint64_t> spare_subtable{};  // of a split that another client began earlier
  std::vector<std::uint64_t> directory{};
  std::unique_ptr<Connection> connection{};
};

}  // namespace falafel::race
