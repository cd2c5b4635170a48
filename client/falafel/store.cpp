// A host with one client. A thread that calls an operation runs the host during the call. Between
// calls, a keeper thread runs it, so that the server receives the client's heartbeats while the
// application does other work.
#include "falafel/store.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <thread>

#include "engine/client/client.h"
#include "fabric/assert.h"
#include "falafel/connecting.h"
#include "falafel/device_rotation.h"
#include "falafel/fabric_choice.h"
#include "falafel/operation_meter.h"

namespace falafel {

class Store::Connection {
 public:
  static tl::expected<std::unique_ptr<Connection>, OpenError> open(const StoreOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs the operation with a connected client if possible, and retries once if the connection
  // broke without any change.
  template <typename Result, typename Perform>
  Result operate(engine::Operation operation, const Perform& perform);
  // The same for a batch: perform(batch, index) for each index below `count`.
  template <typename Result, typename Perform>
  std::vector<Result> operate_on_many(engine::Operation operation, std::size_t count,
                                      const Perform& perform);
  fabric::Result<engine::ValueBuffer> allocate_buffer(std::uint64_t size_bytes);
  tl::expected<void, engine::Answer> for_each_key(const engine::VisitPair& visit);
  bool run(const std::function<void(fabric::Host&, engine::Client&)>& body);
  bool is_connected();
  std::uint64_t server_incarnation() const { return server_incarnation_; }
  bool is_cache() const { return is_cache_; }
  StoreMetrics metrics() const { return meter_.metrics(options_.server); }
  void count_disconnected(engine::Operation operation);

 private:
  Connection(const StoreOptions& options, std::unique_ptr<Fabric> fabric,
             std::unique_ptr<fabric::RealTimeHost> host)
      : options_(options),
        fabric_(std::move(fabric)),
        host_(std::move(host)),
        devices_(host_->device_count()) {}

  // Runs on a fiber of the host; only one thread runs the host at a time.
  fabric::Result<void> connect();
  fabric::Result<void> connect_by(std::size_t device_index);
  void disconnect();
  engine::LocationCacheOptions location_cache() const;
  bool has_connection();

  void look_after(const std::stop_token& stop);
  void watch_connection();
  void free_unused_buffers();

  const StoreOptions options_;
  OperationMeter meter_;  // outlives the client
  std::unique_ptr<Fabric> fabric_;
  std::unique_ptr<fabric::RealTimeHost> host_;
  DeviceRotation devices_;
  std::unique_ptr<engine::Client> client_;
  // The last handle of each buffer is here, because only the host's fibers may destroy the memory.
  std::vector<engine::ValueBuffer> buffers_;
  // These describe the server that the client was last connected to.
  std::atomic<std::uint64_t> server_incarnation_ = 0;
  std::atomic<bool> is_cache_ = false;
  std::uint64_t next_attempt_ns_ = 0;
  std::optional<fabric::FiberId> watcher_;
  std::jthread keeper_;  // ends first
};

// Connecting

tl::expected<std::unique_ptr<Store::Connection>, OpenError> Store::Connection::open(
    const StoreOptions& options) {
  auto fabric = open_fabric(options.fabric);
  if (!fabric) return tl::unexpected(explain_fabric_error(fabric.error()));
  auto host = (*fabric)->create_client_host();
  if (!host) return tl::unexpected(explain_fabric_error(host.error()));
  std::unique_ptr<Connection> connection(
      new Connection(options, std::move(*fabric), std::move(*host)));
  fabric::Result<void> connected;
  connection->host_->run([&] { connected = connection->connect(); });
  connection->meter_.calibrate();
  if (!connected) {
    return tl::unexpected(
        explain_connect_error(connected.error(), *connection->fabric_, options.server));
  }
  connection->host_->run([self = connection.get()] {
    self->watcher_ = self->host_->spawn({.name = "watcher", .daemon = true},
                                        [self] { self->watch_connection(); });
  });
  connection->keeper_ = std::jthread(
      [self = connection.get()](const std::stop_token& stop) { self->look_after(stop); });
  return connection;
}

Store::Connection::~Connection() {
  keeper_ = {};  // stops the thread
  try {
    host_->run_program([this] { disconnect(); });
  } catch (const std::bad_alloc&) {
    // Without memory for a fiber, the server learns from the silence that the client has ended.
  }
}

void Store::Connection::disconnect() {
  // Otherwise it might look for the client while this fiber waits for the client's end.
  if (watcher_) host_->cancel(*watcher_);
  if (client_ != nullptr && client_->is_connected()) client_->disconnect();
  client_.reset();
}

engine::LocationCacheOptions Store::Connection::location_cache() const {
  engine::LocationCacheOptions cache = fabric_->location_cache();
  cache.entries = options_.location_cache_entries.value_or(cache.entries);
  return cache;
}

fabric::Result<void> Store::Connection::connect() {
  return devices_.connect_by_any([this](std::size_t index) { return connect_by(index); });
}

fabric::Result<void> Store::Connection::connect_by(std::size_t device_index) {
  const engine::ClientOptions client_options{
      .device_index = device_index,
      .readahead = fabric_->readahead(),
      .location_cache = location_cache(),
      .max_operations_in_flight = options_.max_operations_in_flight,
      .connect_timeout_ns = options_.connect_timeout_ns,
      .server_timeout_ns = options_.server_timeout_ns,
      .hears_server_close = true,
      .observer = options_.metrics ? &meter_ : nullptr};
  auto client = engine::Client::connect(*host_, address_of(options_.server), client_options);
  if (!client) return tl::unexpected(client.error());
  client_ = std::move(*client);
  server_incarnation_ = client_->server_incarnation();
  is_cache_ = client_->is_cache();
  meter_.count_connection();
  meter_.set_connected(true);
  return {};
}

// Throws std::bad_alloc if this process has no memory to reconnect.
bool Store::Connection::has_connection() {
  if (client_->is_connected()) return true;
  if (host_->now_ns() < next_attempt_ns_) return false;
  const fabric::Result<void> connected = connect();
  next_attempt_ns_ = host_->now_ns() + options_.reconnect_interval_ns;
  if (!connected && connected.error().code == fabric::ErrorCode::out_of_memory) {
    throw std::bad_alloc();
  }
  return connected.has_value();
}

void Store::Connection::look_after(const std::stop_token& stop) {
  constexpr std::chrono::milliseconds interval(5);
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    host_->run_daemons();
    stopped.wait_for(lock, stop, interval, [] { return false; });
  }
}

// A fiber of the host. It notices a lost connection even if the application does nothing.
void Store::Connection::watch_connection() {
  constexpr std::uint64_t interval_ns = 100'000'000;
  for (;;) {
    meter_.set_connected(client_->is_connected());
    free_unused_buffers();
    host_->sleep_until(host_->now_ns() + interval_ns);
  }
}

void Store::Connection::free_unused_buffers() {
  std::erase_if(buffers_, [](const engine::ValueBuffer& buffer) { return !buffer.is_shared(); });
}

// Also without a server: then the first GET registers the buffer for the next connection.
fabric::Result<engine::ValueBuffer> Store::Connection::allocate_buffer(std::uint64_t size_bytes) {
  fabric::Result<engine::ValueBuffer> buffer = tl::unexpected(fabric::Error{});
  host_->run([&] {
    free_unused_buffers();
    has_connection();
    buffers_.reserve(buffers_.size() + 1);
    buffer = client_->allocate_buffer(size_bytes);
    if (buffer) buffers_.push_back(*buffer);
  });
  return buffer;
}

// Operations

template <typename Result, typename Perform>
Result Store::Connection::operate(engine::Operation operation, const Perform& perform) {
  Result result;
  host_->run([&] {
    if (!has_connection()) return meter_.count(operation, result.answer);
    result = perform(*client_);
    if (result.answer != engine::Answer::disconnected || !has_connection()) return;
    result = perform(*client_);
  });
  return result;
}

template <typename Result, typename Perform>
std::vector<Result> Store::Connection::operate_on_many(engine::Operation operation,
                                                       std::size_t count, const Perform& perform) {
  std::vector<Result> results(count);
  std::vector<std::size_t> left(count);
  std::iota(left.begin(), left.end(), std::size_t{0});
  host_->run([&] {
    if (!has_connection()) {
      for (const Result& result : results) meter_.count(operation, result.answer);
      return;
    }
    for (int attempt = 0; attempt < 2 && !left.empty() && has_connection(); ++attempt) {
      client_->run_batch(left.size(), [&](engine::Batch& batch, std::size_t place) {
        results[left[place]] = perform(batch, left[place]);
      });
      std::erase_if(left, [&](std::size_t index) {
        return results[index].answer != engine::Answer::disconnected;
      });
    }
  });
  return results;
}

tl::expected<void, engine::Answer> Store::Connection::for_each_key(const engine::VisitPair& visit) {
  tl::expected<void, engine::Answer> result = tl::unexpected(engine::Answer::disconnected);
  bool has_visited = false;
  const auto visit_and_note = [&](const engine::KeyAndValue& pair) {
    has_visited = true;
    visit(pair);
  };
  const auto is_disconnected = [&] {
    return !result && result.error() == engine::Answer::disconnected;
  };
  host_->run([&] {
    for (int attempt = 0; attempt < 2 && is_disconnected() && !has_visited; ++attempt) {
      if (has_connection()) result = client_->for_each_key(visit_and_note);
    }
  });
  return result;
}

void Store::Connection::count_disconnected(engine::Operation operation) {
  host_->run([&] { meter_.count(operation, engine::Answer::disconnected); });
}

bool Store::Connection::run(const std::function<void(fabric::Host&, engine::Client&)>& body) {
  bool was_run = false;
  host_->run([&] {
    if (!has_connection()) return;
    was_run = true;
    body(*host_, *client_);
  });
  return was_run;
}

bool Store::Connection::is_connected() {
  bool connected = false;
  host_->run([&] { connected = client_->is_connected(); });
  return connected;
}

// The store

tl::expected<std::unique_ptr<Store>, OpenError> Store::open(const StoreOptions& options) {
  auto connection = Connection::open(options);
  if (!connection) return tl::unexpected(connection.error());
  return std::unique_ptr<Store>(new Store(std::move(*connection)));
}

Store::Store(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}

Store::~Store() = default;

engine::GetResult Store::get(std::string_view key) {
  return connection_->operate<engine::GetResult>(
      engine::Operation::get, [&](engine::Client& client) { return client.get(bytes_of(key)); });
}

engine::SetResult Store::set(std::string_view key, std::string_view value,
                             std::uint64_t time_to_live_ns) {
  return connection_->operate<engine::SetResult>(
      engine::Operation::set, [&](engine::Client& client) {
        return client.set(bytes_of(key), bytes_of(value), time_to_live_ns);
      });
}

engine::SetResult Store::compare_and_set(std::string_view key, const engine::Condition& condition,
                                         std::string_view value,
                                         std::optional<std::uint64_t> time_to_live_ns) {
  return connection_->operate<engine::SetResult>(
      engine::Operation::set, [&](engine::Client& client) {
        return client.compare_and_set(bytes_of(key), condition, bytes_of(value), time_to_live_ns);
      });
}

engine::DeleteResult Store::remove(std::string_view key) {
  return connection_->operate<engine::DeleteResult>(
      engine::Operation::remove,
      [&](engine::Client& client) { return client.remove(bytes_of(key)); });
}

engine::GetResult Store::get(std::string_view key,
                             const std::function<void(std::span<const std::byte>)>& use) {
  return connection_->operate<engine::GetResult>(
      engine::Operation::get,
      [&](engine::Client& client) { return client.get(bytes_of(key), use); });
}

std::vector<engine::GetResult> Store::get_many(std::span<const std::string_view> keys) {
  return connection_->operate_on_many<engine::GetResult>(
      engine::Operation::get, keys.size(),
      [&](engine::Batch& batch, std::size_t index) { return batch.get(bytes_of(keys[index])); });
}

std::vector<engine::GetResult> Store::get_many(
    std::span<const std::string_view> keys,
    const std::function<void(std::size_t, std::span<const std::byte>)>& use) {
  return connection_->operate_on_many<engine::GetResult>(
      engine::Operation::get, keys.size(), [&](engine::Batch& batch, std::size_t index) {
        return batch.get(bytes_of(keys[index]),
                         [&](std::span<const std::byte> value) { use(index, value); });
      });
}

engine::GetResult Store::get(std::string_view key, const engine::ValueBuffer& buffer) {
  return connection_->operate<engine::GetResult>(
      engine::Operation::get,
      [&](engine::Client& client) { return client.get(bytes_of(key), buffer); });
}

std::vector<engine::GetResult> Store::get_many(std::span<const std::string_view> keys,
                                               std::span<const engine::ValueBuffer> buffers) {
  FALAFEL_ASSERT(buffers.size() == keys.size(), "{} keys have {} buffers", keys.size(),
                 buffers.size());
  return connection_->operate_on_many<engine::GetResult>(
      engine::Operation::get, keys.size(), [&](engine::Batch& batch, std::size_t index) {
        return batch.get(bytes_of(keys[index]), buffers[index]);
      });
}

fabric::Result<engine::ValueBuffer> Store::allocate_buffer(std::uint64_t size_bytes) {
  return connection_->allocate_buffer(size_bytes);
}

std::vector<engine::SetResult> Store::set_many(std::span<const KeyAndValue> pairs,
                                               std::uint64_t time_to_live_ns) {
  return connection_->operate_on_many<engine::SetResult>(
      engine::Operation::set, pairs.size(), [&](engine::Batch& batch, std::size_t index) {
        return batch.set(bytes_of(pairs[index].first), bytes_of(pairs[index].second),
                         time_to_live_ns);
      });
}

std::vector<engine::DeleteResult> Store::remove_many(std::span<const std::string_view> keys) {
  return connection_->operate_on_many<engine::DeleteResult>(
      engine::Operation::remove, keys.size(),
      [&](engine::Batch& batch, std::size_t index) { return batch.remove(bytes_of(keys[index])); });
}

tl::expected<void, engine::Answer> Store::for_each_key(
    const std::function<void(std::string_view, std::span<const std::byte>, std::uint64_t)>& visit) {
  return connection_->for_each_key([&visit](const engine::KeyAndValue& pair) {
    const auto* const characters = reinterpret_cast<const char*>(pair.key.data());
    visit({characters, pair.key.size()}, pair.value, pair.time_to_live_ns);
  });
}

bool Store::run(const std::function<void(fabric::Host&, engine::Client&)>& body) {
  return connection_->run(body);
}

StoreMetrics Store::metrics() const { return connection_->metrics(); }

void Store::count_disconnected(engine::Operation operation) {
  connection_->count_disconnected(operation);
}

bool Store::is_connected() { return connection_->is_connected(); }

std::uint64_t Store::server_incarnation() const { return connection_->server_incarnation(); }

bool Store::is_cache() const { return connection_->is_cache(); }

}  // namespace falafel
