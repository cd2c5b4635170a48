// A listening TCP socket. As in the kernel, connections are established before the program accepts
// them, by a fiber of the listener, as many as its backlog holds.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/tcp_connection.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class TcpListener : public std::enable_shared_from_this<TcpListener> {
 public:
  // Null if the port has a listener.
  static std::shared_ptr<TcpListener> listen(std::shared_ptr<TcpStack> stack, const Endpoint& local,
                                             int backlog);

  TcpListener(std::shared_ptr<TcpStack> stack, const Endpoint& local,
              std::unique_ptr<fabric::Listener> listener);

  void set_backlog(int backlog);
  bool has_connections() const;
  // The oldest connection; null at deadline_ns.
  std::shared_ptr<TcpConnection> accept(std::uint64_t deadline_ns);

  // Does not wait. Connections that nobody has accepted are reset.
  void close();
  // The process ends with its host.
  void abandon();

 private:
  void serve();
  bool has_room();

  std::shared_ptr<TcpStack> stack_;
  Endpoint local_;
  std::unique_ptr<fabric::Listener> listener_;
  std::deque<std::shared_ptr<TcpConnection>> queue_;  // some are not confirmed yet
  std::size_t backlog_ = 1;
  fabric::FiberId fiber_ = 0;
};

}  // namespace falafel::simulated_verbs
