#include "explorer/child_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "processes/child_process.h"

namespace falafel::explorer {
namespace {

// A file in memory, shared with child processes.
class TextFile {
 public:
  TextFile() : file_(memfd_create("text", MFD_CLOEXEC)) {
    if (file_ < 0) processes::fail_system_call("memfd_create");
  }
  ~TextFile() { close(file_); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  void append(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = write(file_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) processes::fail_system_call("write");
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  std::string text() const {
    struct stat status {};
    if (fstat(file_, &status) != 0) processes::fail_system_call("fstat");
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    const ssize_t length = pread(file_, text.data(), text.size(), 0);
    text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    return text;
  }

 private:
  int file_;
};

void discard_standard_error() {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) processes::fail_system_call("open");
  dup2(nowhere, STDERR_FILENO);
  close(nowhere);
}

}  // namespace

std::string text_of_child(double seconds, StandardError standard_error,
                          const std::function<void(const WriteText&)>& body) {
  const TextFile file;
  processes::ChildProcess child(
      [&] {
        if (standard_error == StandardError::discarded) discard_standard_error();
        body([&](std::string_view text) { file.append(text); });
        return 0;
      },
      {.dies_with_parent = true});
  child.wait_for(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
  return file.text();
}

}  // namespace falafel::explorer
