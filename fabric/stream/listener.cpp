// A daemon takes callers from the socket, and another one for each of them receives the offer, so
// that a caller that sends nothing delays nobody.
#include "fabric/stream/listener.h"

#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <utility>

#include "fabric/posting_rules.h"
#include "fabric/realtime/clock.h"
#include "fabric/realtime/fiber_operation.h"
#include "fabric/realtime/share.h"
#include "fabric/stream/handshake.h"

namespace falafel::stream {

using boost::system::error_code;
using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// A caller must send its offer within this time. If there are too many that have not, the oldest is
// disconnected: they must not take all descriptors of the process.
constexpr std::uint64_t offer_timeout_ns = 10'000'000'000;
constexpr std::size_t most_silent_callers = 64;

// After an error, such as a process that has no descriptors left, callers wait at the socket.
// Trying again at once would fail again and occupy the processor.
constexpr std::uint64_t pause_after_error_ns = 10'000'000;

// Someone who connects, until the answer.
struct Caller {
  explicit Caller(asio::io_context& reactor) : socket(reactor) {}

  tcp::socket socket;
  Greeting offer;
};

void disconnect(Caller& caller) {
  error_code ignored;
  caller.socket.close(ignored);
}

// A new connection has room for a greeting, so this does not wait.
void answer(tcp::socket& socket, GreetingKind kind, const fabric::PrivateData& data) {
  const Greeting greeting = make_greeting(kind, data);
  error_code ignored;  // a caller that is gone needs no answer
  asio::write(socket, asio::buffer(&greeting, sizeof greeting), ignored);
}

class ConnectionRequest final : public fabric::ConnectionRequest {
 public:
  ConnectionRequest(Device& device, std::shared_ptr<Caller> caller)
      : device_(device), caller_(std::move(caller)), private_data_(data_of(caller_->offer)) {}
  ~ConnectionRequest() override { reject({}); }
  ConnectionRequest(const ConnectionRequest&) = delete;
  ConnectionRequest& operator=(const ConnectionRequest&) = delete;

  const fabric::PrivateData& private_data() const override { return private_data_; }

  Result<std::unique_ptr<fabric::QueuePair>> accept(
      const fabric::QueuePairOptions& options, fabric::PrivateData private_data,
      std::span<const fabric::ReceiveRequest> first_receives) override {
    if (caller_ == nullptr) {
      return make_error(ErrorCode::invalid_argument, "the request has been answered already");
    }
    if (auto checked = fabric::check_private_data(private_data); !checked) {
      return tl::unexpected(checked.error());
    }
    auto queue_pair = device_.create_queue_pair(options);
    if (!queue_pair) return tl::unexpected(queue_pair.error());
    auto posted = fabric::post_first_receives(**queue_pair, first_receives);
    if (!posted) return tl::unexpected(posted.error());
    const auto caller = std::exchange(caller_, nullptr);
    answer(caller->socket, GreetingKind::acceptance, private_data);
    (*queue_pair)->attach(std::move(caller->socket));
    return std::move(*queue_pair);
  }

  void reject(fabric::PrivateData reason) override {
    const auto caller = std::exchange(caller_, nullptr);
    if (caller != nullptr) answer(caller->socket, GreetingKind::rejection, reason);
  }

 private:
  Device& device_;
  std::shared_ptr<Caller> caller_;  // null after the answer
  fabric::PrivateData private_data_;
};

// Shared by the listener and its daemons.
class Reception : public std::enable_shared_from_this<Reception> {
 public:
  explicit Reception(Site& site) : site_(site), acceptor_(site.network.reactor()) {}

  Result<std::uint16_t> open(std::uint16_t port);
  void start();
  void close();
  std::shared_ptr<Caller> next(std::uint64_t deadline_ns);

 private:
  void take_callers();
  void receive_offer(const std::shared_ptr<Caller>& caller);

  Site& site_;
  tcp::acceptor acceptor_;
  fabric::Share<Caller> silent_{most_silent_callers};
  std::deque<std::shared_ptr<Caller>> callers_;  // whose offers have arrived
  fabric::WaitList waiters_;
};

// Returns the port, which the system chooses if it is 0.
Result<std::uint16_t> Reception::open(std::uint16_t port) {
  const std::string& host = site_.options.address();
  error_code error;
  tcp::resolver resolver(site_.network.reactor());
  const auto endpoints = resolver.resolve(
      host, std::to_string(port), tcp::resolver::numeric_service | tcp::resolver::passive, error);
  if (!error) acceptor_.open(endpoints.begin()->endpoint().protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(*endpoints.begin(), error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error == asio::error::address_in_use) {
    return make_error(ErrorCode::address_in_use,
                      fmt::format("port {} of {} has a listener already", port, host));
  }
  if (error) {
    return make_error(ErrorCode::invalid_argument, fmt::format("cannot listen at port {} of {}: {}",
                                                               port, host, error.message()));
  }
  return acceptor_.local_endpoint().port();
}

void Reception::start() {
  site_.scheduler.spawn({.name = "callers", .daemon = true},
                        [self = shared_from_this()] { self->take_callers(); });
}

void Reception::close() {
  error_code ignored;
  acceptor_.close(ignored);
  for (const auto& caller : callers_) answer(caller->socket, GreetingKind::rejection, {});
  callers_.clear();
}

void Reception::take_callers() {
  while (acceptor_.is_open()) {
    const auto caller = std::make_shared<Caller>(site_.network.reactor());
    const auto accept = [&](auto handler) {
      acceptor_.async_accept(caller->socket, [self = shared_from_this(), caller, handler](
                                                 const error_code& error) { handler(error); });
    };
    const auto error = fabric::wait_for_operation(site_.scheduler, fabric::never_ns, accept);
    if (!error) continue;
    if (*error) {
      if (fabric::is_out_of_descriptors(error->value())) {
        site_.network.descriptor_shortage()->note(error->message());
      }
      site_.scheduler.wait(nullptr, fabric::monotonic_ns() + pause_after_error_ns);
      continue;
    }
    if (const auto oldest = silent_.admit(caller)) disconnect(*oldest);
    site_.scheduler.spawn({.name = "caller", .daemon = true},
                          [self = shared_from_this(), caller] { self->receive_offer(caller); });
  }
}

void Reception::receive_offer(const std::shared_ptr<Caller>& caller) {
  const auto receive = [&](auto handler) {
    asio::async_read(caller->socket, asio::buffer(&caller->offer, sizeof(Greeting)),
                     [caller, handler](const error_code& error, std::size_t) { handler(error); });
  };
  const std::uint64_t deadline_ns = fabric::monotonic_ns() + offer_timeout_ns;
  const auto error = fabric::wait_for_operation(site_.scheduler, deadline_ns, receive);
  silent_.remove(caller);
  if (!error) disconnect(*caller);  // the pending operation has the caller, so say that it is over
  const bool is_offer = error && !*error && problem_of(caller->offer).empty();
  if (!is_offer || !acceptor_.is_open()) return;
  callers_.push_back(caller);
  waiters_.wake_all();
}

std::shared_ptr<Caller> Reception::next(std::uint64_t deadline_ns) {
  if (!callers_.empty()) site_.scheduler.yield();
  while (callers_.empty()) {
    const bool woken = site_.scheduler.wait(&waiters_, deadline_ns);
    if (!woken && callers_.empty() && site_.scheduler.gives_up(deadline_ns)) return nullptr;
  }
  auto caller = std::move(callers_.front());
  callers_.pop_front();
  return caller;
}

class Listener final : public fabric::Listener {
 public:
  Listener(Device& device, fabric::Address service, std::shared_ptr<Reception> reception)
      : device_(device), service_(std::move(service)), reception_(std::move(reception)) {
    reception_->start();
  }
  ~Listener() override {
    ServiceBook* const services = device_.site().options.services;
    if (services != nullptr) services->remove_port(service_);
    reception_->close();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::unique_ptr<fabric::ConnectionRequest> accept(std::uint64_t deadline_ns) override {
    auto caller = reception_->next(deadline_ns);
    if (caller == nullptr) return nullptr;
    return std::make_unique<ConnectionRequest>(device_, std::move(caller));
  }

 private:
  Device& device_;
  const fabric::Address service_;
  std::shared_ptr<Reception> reception_;
};

}  // namespace

Result<std::unique_ptr<fabric::Listener>> listen_to_service(Device& device, std::uint16_t service) {
  const HostOptions& options = device.site().options;
  const fabric::Address address{.host = options.name, .service = service};
  const auto reception = std::make_shared<Reception>(device.site());
  const auto port = reception->open(options.services == nullptr ? service : std::uint16_t{0});
  if (!port) return tl::unexpected(port.error());
  if (options.services != nullptr && !options.services->add_port(address, *port)) {
    return make_error(
        ErrorCode::address_in_use,
        fmt::format("service {} of {} has a listener already", service, options.name));
  }
  return std::make_unique<Listener>(device, address, reception);
}

}  // namespace falafel::stream
