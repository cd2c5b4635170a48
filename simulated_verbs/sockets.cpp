#include "simulated_verbs/sockets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "simulated_verbs/internet_address.h"
#include "simulated_verbs/not_simulated.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint16_t first_ephemeral_port = 32'768;
constexpr std::uint16_t last_ephemeral_port = 60'999;
constexpr std::uint16_t ephemeral_ports = last_ephemeral_port - first_ephemeral_port + 1;

std::string name_of_domain(int domain) {
  switch (domain) {
    case AF_INET6: return "AF_INET6";
    case AF_UNIX: return "AF_UNIX";
    case AF_NETLINK: return "AF_NETLINK";
    case AF_PACKET: return "AF_PACKET";
    default: return fmt::format("domain {}", domain);
  }
}

std::string name_of_type(int type) {
  switch (type) {
    case SOCK_DGRAM: return "SOCK_DGRAM";
    case SOCK_RAW: return "SOCK_RAW";
    case SOCK_SEQPACKET: return "SOCK_SEQPACKET";
    default: return fmt::format("type {}", type);
  }
}

// An address that a program passes; an errno if it is none of IPv4.
SystemResult read_sockaddr(const sockaddr* address, socklen_t length, Endpoint& endpoint) {
  if (address == nullptr) return -EFAULT;
  sockaddr_in internet{};
  if (length < sizeof internet) return -EINVAL;
  std::memcpy(&internet, address, sizeof internet);
  if (internet.sin_family != AF_INET) return -EAFNOSUPPORT;
  endpoint = from_sockaddr(internet);
  return 0;
}

}  // namespace

Sockets::Sockets(std::shared_ptr<TcpStack> stack)
    : stack_(std::move(stack)), next_port_(first_ephemeral_port) {}

Sockets::~Sockets() {
  if (!stack_->host().is_cancelled()) return;
  for (const auto& [number, descriptor] : descriptors_) {
    if (auto* const socket = dynamic_cast<TcpSocket*>(descriptor.get())) socket->abandon();
  }
}

// -------------------------------------------------------------------------------------------------
// Descriptors

// As the system, gives the lowest number that is free.
int Sockets::add(std::shared_ptr<Descriptor> descriptor) {
  int number = first_descriptor;
  for (const auto& [taken, other] : descriptors_) {
    if (taken != number) break;
    ++number;
  }
  descriptors_.emplace(number, std::move(descriptor));
  return number;
}

std::shared_ptr<Descriptor> Sockets::find(int descriptor) const {
  const auto found = descriptors_.find(descriptor);
  if (found == descriptors_.end()) return nullptr;
  found->second->note_use();
  return found->second;
}

SystemResult Sockets::close(int descriptor) {
  return descriptors_.erase(descriptor) == 0 ? -EBADF : 0;
}

SystemResult Sockets::duplicate(int descriptor) {
  std::shared_ptr<Descriptor> found = find(descriptor);
  return found == nullptr ? -EBADF : add(std::move(found));
}

SystemResult Sockets::control(int descriptor, int command, long argument) {
  const std::shared_ptr<Descriptor> found = find(descriptor);
  if (found == nullptr) return -EBADF;
  switch (command) {
    case F_GETFL: return O_RDWR | (found->is_nonblocking() ? O_NONBLOCK : 0);
    case F_SETFL: found->set_nonblocking((argument & O_NONBLOCK) != 0); return 0;
    case F_GETFD: return FD_CLOEXEC;  // simulated processes start no programs
    case F_SETFD: return 0;
    case F_DUPFD:
    case F_DUPFD_CLOEXEC: return duplicate(descriptor);
    default: break;
  }
  report_not_simulated(fmt::format("fcntl(command {})", command));
  return -EINVAL;
}

short Sockets::ready_events(int descriptor) const {
  const std::shared_ptr<Descriptor> found = find(descriptor);
  return found == nullptr ? static_cast<short>(POLLNVAL) : found->ready_events();
}

Sockets::Found Sockets::find_socket(int descriptor) const {
  const std::shared_ptr<Descriptor> found = find(descriptor);
  auto socket = std::dynamic_pointer_cast<TcpSocket>(found);
  const SystemResult error = found == nullptr ? -EBADF : socket == nullptr ? -ENOTSOCK : 0;
  return {.socket = std::move(socket), .error = error};
}

// -------------------------------------------------------------------------------------------------
// Ports

bool Sockets::is_taken(std::uint16_t port) const {
  return std::ranges::any_of(descriptors_, [port](const auto& entry) {
    const auto* const socket = dynamic_cast<const TcpSocket*>(entry.second.get());
    return socket != nullptr && socket->holds(port);
  });
}

// 0: none.
std::uint16_t Sockets::free_port() {
  for (std::uint16_t tried = 0; tried < ephemeral_ports; ++tried) {
    const std::uint16_t port = next_port_;
    next_port_ =
        port == last_ephemeral_port ? first_ephemeral_port : static_cast<std::uint16_t>(port + 1);
    if (!is_taken(port)) return port;
  }
  return 0;
}

SystemResult Sockets::bind_if_unbound(TcpSocket& socket) {
  if (socket.is_bound()) return 0;
  const std::uint16_t port = free_port();
  if (port == 0) return -EADDRNOTAVAIL;
  socket.bind({.address = any_address, .port = port});
  return 0;
}

// -------------------------------------------------------------------------------------------------
// Sockets

SystemResult Sockets::socket(int domain, int type, int protocol) {
  const int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (domain != AF_INET) {
    report_not_simulated(fmt::format("socket({})", name_of_domain(domain)));
    return -EAFNOSUPPORT;
  }
  if (kind != SOCK_STREAM) {
    report_not_simulated(fmt::format("socket({})", name_of_type(kind)));
    return -EPROTONOSUPPORT;
  }
  if (protocol != 0 && protocol != IPPROTO_TCP) return -EPROTONOSUPPORT;
  auto socket = std::make_shared<TcpSocket>(stack_);
  socket->set_nonblocking((type & SOCK_NONBLOCK) != 0);
  return add(std::move(socket));
}

SystemResult Sockets::bind(int descriptor, const sockaddr* address, socklen_t length) {
  const auto [socket, error] = find_socket(descriptor);
  if (socket == nullptr) return error;
  Endpoint local;
  if (const SystemResult read = read_sockaddr(address, length, local); read != 0) return read;
  if (socket->is_bound()) return -EINVAL;
  const bool is_own = local.address == any_address || is_loopback(local.address) ||
                      local.address == stack_->own_address();
  if (!is_own) return -EADDRNOTAVAIL;
  if (local.port == 0) {
    local.port = free_port();
    if (local.port == 0) return -EADDRINUSE;
  } else if (is_taken(local.port)) {
    return -EADDRINUSE;
  }
  socket->bind(local);
  return 0;
}

SystemResult Sockets::listen(int descriptor, int backlog) {
  const auto [socket, error] = find_socket(descriptor);
  if (socket == nullptr) return error;
  if (const SystemResult bound = bind_if_unbound(*socket); bound != 0) return bound;
  return socket->listen(backlog);
}

SystemResult Sockets::accept(int descriptor, sockaddr* address, socklen_t* length, int flags) {
  const auto [socket, error] = find_socket(descriptor);
  if (socket == nullptr) return error;
  if ((flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != 0) return -EINVAL;
  std::shared_ptr<TcpSocket> accepted;
  if (const SystemResult result = socket->accept(accepted); result != 0) return result;
  accepted->set_nonblocking((flags & SOCK_NONBLOCK) != 0);
  Endpoint remote;
  accepted->peer(remote);
  if (address != nullptr && length != nullptr) write_sockaddr(remote, address, length);
  return add(std::move(accepted));
}

SystemResult Sockets::connect(int descriptor, const sockaddr* address, socklen_t length) {
  const auto [socket, error] = find_socket(descriptor);
  if (socket == nullptr) return error;
  Endpoint remote;
  if (const SystemResult read = read_sockaddr(address, length, remote); read != 0) return read;
  if (const SystemResult bound = bind_if_unbound(*socket); bound != 0) return bound;
  return socket->connect(remote);
}

SystemResult Sockets::receive(int descriptor, std::span<std::byte> destination, int flags) {
  const auto [socket, error] = find_socket(descriptor);
  if (socket != nullptr) return socket->receive(destination, flags);
  const std::shared_ptr<Descriptor> other = find(descriptor);
  return other == nullptr || flags != 0 ? error : other->read(destination);
}

SystemResult Sockets::send(int descriptor, std::span<const std::byte> source, int flags) {
  const auto [socket, error] = find_socket(descriptor);
  if (socket != nullptr) return socket->send(source, flags);
  const std::shared_ptr<Descriptor> other = find(descriptor);
  return other == nullptr || flags != 0 ? error : other->write(source);
}

SystemResult Sockets::shut_down(int descriptor, int how) {
  const auto [socket, error] = find_socket(descriptor);
  return socket == nullptr ? error : socket->shut_down(how);
}

SystemResult Sockets::set_option(int descriptor, int level, int name, const void* value,
                                 socklen_t length) {
  const auto [socket, error] = find_socket(descriptor);
  return socket == nullptr ? error : socket->set_option(level, name, value, length);
}

SystemResult Sockets::get_option(int descriptor, int level, int name, void* value,
                                 socklen_t* length) {
  const auto [socket, error] = find_socket(descriptor);
  return socket == nullptr ? error : socket->get_option(level, name, value, length);
}

SystemResult Sockets::local_address(int descriptor, sockaddr* address, socklen_t* length) const {
  const auto [socket, error] = find_socket(descriptor);
  if (socket == nullptr) return error;
  if (address == nullptr || length == nullptr) return -EFAULT;
  write_sockaddr(socket->local(), address, length);
  return 0;
}

SystemResult Sockets::peer_address(int descriptor, sockaddr* address, socklen_t* length) const {
  const auto [socket, error] = find_socket(descriptor);
  if (socket == nullptr) return error;
  if (address == nullptr || length == nullptr) return -EFAULT;
  Endpoint remote;
  if (const SystemResult result = socket->peer(remote); result != 0) return result;
  write_sockaddr(remote, address, length);
  return 0;
}

}  // namespace falafel::simulated_verbs
