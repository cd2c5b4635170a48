// The store, for applications: a connection to a server that any thread may use, and that is made again
// when the server is back.
//
//   auto store = falafel::Store::open({}).value();
//   store->set("greeting", "hello");
//   const auto result = store->get("greeting");
//   if (result.answer == falafel::engine::Answer::found) use(falafel::text_of(result.value));
//
// One operation at a time is under way for all threads together: a fabric answers faster than threads
// could take turns. For many operations in flight there are fibers (run). For more processors, open one
// store for each thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "engine/client/results.h"
#include "falafel/fabric_options.h"
#include "falafel/open_error.h"

namespace falafel::fabric {
class Host;
}
namespace falafel::engine {
class Client;
}

namespace falafel {

struct StoreOptions {
  std::string server = "falafel";  // the name that it serves under
  FabricOptions fabric;
  // Of fibers (run): operations at the same time; further ones wait. 1 to 4096.
  std::uint32_t max_operations_in_flight = 16;
  std::uint64_t connect_timeout_ns = 5'000'000'000;
  // How long an operation waits for a server that does not answer; it is then `timed_out`.
  std::uint64_t server_timeout_ns = 20'000'000'000;
  // While the server is away, how often at most an operation looks whether it is back.
  std::uint64_t reconnect_interval_ns = 100'000'000;
};

// Bytes of a value as text.
inline std::string_view text_of(const std::vector<std::byte>& value) {
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

class Store {
 public:
  // Connects. Any thread.
  static tl::expected<std::unique_ptr<Store>, OpenError> open(const StoreOptions& options);
  // Says goodbye to the server. No operation is under way.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Any thread, but no fiber of this store; each waits. Keys are 1 to 65,536 bytes, any bytes; a value
  // must fit into a region of the server with its key. Operations on one key are linearizable.
  //
  // An operation that finds the connection broken connects anew, if the server is back, and is then
  // carried out. The contents of the server's earlier life are gone: server_incarnation() tells. An
  // operation whose outcome is unknown is not repeated.
  engine::GetResult get(std::string_view key);
  engine::SetResult set(std::string_view key, std::string_view value);
  engine::DeleteResult remove(std::string_view key);

  // Runs `body` as a fiber on the calling thread, with everything that a fiber may ask of its host: it
  // can spawn further ones, each with an operation of its own under way. All that it spawned have ended
  // when it returns. Other threads' calls wait meanwhile. False: the server is away, and `body` was not
  // called. Any thread, but no fiber of this store.
  bool run(const std::function<void(fabric::Host&, engine::Client&)>& body);

  // Any thread. Whether the connection stood when it was last used, by the store itself too.
  bool is_connected();
  // Of the server's life that this store was last connected to.
  std::uint64_t server_incarnation();

 private:
  class Connection;
  explicit Store(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace falafel
