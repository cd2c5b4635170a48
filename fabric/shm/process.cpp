#include "fabric/shm/process.h"

#include "fabric/realtime/system_random.h"
#include "fabric/shm/connector.h"
#include "fabric/shm/host_with_devices.h"
#include "fabric/shm/process_state.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

Result<std::unique_ptr<Process>> Process::create(const ProcessOptions& options) {
  if (options.directory.empty()) {
    return make_error(ErrorCode::invalid_argument,
                      "directory: empty; name a directory for the sockets");
  }
  fabric::SystemRandom random;
  auto arena = Arena::create(options.memory_limit_bytes, options.huge_pages,
                             {random.next(0), random.next(0)});
  if (!arena) return tl::unexpected(arena.error());
  return std::unique_ptr<Process>(
      new Process(std::make_shared<ProcessState>(options, std::move(*arena))));
}

Process::Process(std::shared_ptr<ProcessState> state) : state_(std::move(state)) {}

Process::~Process() = default;

Result<std::unique_ptr<fabric::RealTimeHost>> Process::create_host(const std::string& name,
                                                                   std::size_t device_count) {
  if (!is_host_name(name)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("name: '{}' cannot name a host; use up to 64 letters, digits, "
                                  "'-', '_' and '.'",
                                  name));
  }
  return std::make_unique<HostWithDevices>(state_, name, device_count);
}

}  // namespace falafel::shm
