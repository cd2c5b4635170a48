// An object of a process that its program names by a number: a socket, or whatever else the program
// may wait for by poll.
#pragma once

namespace falafel::simulated_verbs {

class Descriptor {
 public:
  virtual ~Descriptor() = default;
  // Flags of poll(2) that hold now, whether or not the program asks for them.
  virtual short ready_events() const = 0;

  bool is_nonblocking() const { return is_nonblocking_; }
  void set_nonblocking(bool is_nonblocking) { is_nonblocking_ = is_nonblocking; }

 private:
  bool is_nonblocking_ = false;
};

}  // namespace falafel::simulated_verbs
