// Connecting to a listener.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "fabric/fabric.h"
#include "fabric/shm/device.h"

namespace falafel::shm {

class Host;

// Returns whether a host may have this name.
bool is_host_name(const std::string& name);
std::filesystem::path socket_path(const std::filesystem::path& directory, const std::string& host,
                                  std::uint16_t service);

// Waits. Errors: as fabric::Device::connect.
fabric::Result<fabric::Connection> connect_to_listener(Host& host, const fabric::Address& address,
                                                       Device::Prepared prepared,
                                                       std::span<const std::byte> private_data,
                                                       std::uint64_t deadline_ns);

}  // namespace falafel::shm
