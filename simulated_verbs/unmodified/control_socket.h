// The simulator's end of the socket by which it starts a process (start_request.h).
#pragma once

#include <cstddef>

#include "simulated_verbs/unmodified/start_request.h"

namespace falafel::simulated_verbs {

class ControlSocket {
 public:
  // Throws a std::system_error if the system refuses.
  ControlSocket();
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // The end of the process. Once the process has it, only the process should.
  int other_end() const { return ends_[1]; }
  void close_other_end();

  // False if the process has ended.
  bool send(StartRequest request, const StartFiles& files) const;
  template <typename Message>
  bool receive(Message& message) const {
    return receive(&message, sizeof message);
  }

 private:
  bool receive(void* message, std::size_t bytes) const;

  std::array<int, 2> ends_{-1, -1};
};

}  // namespace falafel::simulated_verbs
