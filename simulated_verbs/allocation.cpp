// The C library's allocation of memory, from the heap of the process. Memory that the C library
// itself has allocated, such as a line of getline, goes back there when the program frees it.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/program_heap.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::size_t usual_alignment = alignof(std::max_align_t);

class HeapCall {
 public:
  explicit HeapCall(std::string_view function) : call_(function) {}

  void* allocate(std::size_t bytes, std::size_t alignment = usual_alignment) {
    void* const memory = heap().allocate(bytes, alignment);
    if (memory == nullptr) errno = ENOMEM;
    return memory;
  }
  void* allocate_zeros(std::size_t bytes) {
    void* const memory = allocate(bytes);
    if (memory != nullptr) std::memset(memory, 0, bytes);
    return memory;
  }
  void* reallocate(void* memory, std::size_t bytes) {
    if (memory == nullptr) return allocate(bytes);
    if (bytes == 0) {  // as glibc does
      heap().free(memory);
      return nullptr;
    }
    void* const moved = allocate(bytes);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, memory, std::min(bytes, heap().size_of(memory)));
    heap().free(memory);
    return moved;
  }
  ProgramHeap& heap() { return call_.process().heap(); }

 private:
  LibraryCall call_;
};

bool is_of_program(const void* memory) {
  const Process* const process = running_process();
  return process != nullptr && process->heap().contains(memory);
}

bool is_product(std::size_t count, std::size_t bytes, std::size_t& product) {
  if (!__builtin_mul_overflow(count, bytes, &product)) return true;
  errno = ENOMEM;
  return false;
}

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

using falafel::simulated_verbs::HeapCall;
using falafel::simulated_verbs::is_of_program;
using falafel::simulated_verbs::is_product;
using falafel::simulated_verbs::page_bytes;
using falafel::simulated_verbs::running_process;

extern "C" {

void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* memory, std::size_t bytes);
void __real_free(void* memory);
int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __real_memalign(std::size_t alignment, std::size_t bytes);
void* __real_valloc(std::size_t bytes);
std::size_t __real_malloc_usable_size(void* memory);
char* __real_strdup(const char* text);
char* __real_strndup(const char* text, std::size_t most);

void* __wrap_malloc(std::size_t bytes) {
  if (running_process() == nullptr) return __real_malloc(bytes);
  return HeapCall("malloc").allocate(bytes);
}

void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  if (running_process() == nullptr) return __real_calloc(count, bytes);
  std::size_t whole_bytes = 0;
  if (!is_product(count, bytes, whole_bytes)) return nullptr;
  return HeapCall("calloc").allocate_zeros(whole_bytes);
}

void* __wrap_realloc(void* memory, std::size_t bytes) {
  const bool is_real = memory == nullptr ? running_process() == nullptr : !is_of_program(memory);
  if (is_real) return __real_realloc(memory, bytes);
  return HeapCall("realloc").reallocate(memory, bytes);
}

void* __wrap_reallocarray(void* memory, std::size_t count, std::size_t bytes) {
  std::size_t whole_bytes = 0;
  if (!is_product(count, bytes, whole_bytes)) return nullptr;
  return __wrap_realloc(memory, whole_bytes);
}

void __wrap_free(void* memory) {
  if (!is_of_program(memory)) return __real_free(memory);
  HeapCall("free").heap().free(memory);
}

int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (running_process() == nullptr) return __real_posix_memalign(memory, alignment, bytes);
  if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  const int error_before = errno;
  void* const allocated = HeapCall("posix_memalign").allocate(bytes, alignment);
  errno = error_before;
  if (allocated == nullptr) return ENOMEM;
  *memory = allocated;
  return 0;
}

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (running_process() == nullptr) return __real_aligned_alloc(alignment, bytes);
  if (!std::has_single_bit(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return HeapCall("aligned_alloc").allocate(bytes, alignment);
}

void* __wrap_memalign(std::size_t alignment, std::size_t bytes) {
  if (running_process() == nullptr) return __real_memalign(alignment, bytes);
  if (alignment > SIZE_MAX / 2 + 1) {
    errno = EINVAL;
    return nullptr;
  }
  return HeapCall("memalign").allocate(bytes, std::bit_ceil(alignment));
}

void* __wrap_valloc(std::size_t bytes) {
  if (running_process() == nullptr) return __real_valloc(bytes);
  return HeapCall("valloc").allocate(bytes, page_bytes());
}

std::size_t __wrap_malloc_usable_size(void* memory) {
  if (!is_of_program(memory)) return __real_malloc_usable_size(memory);
  return HeapCall("malloc_usable_size").heap().size_of(memory);
}

char* __wrap_strdup(const char* text) {
  if (running_process() == nullptr) return __real_strdup(text);
  const std::size_t bytes = std::strlen(text) + 1;
  auto* const copy = static_cast<char*>(HeapCall("strdup").allocate(bytes));
  if (copy != nullptr) std::memcpy(copy, text, bytes);
  return copy;
}

char* __wrap_strndup(const char* text, std::size_t most) {
  if (running_process() == nullptr) return __real_strndup(text, most);
  const std::size_t length = strnlen(text, most);
  auto* const copy = static_cast<char*>(HeapCall("strndup").allocate(length + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
