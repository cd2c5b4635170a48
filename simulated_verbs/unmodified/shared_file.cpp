#include "simulated_verbs/unmodified/shared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace falafel::simulated_verbs {

SharedFile::SharedFile(const char* name, std::size_t bytes)
    : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
}

SharedFile::~SharedFile() { ::close(descriptor_); }

// The file's position is that of the processes, so this reads without one.
std::string SharedFile::text() const {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t bytes =
        ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(text.size()));
    if (bytes <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

SharedMapping::SharedMapping(int descriptor, std::uint64_t offset, std::size_t bytes,
                             std::uint64_t address)
    : bytes_(bytes) {
  // An address and not an object: the system maps the file there.
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  const int flags = MAP_SHARED | MAP_NORESERVE | (address == 0 ? 0 : MAP_FIXED_NOREPLACE);
  begin_ =
      mmap(wanted, bytes, PROT_READ | PROT_WRITE, flags, descriptor, static_cast<off_t>(offset));
  if (begin_ == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(),
                            fmt::format("mapping shared memory at {:#x}", address));
  }
}

SharedMapping::~SharedMapping() { munmap(begin_, bytes_); }

}  // namespace falafel::simulated_verbs
