#include "tools/server/memcached_front/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <ctime>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include "engine/client/client.h"
#include "engine/layout/pinned.h"
#include "fabric/realtime/clock.h"
#include "falafel/metrics.h"
#include "tools/server/listening.h"
#include "tools/server/memcached_front/expiry.h"
#include "tools/server/memcached_front/open_files.h"
#include "tools/server/memcached_front/session.h"
#include "tools/server/memcached_front/session_fibers.h"
#include "tools/server/memcached_front/unix_socket.h"
#include "tools/server/metrics_endpoint.h"

namespace falafel::memcached_front {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using server_program::ServeFailure;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Clients of memcached know of no pins: such a value does not expire.
std::uint64_t expiry_without_pin(std::uint64_t expires_ns) {
  return expires_ns == engine::pinned_expiry_ns ? 0 : expires_ns;
}

std::uint64_t expiry_of(const engine::KeyAndValue& pair) {
  const std::uint64_t left_ns = pair.time_to_live_ns;
  const bool expires = left_ns != 0 && left_ns != engine::pinned_time_to_live_ns;
  return expires ? fabric::wall_clock_ns() + left_ns : 0;
}

// Performs operations on fibers while it has a client, and otherwise lets the store look for the
// server.
class StoreStorage final : public Storage {
 public:
  explicit StoreStorage(Store& store) : store_(store) {}

  // Null: the store is not connected.
  void use(engine::Client* client) { client_ = client; }

  engine::Answer get(std::string_view key,
                     const std::function<void(const StoredValue&)>& use) override {
    const engine::GetResult result =
        client_ != nullptr ? client_->get(bytes_of(key)) : store_.get(key);
    if (result.answer == engine::Answer::found) {
      use({.bytes = text_of(result.value), .expires_ns = expiry_without_pin(result.expires_ns)});
    }
    return result.answer;
  }
  engine::Answer set(std::string_view key, std::string_view value, std::int64_t exptime) override {
    const std::uint64_t lives_ns = time_to_live_ns(exptime, std::time(nullptr));
    return client_ != nullptr ? client_->set(bytes_of(key), bytes_of(value), lives_ns).answer
                              : store_.set(key, value, lives_ns).answer;
  }
  engine::Answer compare_and_set(std::string_view key, const engine::Condition& condition,
                                 std::string_view value,
                                 std::optional<std::int64_t> exptime) override {
    std::optional<std::uint64_t> lives_ns;
    if (exptime) lives_ns = time_to_live_ns(*exptime, std::time(nullptr));
    return client_ != nullptr
               ? client_->compare_and_set(bytes_of(key), condition, bytes_of(value), lives_ns)
                     .answer
               : store_.compare_and_set(key, condition, value, lives_ns).answer;
  }
  engine::Answer remove(std::string_view key) override {
    return client_ != nullptr ? client_->remove(bytes_of(key)).answer : store_.remove(key).answer;
  }
  // A thread without a client does not scan: nothing could be removed while it does.
  std::optional<engine::Answer> for_each_key(
      const std::function<void(std::string_view, const StoredValue&)>& visit) override {
    if (client_ == nullptr) return engine::Answer::disconnected;
    const auto scanned = client_->for_each_key([&](const engine::KeyAndValue& pair) {
      visit(text_of(pair.key), {.bytes = text_of(pair.value), .expires_ns = expiry_of(pair)});
    });
    return scanned ? std::nullopt : std::optional(scanned.error());
  }

 private:
  Store& store_;
  engine::Client* client_ = nullptr;
};

// A thread with a client of the store. Sessions live in handlers of the context, so the context is
// destroyed before what they use.
class Worker {
 public:
  Worker(std::unique_ptr<Store> store, std::uint32_t most_operations)
      : store_(std::move(store)),
        storage_(*store_),
        fibers_(context_, most_operations),
        thread_([this] { run(); }) {}
  ~Worker() { context_.stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  asio::io_context& context() { return context_; }
  std::shared_ptr<Session> make_session(Session::Socket socket, const ParserOptions& parser,
                                        Statistics& statistics) {
    return std::make_shared<Session>(
        std::move(socket), parser,
        [this](std::shared_ptr<Session> session) { fibers_.add(std::move(session)); }, storage_,
        statistics);
  }
  StoreMetrics metrics() const { return store_->metrics(); }

 private:
  void run() {
    while (!context_.stopped()) {
      context_.run_one();  // sleeps while nobody sends anything
      while (!fibers_.is_empty() && !context_.stopped()) answer();
    }
  }
  // An operation that finds the connection broken is repeated once, after the store has tried to
  // connect again.
  void answer() {
    const bool is_connected = store_->run([this](fabric::Host& host, engine::Client& client) {
      storage_.use(&client);
      fibers_.run(host, [&] { return client.is_connected() && !context_.stopped(); });
      storage_.use(nullptr);
    });
    if (!is_connected) fibers_.run_disconnected();
  }

  std::unique_ptr<Store> store_;
  StoreStorage storage_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  SessionFibers fibers_;
  std::jthread thread_;
};

ServeFailure failure_of(const fabric::Error& error) {
  switch (error.code) {
    case fabric::ErrorCode::address_in_use: return {server_program::name_taken, error.detail};
    case fabric::ErrorCode::access_denied: return {server_program::no_permission, error.detail};
    default: return {server_program::wrong_usage, error.detail};
  }
}

std::string to_prometheus(const Statistics& statistics) {
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view meaning,
                       std::uint64_t value) {
    text += fmt::format(
        "# HELP falafel_memcached_{0} {2}\n# TYPE falafel_memcached_{0} {1}\n"
        "falafel_memcached_{0} {3}\n",
        name, type, meaning, value);
  };
  add("connections", "gauge", "connections of clients of memcached",
      statistics.current_connections);
  add("connections_total", "counter", "connections accepted so far", statistics.total_connections);
  add("rejected_connections_total", "counter", "connections over the limit",
      statistics.rejected_connections);
  add("refusals_total", "counter", "requests answered with an error", statistics.refusals);
  return text;
}

class Front {
 public:
  explicit Front(const FrontOptions& options)
      : options_(options), parser_(options.parser), signals_(context_, SIGTERM, SIGINT) {
    statistics_.threads = options.threads;
    statistics_.max_connections = options.max_connections;
    statistics_.permits_flush = options.parser.permits_flush;
  }

  std::optional<ServeFailure> run(const std::function<void(const FrontPlaces&)>& on_ready) {
    if (auto problem = allow_open_files(options_.max_connections)) {
      return ServeFailure{server_program::wrong_usage, std::move(*problem)};
    }
    if (auto failure = start_workers()) return failure;
    if (auto failure = listen()) return failure;
    signals_.async_wait([this](error_code error, int) {
      if (!error) context_.stop();
    });
    on_ready(places_);
    context_.run();
    return std::nullopt;
  }

 private:
  std::optional<ServeFailure> start_workers() {
    workers_.reserve(options_.threads);
    // A connection runs one operation at a time. With as many operations as connections, none waits
    // for another one.
    constexpr std::uint32_t most_operations = 4'096;
    StoreOptions store_options = options_.store;
    store_options.max_operations_in_flight = std::min(options_.max_connections, most_operations);
    for (std::uint32_t thread = 0; thread < options_.threads; ++thread) {
      auto store = Store::open(store_options);
      if (!store) {
        return ServeFailure{server_program::status_of(store.error().problem), store.error().detail};
      }
      parser_.is_cache = (*store)->is_cache();
      workers_.push_back(
          std::make_unique<Worker>(std::move(*store), store_options.max_operations_in_flight));
    }
    return std::nullopt;
  }

  std::optional<ServeFailure> listen() {
    if (!options_.listen.empty()) {
      auto acceptor = server_program::listen_at(context_, "--listen", options_.listen);
      if (!acceptor) return failure_of(acceptor.error());
      tcp_.emplace(std::move(*acceptor));
      places_.clients = server_program::address_of(*tcp_);
      accept(*tcp_);
    }
    if (!options_.socket_path.empty()) {
      auto socket = UnixSocket::listen(context_, options_.socket_path);
      if (!socket) return failure_of(socket.error());
      unix_socket_ = std::move(*socket);
      places_.clients +=
          fmt::format("{}{}", places_.clients.empty() ? "" : " and ", options_.socket_path);
      accept(unix_socket_->acceptor());
    }
    if (options_.metrics.empty()) return std::nullopt;
    auto metrics = server_program::MetricsEndpoint::listen(context_, options_.metrics,
                                                           [this] { return metrics_text(); });
    if (!metrics) return failure_of(metrics.error());
    metrics_ = std::move(*metrics);
    places_.metrics = metrics_->address();
    return std::nullopt;
  }

  std::string metrics_text() const {
    std::vector<StoreMetrics> metrics;
    metrics.reserve(workers_.size());
    for (const auto& worker : workers_) metrics.push_back(worker->metrics());
    return falafel::to_prometheus(metrics) + to_prometheus(statistics_);
  }

  template <typename Acceptor>
  void accept(Acceptor& acceptor) {
    Worker& worker = *workers_[next_worker_++ % workers_.size()];
    acceptor.async_accept(asio::any_io_executor(worker.context().get_executor()),
                          [this, &acceptor, &worker](
                              error_code error, typename Acceptor::protocol_type::socket peer) {
                            if (error == asio::error::operation_aborted) return;
                            if (error) {
                              return server_program::accept_after_pause(
                                  acceptor, [this, &acceptor] { accept(acceptor); });
                            }
                            begin_session(std::move(peer), worker);
                            accept(acceptor);
                          });
  }

  template <typename Socket>
  void begin_session(Socket socket, Worker& worker) {
    if (statistics_.current_connections >= options_.max_connections) {
      ++statistics_.rejected_connections;
      reject(socket);
      return;
    }
    error_code ignored;
    if constexpr (std::is_same_v<Socket, asio::ip::tcp::socket>) {
      socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    }
    ++statistics_.current_connections;
    ++statistics_.total_connections;
    const auto session =
        worker.make_session(Session::Socket(std::move(socket)), parser_, statistics_);
    asio::post(worker.context(), [session] { session->start(); });
  }

  // The socket's buffer is empty and holds the line, so writing does not wait.
  template <typename Socket>
  static void reject(Socket& socket) {
    error_code ignored;
    asio::write(socket, asio::buffer(std::string_view("ERROR Too many open connections\r\n")),
                ignored);
  }

  const FrontOptions& options_;
  ParserOptions parser_;
  Statistics statistics_;
  std::vector<std::unique_ptr<Worker>> workers_;
  asio::io_context context_;
  asio::signal_set signals_;
  std::optional<asio::ip::tcp::acceptor> tcp_;
  std::unique_ptr<UnixSocket> unix_socket_;
  std::unique_ptr<server_program::MetricsEndpoint> metrics_;
  FrontPlaces places_;
  std::size_t next_worker_ = 0;
};

}  // namespace

std::optional<ServeFailure> serve(const FrontOptions& options,
                                  const std::function<void(const FrontPlaces& places)>& on_ready) {
  return Front(options).run(on_ready);
}

}  // namespace falafel::memcached_front
