// The examination of a container: whether it verifies, and whether it has the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/client/pending_operation.h"
#include "engine/layout/container.h"

namespace falafel::engine {

enum class Examined : std::uint8_t {
  has_key,
  has_other_key,
  unreadable,     // it does not verify
  out_of_memory,  // this host has no memory for the key
  disconnected,
};

struct Examination {
  Examined result = Examined::unreadable;
  ContainerHeader header{};     // has_key
  LoadedContainer container{};  // has_key: at least up to the end of the key
};

// The header of a container of which at least the header is loaded. Returns nullopt if it does not
// verify or states a length that no container has.
std::optional<ContainerHeader> examine_header(const PendingOperation& operation,
                                              const LoadedContainer& container);

// `container` has at least its header. Waits if it lacks a part of the key.
Examination examine(PendingOperation& operation, std::span<const std::byte> key,
                    LoadedContainer container);

}  // namespace falafel::engine
