#include "tools/command_line/acceptance/child.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "falafel/fabric_choice.h"
#include "processes/child_process.h"
#include "tools/benchmarks/store/parties.h"
#include "tools/command_line/acceptance/peer.h"
#include "tools/command_line/acceptance/whereabouts.h"

namespace falafel::acceptance {
namespace {

nlohmann::json guarded(const std::function<nlohmann::json()>& body) {
  try {
    return {{"result", body()}};
  } catch (const Ending& ending) {
    return {{"failure", ending.shown}};
  } catch (const std::exception& error) {
    return {{"failure", error.what()}};
  }
}

}  // namespace

tl::expected<nlohmann::json, std::string> run_in_child(
    std::chrono::seconds limit, const std::function<nlohmann::json()>& body) {
  const store_benchmark::TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "result.json";
  processes::ChildProcess child(
      [&] {
        std::ofstream file(path);
        file << guarded(body).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        file.close();
        return file ? 0 : 1;
      },
      {.dies_with_parent = true});
  const auto ending = child.wait_for(limit);
  if (!ending) {
    const std::string whereabouts = whereabouts_of(child.id());
    child.kill();
    child.wait();
    return tl::unexpected(fmt::format("did not end within {} s; {}", limit.count(), whereabouts));
  }
  if (!ending->is_success()) return tl::unexpected("its process " + ending->describe());
  std::ifstream file(path);
  nlohmann::json answer = nlohmann::json::parse(file, nullptr, false);
  if (answer.is_object() && answer.contains("result")) return std::move(answer["result"]);
  if (answer.is_object() && answer.contains("failure"))
    return tl::unexpected(answer["failure"].get<std::string>());
  return tl::unexpected(std::string("its result cannot be read"));
}

nlohmann::json run_on_host(const FabricOptions& options,
                           const std::function<nlohmann::json(fabric::Host&)>& body) {
  auto fabric = open_fabric(options);
  if (!fabric) throw std::runtime_error(fabric.error().detail);
  auto host = (*fabric)->create_client_host();
  if (!host) throw std::runtime_error(host.error().detail);
  nlohmann::json result;
  (*host)->run_program([&] { result = guarded([&] { return body(**host); }); });
  if (result.contains("failure")) throw std::runtime_error(result["failure"].get<std::string>());
  return std::move(result["result"]);
}

}  // namespace falafel::acceptance
