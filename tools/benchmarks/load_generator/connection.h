// A connection over a UNIX-domain socket with buffers for requests and answers.
#pragma once

#include <string>
#include <string_view>

#include "tools/benchmarks/load_generator/protocol.h"

namespace falafel::load_generator {

class Connection {
 public:
  // Throws std::system_error if there is no listener. All functions throw it if the connection
  // breaks.
  Connection(const std::string& socket_path, const Protocol& protocol);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view requests);
  // Blocks. The result refers to the buffer and is valid until the next call.
  Answer receive();

 private:
  void read_more();

  const Protocol& protocol_;
  int socket_;
  std::string received_;
  std::size_t parsed_bytes_ = 0;  // within `received_`
};

}  // namespace falafel::load_generator
