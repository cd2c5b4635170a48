#include "falafel/fabric_choice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "falafel/shm_fabric.h"
#ifdef FALAFEL_HAS_VERBS
#include "falafel/verbs_fabric.h"
#endif

namespace falafel {

std::filesystem::path default_directory() {
  if (const char* const directory = std::getenv("FALAFEL_DIRECTORY")) return directory;
  if (const char* const runtime = std::getenv("XDG_RUNTIME_DIR")) {
    return std::filesystem::path(runtime) / "falafel";
  }
  return fmt::format("/tmp/falafel-{}", getuid());
}

std::string own_server_name(const FabricOptions& options) {
  if (options.fabric == "shm") return "falafel";
  if (!options.own_address.empty()) return options.own_address;
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

fabric::Result<std::unique_ptr<Fabric>> open_fabric(const FabricOptions& options) {
  if (options.fabric == "shm") return open_shm_fabric(options);
#ifdef FALAFEL_HAS_VERBS
  if (options.fabric == "verbs") return open_verbs_fabric(options);
  constexpr std::string_view there_is = "shm (shared memory) and verbs (InfiniBand, RoCE)";
#else
  constexpr std::string_view there_is = "shm (shared memory); verbs needs a build with libibverbs";
#endif
  return fabric::make_error(
      fabric::ErrorCode::invalid_argument,
      fmt::format("unknown fabric '{}'; available: {}", options.fabric, there_is));
}

}  // namespace falafel
