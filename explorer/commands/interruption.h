// SIGINT and SIGTERM as a question, for commands that save what they have before they end.
#pragma once

#include <csignal>

namespace falafel::command_line {

// While it exists, the two signals do not end the process. Child processes started meanwhile do not
// see them either.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Whether one of the signals has come since the beginning.
  bool has_come();

 private:
  sigset_t signals_{};
  sigset_t mask_before_{};
  bool has_come_ = false;
};

}  // namespace falafel::command_line
