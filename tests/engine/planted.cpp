#include "tests/engine/planted.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layout/container.h"
#include "engine/layout/key_hash.h"
#include "tests/engine/store.h"

namespace falafel::engine_test {

using engine::Entry;
using engine::Verification;

Entry load_entry(engine::Server& server, std::uint64_t slot) {
  return Entry(server.memory().load(server.geometry().entry_offset(slot)));
}

void store_entry(engine::Server& server, std::uint64_t slot, Entry entry) {
  server.memory().store(server.geometry().entry_offset(slot), entry.word());
}

std::optional<Bytes> key_behind(engine::Server& server, Entry entry) {
  if (entry.is_empty()) return std::nullopt;
  const std::uint64_t offset = server.geometry().to_offset(entry.reference());
  const std::span<const std::byte> bytes = server.memory().bytes().subspan(offset);
  const auto header = engine::read_container_header(bytes, Verification::on);
  if (!header) return std::nullopt;
  const auto key = engine::read_container_key(bytes, *header, Verification::on);
  return key ? std::optional(Bytes(key->begin(), key->end())) : std::nullopt;
}

std::optional<Planted> find_planted(engine::Server& server, std::span<const std::byte> key) {
  for (std::uint64_t slot = 0; slot < server.geometry().table_entries; ++slot) {
    const Entry entry = load_entry(server, slot);
    const auto found = key_behind(server, entry);
    if (!found || !std::ranges::equal(*found, key)) continue;
    return Planted{slot, entry, server.geometry().to_offset(entry.reference())};
  }
  return std::nullopt;
}

Bytes key_at(std::uint64_t slot, int number, std::uint64_t table_entries) {
  for (std::uint64_t candidate = 0;; ++candidate) {
    Bytes key = bytes_of(fmt::format("key {}", candidate));
    if (engine::home_slot(key, engine::HashKey{}, table_entries) == slot && number-- == 0) {
      return key;
    }
  }
}

Bytes container_of(std::span<const std::byte> key, std::span<const std::byte> value) {
  Bytes bytes(engine::container_bytes(key.size(), value.size()));
  engine::write_container(key, value, bytes);
  return bytes;
}

}  // namespace falafel::engine_test
