// An object of a process that its program names by a number: a socket, or whatever else the program
// may wait for by poll. Functions have the results of system calls.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace falafel::simulated_verbs {

class Descriptor {
 public:
  virtual ~Descriptor() = default;
  // Flags of poll(2) that hold now, whether or not the program asks for them.
  virtual short ready_events() const = 0;
  // For descriptors that are no sockets. Those that refuse are not for reading or writing.
  virtual long read(std::span<std::byte> /*destination*/) { return -EINVAL; }
  virtual long write(std::span<const std::byte> /*source*/) { return -EINVAL; }

  bool is_nonblocking() const { return is_nonblocking_; }
  void set_nonblocking(bool is_nonblocking) { is_nonblocking_ = is_nonblocking; }

  // How often the program has used it. EPOLLET then reports again what is ready.
  std::uint64_t uses() const { return uses_; }
  void note_use() { ++uses_; }

 private:
  bool is_nonblocking_ = false;
  std::uint64_t uses_ = 0;
};

}  // namespace falafel::simulated_verbs
