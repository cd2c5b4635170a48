// White-box access to the memory of a store's server: where a key's container is, and what a test puts
// there in its place, as a broken or hostile client could.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/layout/entry.h"
#include "engine/server/server.h"
#include "tests/engine/final_state.h"

namespace falafel::engine_test {

struct Planted {
  std::uint64_t slot = 0;
  engine::Entry entry{};
  std::uint64_t container_offset = 0;
};

// The entry whose container has that key.
std::optional<Planted> find_planted(engine::Server& server, std::span<const std::byte> key);

engine::Entry load_entry(engine::Server& server, std::uint64_t slot);
void store_entry(engine::Server& server, std::uint64_t slot, engine::Entry entry);

// The `number`-th key whose search starts at `slot`, under the hash of StoreOptions.
Bytes key_at(std::uint64_t slot, int number, std::uint64_t table_entries);

// A container as write_container makes it.
Bytes container_of(std::span<const std::byte> key, std::span<const std::byte> value);

}  // namespace falafel::engine_test
