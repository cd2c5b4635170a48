#include "stores/pilaf/server_memory.h"

#include <utility>

namespace falafel::pilaf {

ServerMemory::ServerMemory(fabric::Host& host, fabric::ProtectionDomain& domain,
                           const Options& options)
    : host_(host), domain_(domain), options_(options) {}

fabric::Result<std::unique_ptr<ServerMemory>> ServerMemory::create(fabric::Host& host,
                                                                   fabric::ProtectionDomain& domain,
                                                                   const Options& options) {
  std::unique_ptr<ServerMemory> memory(new ServerMemory(host, domain, options));
  const Geometry geometry{.table_entries = options.table_entries,
                          .extents_bytes = options.extents_bytes,
                          .hash_seed = options.hash_seed ? *options.hash_seed : host.random(0)};
  auto registered = memory->allocate(geometry);
  if (!registered) return tl::unexpected(registered.error());
  memory->current_ = std::move(*registered);
  memory->map_.emplace(options, geometry, memory->current_->block,
                       [&host](std::uint64_t bound) { return host.random(bound); });
  return memory;
}

fabric::Result<std::unique_ptr<ServerMemory::Registered>> ServerMemory::allocate(
    const Geometry& geometry) {
  auto block = host_.allocate_memory(geometry.block_bytes());
  if (!block) return tl::unexpected(block.error());
  auto table = domain_.register_memory(*block, 0, geometry.table_bytes(), {.remote_read = true});
  if (!table) return tl::unexpected(table.error());
  auto extents = domain_.register_memory(*block, geometry.extents_offset(), geometry.extents_bytes,
                                         {.remote_read = true});
  if (!extents) return tl::unexpected(extents.error());
  return std::make_unique<Registered>(Registered{
      .block = std::move(*block), .table = std::move(*table), .extents = std::move(*extents)});
}

// A table that is twice as large nearly always has a place for every key under the first seed.
Geometry ServerMemory::double_table(std::optional<HashMap::Placement>& placement) {
  constexpr int seeds_per_size = 8;
  Geometry larger = map_->geometry();
  while (!placement) {
    larger.table_entries *= 2;
    for (int attempt = 0; attempt < seeds_per_size && !placement; ++attempt) {
      larger.hash_seed = host_.random(0);
      placement = map_->place_all(larger);
    }
  }
  return larger;
}

fabric::Result<std::unique_ptr<ServerMemory::Larger>> ServerMemory::prepare(Growth growth) {
  auto larger = std::make_unique<Larger>();
  if (growth == Growth::table) {
    larger->geometry = double_table(larger->placement);
  } else {
    larger->geometry = map_->geometry();
    larger->geometry.extents_bytes *= 2;
  }
  auto registered = allocate(larger->geometry);
  if (!registered) return tl::unexpected(registered.error());
  larger->memory = std::move(*registered);
  return larger;
}

void ServerMemory::revoke() {
  current_->table->revoke();
  current_->extents->revoke();
}

void ServerMemory::move_to(std::unique_ptr<Larger> larger) {
  map_->move_to(larger->geometry, larger->memory->block, larger->placement);
  std::swap(current_, larger->memory);
  if (!options_.safeguards.reset_before_growing) left_.push_back(std::move(larger->memory));
}

std::uint32_t ServerMemory::table_key() const { return current_->table->remote_key(); }

std::uint32_t ServerMemory::extents_key() const { return current_->extents->remote_key(); }

}  // namespace falafel::pilaf
