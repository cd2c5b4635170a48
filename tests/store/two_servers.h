// Two servers, "one" and "two", in threads of the test, and stores on them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/server/server.h"
#include "fabric/assert.h"
#include "falafel/store.h"
#include "tests/store/server_thread.h"

namespace falafel::server_program {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel-XXXXXX").string();
    FALAFEL_ASSERT(::mkdtemp(name.data()) != nullptr, "no folder {}", name);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class TwoServers : public testing::Test {
 protected:
  // A region has room for one large value.
  static constexpr std::size_t large_bytes = 100'000;

  TwoServers() {
    engine::ServerOptions options;
    options.max_clients = 1'000;  // clients that run out of memory leave without a goodbye
    options.geometry.region_bytes = 131'072;
    options.geometry.mature_bytes = 4 * 1'048'576;
    for (const char* const name : {"one", "two"}) {
      servers_.push_back(std::make_unique<ServerThread>(directory_.path(), options, name));
    }
  }

  StoreOptions options(const std::string& name) const {
    return {.server = name, .fabric = {.directory = directory_.path()}, .reconnect_interval_ns = 0};
  }

  TemporaryFolder directory_;

 private:
  std::vector<std::unique_ptr<ServerThread>> servers_;
};

}  // namespace falafel::server_program
