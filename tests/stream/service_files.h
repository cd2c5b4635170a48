// A directory of services in files, for hosts in several threads or processes of this machine.
#pragma once

#include <filesystem>

#include "fabric/stream/options.h"

namespace falafel::stream_test {

class ServiceFiles final : public stream::ServiceBook {
 public:
  explicit ServiceFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void add_host(const std::string& host, const std::string& address) override;
  std::optional<std::string> find_host(const std::string& host) override;
  bool add_port(const fabric::Address& service, std::uint16_t port) override;
  void remove_port(const fabric::Address& service) override;
  std::optional<std::uint16_t> find_port(const fabric::Address& service) override;

 private:
  std::filesystem::path path_of(const fabric::Address& service) const;

  std::filesystem::path directory_;
};

}  // namespace falafel::stream_test
