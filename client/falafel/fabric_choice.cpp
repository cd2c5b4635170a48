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

namespace {

// An empty variable is as if it were unset.
std::filesystem::path path_from_environment(const char* variable) {
  const char* const path = std::getenv(variable);
  return path == nullptr ? "" : path;
}

}  // namespace

std::filesystem::path default_directory() {
  if (auto directory = path_from_environment("FALAFEL_DIRECTORY"); !directory.empty()) {
    return directory;
  }
  // The specification of this variable says to ignore a relative path.
  if (const auto runtime = path_from_environment("XDG_RUNTIME_DIR"); runtime.is_absolute()) {
    return runtime / "falafel";
  }
  return fmt::format("/tmp/falafel-{}", geteuid());
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

std::string obstacle_to_growth(const FabricOptions& options,
                               [[maybe_unused]] const std::string& server) {
  if (options.huge_pages) return "the system reserves huge pages (--huge-pages) in advance";
#ifdef FALAFEL_HAS_VERBS
  if (options.fabric == "verbs") return obstacle_to_paging(options, server);
#endif
  return {};
}

}  // namespace falafel
