// Direct access to the memory of a store's server: finds the container of a key, and replaces it as
// a broken or malicious client could.
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

// Returns the key in the entry's container, or nothing if the container does not verify.
std::optional<Bytes> key_behind(engine::Server& server, engine::Entry entry);

// Finds the entry whose container has that key.
std::optional<Planted> find_planted(engine::Server& server, std::span<const std::byte> key);

engine::Entry load_entry(engine::Server& server, std::uint64_t slot);
void store_entry(engine::Server& server, std::uint64_t slot, engine::Entry entry);

// The `number`-th key whose home slot is `slot`, with the hash key of StoreOptions.
Bytes key_at(std::uint64_t slot, int number, std::uint64_t table_entries);

// Returns the output of write_container.
Bytes container_of(std::span<const std::byte> key, std::span<const std::byte> value);

}  // namespace falafel::engine_test
