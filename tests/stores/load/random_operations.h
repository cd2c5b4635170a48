// Random operations of one client on few keys, recorded in a history. Half of them are GETs, and
// the others are PUTs and DELETEs in equal parts. Each PUT has a value of its own.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fabric/fabric.h"
#include "tests/stores/load/any_client.h"
#include "tests/stores/load/shared_history.h"

namespace falafel::stores_test {

struct Load {
  std::uint32_t client = 0;  // its number, which is also the seed
  int operations = 1'500;
  int keys = 8;
  bool deletes = true;  // without them: GETs
};

// The answers of the operations, and the time that each took with its repetitions.
struct Tally {
  std::map<Answer, std::uint64_t> answers{};
  std::uint64_t given_up = 0;  // operations that failed however often they were repeated
  std::vector<std::uint64_t> get_ns{};
  std::vector<std::uint64_t> change_ns{};

  Tally& operator+=(const Tally& other);
};

// Ends early if the client is disconnected.
Tally run_random_operations(fabric::Host& host, AnyClient& client, const Load& load,
                            SharedHistory& history);

}  // namespace falafel::stores_test
