// A host of a run: its role, and the limits of its machine and its devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace falafel::sim {

// A node is a client and a server: faults of either strike it.
enum class Role : std::uint8_t { client, server, node };

struct HostOptions {
  std::string name;
  Role role = Role::client;  // determines which faults can strike the host
  // In a timed run: the machine whose card and processors the host shares with other hosts of that
  // machine. Empty: a machine of its own.
  std::string machine{};
  std::size_t device_count = 1;
  // At the same time. Further ones fail with out_of_memory, as if the system limited locked memory.
  std::size_t max_registrations = without_limit;
  // DeviceAttributes of each of its devices.
  std::uint32_t max_queue_requests = 16'384;
  std::uint32_t max_completions = 1U << 20U;
  std::uint32_t max_scatter_gather_entries = 16;
  std::uint32_t max_shared_receive_queues = 64;
  bool has_masked_atomics = true;
  bool destruction_drains = false;

  static constexpr std::size_t without_limit = std::numeric_limits<std::size_t>::max();
};

}  // namespace falafel::sim
