// A socket of TCP over IPv4: from its creation until its last descriptor is closed.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "fabric/fabric.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/tcp_connection.h"
#include "simulated_verbs/tcp_listener.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class TcpSocket final : public Descriptor {
 public:
  explicit TcpSocket(std::shared_ptr<TcpStack> stack) : stack_(std::move(stack)) {}
  TcpSocket(std::shared_ptr<TcpStack> stack, std::shared_ptr<TcpConnection> connection);
  ~TcpSocket() override;
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;

  bool is_bound() const { return local_.has_value(); }
  // No other socket of the process may be bound to the port.
  bool holds(std::uint16_t port) const {
    return is_bound() && local_->port == port && connection_ == nullptr;
  }
  void bind(const Endpoint& local) { local_ = local; }

  // The arguments and results are those of the system calls. Before listen() and connect(), the
  // socket is bound. A caller that may wait keeps the socket alive.
  SystemResult listen(int backlog);
  SystemResult connect(const Endpoint& remote);
  // Sets `accepted` unless it returns an error.
  SystemResult accept(std::shared_ptr<TcpSocket>& accepted);
  SystemResult receive(std::span<std::byte> destination, int flags);
  SystemResult send(std::span<const std::byte> source, int flags);
  SystemResult shut_down(int how);
  SystemResult set_option(int level, int name, const void* value, socklen_t length);
  SystemResult get_option(int level, int name, void* value, socklen_t* length);
  Endpoint local() const { return local_.value_or(Endpoint{}); }
  SystemResult peer(Endpoint& endpoint) const;

  short ready_events() const override;

  // The process ends with its host: nothing is delivered any more.
  void abandon();

 private:
  bool has_failed_to_connect() const;
  int take_error();
  std::uint64_t deadline_ns(std::uint64_t timeout_ns, int flags) const;
  SystemResult finish_connecting();

  std::shared_ptr<TcpStack> stack_;
  std::optional<Endpoint> local_;
  std::shared_ptr<TcpListener> listener_;
  std::shared_ptr<TcpConnection> connection_;
  std::map<std::pair<int, int>, int> options_;  // by level and name
  std::uint64_t receive_timeout_ns_ = fabric::never_ns;
  std::uint64_t send_timeout_ns_ = fabric::never_ns;
};

}  // namespace falafel::simulated_verbs
