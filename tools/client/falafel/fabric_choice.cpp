#include "falafel/fabric_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "falafel/shm_fabric.h"

namespace falafel {

std::filesystem::path default_directory() {
  if (const char* const directory = std::getenv("FALAFEL_DIRECTORY")) return directory;
  if (const char* const runtime = std::getenv("XDG_RUNTIME_DIR")) {
    return std::filesystem::path(runtime) / "falafel";
  }
  return fmt::format("/tmp/falafel-{}", getuid());
}

fabric::Result<std::unique_ptr<Fabric>> open_fabric(const FabricOptions& options) {
  if (options.fabric == "shm") return open_shm_fabric(options);
  return fabric::make_error(
      fabric::ErrorCode::invalid_argument,
      fmt::format("there is no fabric '{}'; there is shm (shared memory)", options.fabric));
}

}  // namespace falafel
