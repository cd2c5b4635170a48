#include "explorer/commands/interruption.h"

#include <ctime>

namespace falafel::command_line {

Interruption::Interruption() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals_, &mask_before_);
}

Interruption::~Interruption() {
  has_come();  // or it would end the process now
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool Interruption::has_come() {
  const timespec at_once{};
  while (sigtimedwait(&signals_, nullptr, &at_once) > 0) has_come_ = true;
  return has_come_;
}

}  // namespace falafel::command_line
