// A connection over a UNIX-domain socket: bytes out, answers in, both in buffers that are kept.
#pragma once

#include <string>
#include <string_view>

#include "tools/load_generator/protocol.h"

namespace falafel::load_generator {

class Connection {
 public:
  // Throws std::system_error if nobody listens, here and below if the connection breaks.
  Connection(const std::string& socket_path, const Protocol& protocol);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(std::string_view requests);
  // Blocks. What it refers to is good until the next call.
  Answer receive();

 private:
  void read_more();

  const Protocol& protocol_;
  int socket_;
  std::string received_;
  std::size_t parsed_bytes_ = 0;  // of `received_`
};

}  // namespace falafel::load_generator
