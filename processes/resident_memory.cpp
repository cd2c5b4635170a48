#include "processes/resident_memory.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>

// tcmalloc's function; null without tcmalloc.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" [[gnu::weak]] void MallocExtension_ReleaseFreeMemory();

namespace falafel::processes {

// Allocates nothing, because callers ask when memory is short.
std::uint64_t resident_bytes() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> buffer{};
  const ::ssize_t length = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  if (length <= 0) return 0;
  // The second number is that of the resident pages.
  const std::string_view text(buffer.data(), static_cast<std::size_t>(length));
  const std::size_t begin = text.find(' ') + 1;
  std::uint64_t pages = 0;
  std::from_chars(text.data() + begin, text.data() + text.size(), pages);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void release_free_memory() {
  if (MallocExtension_ReleaseFreeMemory != nullptr) {
    MallocExtension_ReleaseFreeMemory();
  } else {
    ::malloc_trim(0);
  }
}

}  // namespace falafel::processes
