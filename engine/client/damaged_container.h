// A container that does not verify although an entry points to it, as a scan of all keys finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/client/operation_context.h"
#include "engine/client/results.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"

namespace falafel::engine {

struct DamagedContainer {
  std::uint64_t slot = 0;                       // in the table
  Entry entry{};                                // of that slot
  std::optional<std::vector<std::byte>> key{};  // if it verifies
  // None: the entry points to where no container can be.
  std::optional<ContainerDamage> damage{};
};

// As Client::drop_damaged().
DeleteResult drop_damaged(const OperationContext& context, const DamagedContainer& damaged);

}  // namespace falafel::engine
