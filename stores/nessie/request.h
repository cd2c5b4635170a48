// The operations of NessieSD, and the changes of NessieHY, as requests to the node that has the key
// (5).
#pragma once

#include <span>

#include "stores/nessie/client_state.h"

namespace falafel::nessie {

GetResult request_get(ClientState& client, std::span<const std::byte> key);
Answer request_put(ClientState& client, std::span<const std::byte> key,
                   std::span<const std::byte> value);
Answer request_remove(ClientState& client, std::span<const std::byte> key);

}  // namespace falafel::nessie
