// The reactor receives offers as they arrive, and a fiber takes those that are complete.
//
// The accepting queue pair may send before the other end is ready. The other end drops what arrives
// too early, and the device repeats it after the acknowledge time-out.
#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <deque>

#include "fabric/posting_rules.h"
#include "fabric/realtime/clock.h"
#include "fabric/realtime/share.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/handshake.h"
#include "fabric/verbs/listener.h"
#include "fabric/verbs/network.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// A caller must send its offer within this time. If there are too many that have not, the oldest is
// disconnected: they must not take all descriptors of the process.
constexpr std::chrono::seconds offer_timeout{10};
constexpr std::size_t most_silent_callers = 64;

// After an error, such as a process that has no descriptors left, callers wait at the socket.
// Trying again at once would fail again and occupy the processor.
constexpr std::chrono::milliseconds pause_after_error{10};

// A caller, from its connection until the answer has been sent.
struct Caller : std::enable_shared_from_this<Caller> {
  explicit Caller(tcp::socket connected)
      : socket(std::move(connected)), timer(socket.get_executor()) {}

  // Disconnects if the offer does not arrive in time.
  void limit_time() {
    timer.expires_after(offer_timeout);
    timer.async_wait([weak = weak_from_this()](const error_code& cancelled) {
      const auto self = weak.lock();
      if (self != nullptr && !cancelled) self->disconnect();
    });
  }
  void disconnect() {
    error_code ignored;
    socket.close(ignored);
  }

  // The pending operation keeps the caller alive until the answer has been sent.
  void answer(HandshakeKind kind, const HandshakeBody& body) {
    reply = {.head = {.kind = kind}, .body = body};
    asio::async_write(socket, asio::buffer(&reply, sizeof reply),
                      [self = shared_from_this()](const error_code&, std::size_t) {});
  }
  // The same, but the socket outlives the caller. The answer has left when this returns: a new
  // connection has room for it.
  tcp::socket answer_and_release(const HandshakeBody& body) {
    reply = {.head = {.kind = HandshakeKind::acceptance}, .body = body};
    error_code ignored;
    asio::write(socket, asio::buffer(&reply, sizeof reply), ignored);
    return std::move(socket);
  }
  void reject(const fabric::PrivateData& reason) {
    HandshakeBody body;
    set_private_data(body, reason);
    answer(HandshakeKind::rejection, body);
  }

  tcp::socket socket;
  asio::steady_timer timer;
  HandshakeMessage offer;
  HandshakeMessage reply;
};

class ConnectionRequest final : public fabric::ConnectionRequest {
 public:
  ConnectionRequest(Device& device, std::shared_ptr<Caller> caller)
      : device_(device),
        caller_(std::move(caller)),
        private_data_(private_data_of(caller_->offer.body)) {}
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
    if (Result<void> checked = fabric::check_private_data(private_data); !checked) {
      return tl::unexpected(checked.error());
    }
    auto queue_pair = device_.create_queue_pair(options);
    if (!queue_pair) return tl::unexpected(queue_pair.error());
    HandshakeBody own = device_.describe(**queue_pair, options);
    set_private_data(own, private_data);
    const auto route = agree(own, caller_->offer.body);
    if (!route) return tl::unexpected(route.error());
    if (Result<void> joined = (*queue_pair)->join(*route); !joined) {
      return tl::unexpected(joined.error());
    }
    auto posted = fabric::post_first_receives(**queue_pair, first_receives);
    if (!posted) return tl::unexpected(posted.error());
    const auto caller = std::exchange(caller_, nullptr);
    if (own.hears_close != 0 || caller->offer.body.hears_close != 0) {
      (*queue_pair)
          ->attach(std::make_shared<ClosingNotice>(device_.scheduler(),
                                                   caller->answer_and_release(own)));
    } else {
      caller->answer(HandshakeKind::acceptance, own);
    }
    return std::move(*queue_pair);
  }

  void reject(fabric::PrivateData reason) override {
    if (caller_ != nullptr) std::exchange(caller_, nullptr)->reject(reason);
  }

 private:
  Device& device_;
  std::shared_ptr<Caller> caller_;  // null after the answer
  fabric::PrivateData private_data_;
};

// The state that the pending operations share with the listener.
struct Reception : std::enable_shared_from_this<Reception> {
  Reception(asio::io_context& reactor, std::shared_ptr<fabric::DescriptorShortage> host_shortage)
      : acceptor(reactor), pause(reactor), shortage(std::move(host_shortage)) {}

  void close() {
    error_code ignored;
    acceptor.close(ignored);
    pause.cancel();
    for (const auto& caller : callers) caller->reject({});
  }

  void receive_next() {
    acceptor.async_accept([self = shared_from_this()](const error_code& error, tcp::socket socket) {
      if (!self->acceptor.is_open()) return;
      if (error) {
        if (fabric::is_out_of_descriptors(error.value())) self->shortage->note(error.message());
        return self->receive_next_later();
      }
      self->receive_head(std::make_shared<Caller>(std::move(socket)));
      self->receive_next();
    });
  }

  void receive_next_later() {
    pause.expires_after(pause_after_error);
    pause.async_wait([self = shared_from_this()](const error_code&) {
      if (self->acceptor.is_open()) self->receive_next();
    });
  }

  void receive_head(const std::shared_ptr<Caller>& caller) {
    caller->limit_time();
    if (const auto oldest = silent.admit(caller)) oldest->disconnect();
    asio::async_read(caller->socket, asio::buffer(&caller->offer.head, sizeof(HandshakeHead)),
                     [self = shared_from_this(), caller](const error_code& error, std::size_t) {
                       if (error) return;
                       if (problem_of(caller->offer.head).empty())
                         return self->receive_body(caller);
                       caller->reject({});  // the head of the answer contains the version
                     });
  }

  void receive_body(const std::shared_ptr<Caller>& caller) {
    asio::async_read(caller->socket, asio::buffer(&caller->offer.body, sizeof(HandshakeBody)),
                     [self = shared_from_this(), caller](const error_code& error, std::size_t) {
                       if (error) return;
                       caller->timer.cancel();
                       self->silent.remove(caller);
                       self->callers.push_back(caller);
                       self->waiters.wake_all();
                     });
  }

  tcp::acceptor acceptor;
  asio::steady_timer pause;
  std::shared_ptr<fabric::DescriptorShortage> shortage;
  fabric::Share<Caller> silent{most_silent_callers};
  std::deque<std::shared_ptr<Caller>> callers;  // whose offers have arrived
  fabric::WaitList waiters;
};

class Listener final : public fabric::Listener {
 public:
  Listener(Device& device, std::shared_ptr<Reception> reception)
      : device_(device), reception_(std::move(reception)) {
    reception_->receive_next();
  }
  ~Listener() override { reception_->close(); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::unique_ptr<fabric::ConnectionRequest> accept(std::uint64_t deadline_ns) override {
    if (!reception_->callers.empty()) device_.scheduler().yield();
    while (reception_->callers.empty()) {
      const bool woken = device_.scheduler().wait(&reception_->waiters, deadline_ns);
      if (!woken && reception_->callers.empty() && device_.scheduler().gives_up(deadline_ns)) {
        return nullptr;
      }
    }
    auto caller = std::move(reception_->callers.front());
    reception_->callers.pop_front();
    return std::make_unique<ConnectionRequest>(device_, std::move(caller));
  }

 private:
  Device& device_;
  std::shared_ptr<Reception> reception_;
};

tl::unexpected<fabric::Error> cannot_listen(const fabric::Address& address,
                                            const error_code& error) {
  const std::string where = fmt::format("port {} of {}", address.service, address.host);
  if (error == asio::error::address_in_use) {
    return make_error(ErrorCode::address_in_use,
                      fmt::format("{} already has a listener; choose another port, or stop that "
                                  "listener (`ss -ltnp` shows its process)",
                                  where));
  }
  if (error == asio::error::access_denied) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} is reserved for root; choose a port from 1024", where));
  }
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{}: {}; the host's name must be an address of this machine", where,
                                error.message()));
}

}  // namespace

Result<std::unique_ptr<fabric::Listener>> listen_to_service(Device& device,
                                                            const fabric::Address& address) {
  asio::io_context& reactor = device.network().reactor();
  error_code error;
  tcp::resolver resolver(reactor);
  const auto endpoints =
      resolver.resolve(address.host, std::to_string(address.service),
                       tcp::resolver::numeric_service | tcp::resolver::passive, error);
  if (error) return cannot_listen(address, error);
  const tcp::endpoint endpoint = *endpoints.begin();
  auto reception = std::make_shared<Reception>(reactor, device.network().descriptor_shortage());
  tcp::acceptor& acceptor = reception->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return cannot_listen(address, error);
  return std::make_unique<Listener>(device, std::move(reception));
}

}  // namespace falafel::verbs
