#include "tests/store/limited_memory.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>

namespace {

constexpr std::int64_t unlimited = -1;

// A plan for allocations: after `left` that succeed, one or all fail.
struct Shortage {
  std::int64_t left = unlimited;
  bool is_lasting = true;
  std::int64_t failures = 0;

  bool fails() {
    if (left == unlimited) return false;
    if (left > 0) {
      --left;
      return false;
    }
    if (!is_lasting) left = unlimited;
    ++failures;
    return true;
  }
};

thread_local Shortage of_this_thread;

// How many allocations threads that started after `last_thread` can make before all fail. The
// system numbers threads in the order of their start.
std::atomic<std::int64_t> allocations_of_later_threads = unlimited;
std::atomic<pid_t> last_thread = 0;

bool fails_in_later_thread() {
  if (allocations_of_later_threads == unlimited || ::gettid() <= last_thread) return false;
  if (allocations_of_later_threads == 0) return true;
  --allocations_of_later_threads;
  return false;
}

}  // namespace

void* operator new(std::size_t size_bytes, const std::nothrow_t& /*nothrow*/) noexcept {
  const bool fails = of_this_thread.fails() || fails_in_later_thread();
  return fails ? nullptr : std::malloc(size_bytes == 0 ? 1 : size_bytes);
}
void* operator new(std::size_t size_bytes) {
  void* const memory = operator new(size_bytes, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size_bytes) { return operator new(size_bytes); }
void* operator new[](std::size_t size_bytes, const std::nothrow_t& nothrow) noexcept {
  return operator new(size_bytes, nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size_bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size_bytes*/) noexcept { std::free(memory); }

namespace falafel::server_program {

Limit::Limit(std::int64_t allocations, bool is_lasting) {
  of_this_thread = {.left = allocations, .is_lasting = is_lasting};
}

Limit::~Limit() { of_this_thread.left = unlimited; }

bool Limit::was_felt() { return of_this_thread.failures > 0; }

LaterThreads::LaterThreads() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    last_thread = std::max<pid_t>(last_thread, std::stoi(task.path().filename().string()));
  }
}

void LaterThreads::limit(std::int64_t allocations) const {
  allocations_of_later_threads = allocations;
}

void LaterThreads::lift_limit() const { allocations_of_later_threads = unlimited; }

}  // namespace falafel::server_program
