#include "tests/stream/service_files.h"

#include <fmt/format.h>

#include <fstream>

namespace falafel::stream_test {

std::filesystem::path ServiceFiles::path_of(const fabric::Address& service) const {
  return directory_ / fmt::format("{}.{}", service.host, service.service);
}

void ServiceFiles::add_host(const std::string& host, const std::string& address) {
  std::ofstream(directory_ / host) << address << '\n';
}

std::optional<std::string> ServiceFiles::find_host(const std::string& host) {
  std::ifstream file(directory_ / host);
  std::string address;
  if (!std::getline(file, address) || file.eof()) return std::nullopt;
  return address;
}

// Others see the file only when it is complete.
bool ServiceFiles::add_port(const fabric::Address& service, std::uint16_t port) {
  const std::filesystem::path draft = path_of(service).native() + fmt::format(".{}", port);
  std::ofstream(draft) << port;
  std::error_code exists;
  std::filesystem::create_hard_link(draft, path_of(service), exists);
  std::filesystem::remove(draft);
  return !exists;
}

void ServiceFiles::remove_port(const fabric::Address& service) {
  std::filesystem::remove(path_of(service));
}

std::optional<std::uint16_t> ServiceFiles::find_port(const fabric::Address& service) {
  std::ifstream file(path_of(service));
  std::uint16_t port = 0;
  if (!(file >> port)) return std::nullopt;
  return port;
}

}  // namespace falafel::stream_test
