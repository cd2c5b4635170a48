#include "simulated_verbs/unmodified/program_side/awaited_start.h"

#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace falafel::simulated_verbs {

namespace {

template <typename Message>
bool send(const Message& message) {
  return syscall(SYS_write, control_descriptor, &message, sizeof message) == sizeof message;
}

bool receive(StartRequest& request, StartFiles& files) {
  iovec text{.iov_base = &request, .iov_len = sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(StartFiles))];
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (syscall(SYS_recvmsg, control_descriptor, &message, 0) != sizeof request) return false;
  std::memcpy(&files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof files);
  return true;
}

// The copy is a child of the simulator, as this process is. The C library keeps the number of its
// thread where the kernel clears it at its end. Returns 0 in the copy.
StartAnswer copy_process() {
  void* number_of_thread = nullptr;
  if (prctl(PR_GET_TID_ADDRESS, &number_of_thread, 0, 0, 0) != 0) return -errno;
  constexpr unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  const long copy = syscall(SYS_clone, flags, nullptr, nullptr, number_of_thread, nullptr);
  return static_cast<StartAnswer>(copy < 0 ? -errno : copy);
}

void begin_process(const StartFiles& files) {
  syscall(SYS_dup2, files[output_file], STDOUT_FILENO);
  syscall(SYS_dup2, files[output_file], STDERR_FILENO);
  syscall(SYS_close, files[output_file]);
  syscall(SYS_close, control_descriptor);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

}  // namespace

bool await_start(StartFiles& files) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!send(StartReady{})) return false;
  while (true) {
    StartRequest request{};
    if (!receive(request, files)) return false;
    const StartAnswer copy = request == StartRequest::copy ? copy_process() : 0;
    if (copy == 0) {
      begin_process(files);
      return true;
    }
    for (const int file : files) syscall(SYS_close, file);
    send(copy);
  }
}

}  // namespace falafel::simulated_verbs
