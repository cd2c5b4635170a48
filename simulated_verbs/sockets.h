// The descriptors of one simulated process. They have numbers that the system does not give, so a
// smaller number is a real descriptor. Functions have the results of system calls: an errno is a
// negative number.
//
// Sockets are TCP over IPv4. A call that returns EAGAIN has let others run, so a program that asks
// again and again makes progress. EPIPE comes without a signal. Because hosts of a run start in any
// order, whereas users start the server first, a connection that is refused in the first minute of
// a process is tried again until that minute has passed.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "simulated_verbs/clock_readings.h"
#include "simulated_verbs/descriptor.h"
#include "simulated_verbs/random_numbers.h"
#include "simulated_verbs/tcp_socket.h"
#include "simulated_verbs/tcp_stack.h"

namespace falafel::simulated_verbs {

class Sockets {
 public:
  static constexpr int first_descriptor = 1'000'000;

  explicit Sockets(std::shared_ptr<TcpStack> stack);
  // Closes all. Does not wait: fibers of the host deliver what the program has sent.
  ~Sockets();
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  const TcpStack& stack() const { return *stack_; }
  const std::shared_ptr<TcpStack>& shared_stack() const { return stack_; }
  // Whoever changes Descriptor::ready_events says so.
  void notify() { stack_->notify(); }
  bool wait_until(const std::function<bool()>& condition, std::uint64_t deadline_ns) {
    return stack_->wait_until(condition, deadline_ns);
  }

  int add(std::shared_ptr<Descriptor> descriptor);
  // For the program, so it is a use (Descriptor::uses). Null if it is not open.
  std::shared_ptr<Descriptor> find(int descriptor) const;
  SystemResult close(int descriptor);
  SystemResult duplicate(int descriptor);
  SystemResult control(int descriptor, int command, long argument);  // fcntl
  short ready_events(int descriptor) const;                          // POLLNVAL if it is not open

  SystemResult socket(int domain, int type, int protocol);
  SystemResult bind(int descriptor, const sockaddr* address, socklen_t length);
  SystemResult listen(int descriptor, int backlog);
  SystemResult accept(int descriptor, sockaddr* address, socklen_t* length, int flags);
  SystemResult connect(int descriptor, const sockaddr* address, socklen_t length);
  SystemResult receive(int descriptor, std::span<std::byte> destination, int flags);
  SystemResult send(int descriptor, std::span<const std::byte> source, int flags);
  SystemResult shut_down(int descriptor, int how);
  SystemResult set_option(int descriptor, int level, int name, const void* value, socklen_t length);
  SystemResult get_option(int descriptor, int level, int name, void* value, socklen_t* length);
  SystemResult local_address(int descriptor, sockaddr* address, socklen_t* length) const;
  SystemResult peer_address(int descriptor, sockaddr* address, socklen_t* length) const;

  // These are no descriptors, but a process needs one of each as well.
  ClockReadings& clock_readings() { return clock_readings_; }
  RandomNumbers& random_numbers() { return random_numbers_; }

 private:
  struct Found {
    std::shared_ptr<TcpSocket> socket;  // null if it is none
    SystemResult error;
  };
  Found find_socket(int descriptor) const;
  bool is_taken(std::uint16_t port) const;
  std::uint16_t free_port();
  SystemResult bind_if_unbound(TcpSocket& socket);

  std::shared_ptr<TcpStack> stack_;
  std::map<int, std::shared_ptr<Descriptor>> descriptors_;
  std::uint16_t next_port_;
  ClockReadings clock_readings_;
  RandomNumbers random_numbers_;
};

}  // namespace falafel::simulated_verbs
