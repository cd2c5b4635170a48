// The functions that compilers call before each load and store, and in place of atomic operations,
// with -fsanitize=thread. They take the place of the sanitizer's run time.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "simulated_verbs/announced_accesses.h"

namespace falafel::simulated_verbs {

namespace {

// Threads tell each other by atomic operations, so these are steps wherever they are.
template <typename Value>
void announce_atomic_load(const volatile Value* address) {
  if (running_thread() == nullptr) return;
  const void* const memory = const_cast<const Value*>(address);
  const MemoryRegion* const region = region_at(memory);
  const LibraryCall call("an atomic load");
  PlainAccesses& accesses = call.thread().plain_accesses();
  if (region != nullptr) return accesses.expect_load(*region, memory, sizeof(Value));
  call.let_others_go_on();
  accesses.note_load(memory, __atomic_load_n(address, __ATOMIC_SEQ_CST));
}

template <typename Value>
void announce_atomic_change(const volatile Value* address) {
  if (running_thread() == nullptr) return;
  const void* const memory = const_cast<const Value*>(address);
  const MemoryRegion* const region = region_at(memory);
  const LibraryCall call("an atomic operation");
  if (region != nullptr) {
    call.thread().plain_accesses().expect_store(*region, memory, sizeof(Value));
  } else {
    call.let_others_go_on();
  }
}

// A failing comparison changes nothing, and programs wait by it.
template <typename Value>
Value compare_exchange(volatile Value* address, Value expected, Value desired) {
  if (__atomic_load_n(address, __ATOMIC_SEQ_CST) != expected) announce_atomic_load(address);
  announce_atomic_change(address);
  __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return expected;
}

}  // namespace
}  // namespace falafel::simulated_verbs

// Compilers give the names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
// NOLINTBEGIN(cppcoreguidelines-macro-usage)

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

#define FALAFEL_PLAIN(bytes)                                                                       \
  void __tsan_read##bytes(void* address) { announce_load(address, bytes); }                        \
  void __tsan_write##bytes(void* address) { announce_store(address, bytes); }                      \
  void __tsan_unaligned_read##bytes(void* address) { announce_load(address, bytes); }              \
  void __tsan_unaligned_write##bytes(void* address) { announce_store(address, bytes); }

#define FALAFEL_FETCH(bits, operation)                                                             \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_##operation(                                     \
      volatile std::uint##bits##_t* address, std::uint##bits##_t value, int) {                     \
    announce_atomic_change(address);                                                               \
    return __atomic_fetch_##operation(address, value, __ATOMIC_SEQ_CST);                           \
  }

#define FALAFEL_ATOMIC(bits)                                                                       \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* address,      \
                                                 int) {                                            \
    announce_atomic_load(address);                                                                 \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* address,                          \
                                   std::uint##bits##_t value, int) {                               \
    announce_atomic_change(address);                                                               \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  std::uint##bits##_t __tsan_atomic##bits##_exchange(volatile std::uint##bits##_t* address,        \
                                                     std::uint##bits##_t value, int) {             \
    announce_atomic_change(address);                                                               \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                  \
  }                                                                                                \
  FALAFEL_FETCH(bits, add)                                                                         \
  FALAFEL_FETCH(bits, sub)                                                                         \
  FALAFEL_FETCH(bits, and)                                                                         \
  FALAFEL_FETCH(bits, or)                                                                          \
  FALAFEL_FETCH(bits, xor)                                                                         \
  FALAFEL_FETCH(bits, nand)                                                                        \
  std::uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                  \
      volatile std::uint##bits##_t* address, std::uint##bits##_t expected,                         \
      std::uint##bits##_t desired, int, int) {                                                     \
    return compare_exchange(address, expected, desired);                                           \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile std::uint##bits##_t* address,         \
                                                    std::uint##bits##_t* expected,                 \
                                                    std::uint##bits##_t desired, int, int) {       \
    const std::uint##bits##_t found = compare_exchange(address, *expected, desired);               \
    const bool is_exchanged = found == *expected;                                                  \
    *expected = found;                                                                             \
    return is_exchanged ? 1 : 0;                                                                   \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile std::uint##bits##_t* address,           \
                                                  std::uint##bits##_t* expected,                   \
                                                  std::uint##bits##_t desired, int, int) {         \
    return __tsan_atomic##bits##_compare_exchange_strong(address, expected, desired, 0, 0);        \
  }

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

FALAFEL_PLAIN(1)
FALAFEL_PLAIN(2)
FALAFEL_PLAIN(4)
FALAFEL_PLAIN(8)
FALAFEL_PLAIN(16)

void __tsan_read_range(void* address, std::size_t bytes) { announce_load(address, bytes); }
void __tsan_write_range(void* address, std::size_t bytes) { announce_store(address, bytes); }
void __tsan_vptr_read(void** address) { announce_load(address, sizeof *address); }
void __tsan_vptr_update(void** address, void*) { announce_store(address, sizeof *address); }

FALAFEL_ATOMIC(8)
FALAFEL_ATOMIC(16)
FALAFEL_ATOMIC(32)
FALAFEL_ATOMIC(64)

// Stores are never late, so fences order nothing.
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"

// NOLINTEND(cppcoreguidelines-macro-usage)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
