#include "fabric/realtime/process_identity.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>

#include "fabric/realtime/file_descriptor.h"

namespace falafel::fabric {
namespace {

std::uint64_t own_namespace() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// The first 64 bits of the identity that the system draws when it starts.
std::uint64_t this_boot() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::uint64_t bits = 0;
  int digits = 0;
  for (char character = 0; digits < 16 && file.get(character);) {
    if (character == '-') continue;
    const int digit = character <= '9' ? character - '0' : character - 'a' + 10;
    bits = bits << 4U | (static_cast<std::uint64_t>(digit) & 15U);
    ++digits;
  }
  return bits;
}

// The system writes the name of the program in brackets, and it may contain any character.
std::uint64_t start_of(pid_t number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(end_of_name + 1));
  constexpr int fields_before = 19;  // from the third to the twenty-first
  std::string skipped;
  for (int field = 0; field < fields_before; ++field) fields >> skipped;
  std::uint64_t ticks = 0;
  return fields >> ticks ? ticks : 0;
}

}  // namespace

ProcessIdentity identity_of(pid_t number) {
  return {.number = number,
          .started = number > 0 ? start_of(number) : 0,
          .of_namespace = own_namespace(),
          .boot = this_boot()};
}

bool has_ended(const ProcessIdentity& process) {
  if (process.boot != this_boot()) return true;
  if (process.number <= 0 || process.of_namespace != own_namespace()) return false;
  const FileDescriptor running(static_cast<int>(::syscall(SYS_pidfd_open, process.number, 0U)));
  // Its number belongs to nobody, or to a thread of another process.
  if (!running.is_open()) return errno == ESRCH || errno == EINVAL || errno == ENOENT;
  const std::uint64_t started = start_of(process.number);
  if (process.started != 0 && started != 0 && started != process.started) return true;
  pollfd ending{.fd = running.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ending, 1, 0) == 1;  // nobody has waited for it yet
}

std::string describe(const ProcessIdentity& process) {
  if (process.number <= 0 || process.of_namespace != own_namespace()) {
    return "a process of another namespace of processes";
  }
  std::ifstream file(fmt::format("/proc/{}/comm", process.number));
  std::string name;
  std::getline(file, name);
  return fmt::format("process {}{}", process.number, name.empty() ? "" : " (" + name + ")");
}

}  // namespace falafel::fabric
