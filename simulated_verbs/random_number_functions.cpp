// rand, random, lrand48, drand48 and their relatives, and the random numbers of the system.
#include "simulated_verbs/random_numbers.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/sockets.h"

namespace falafel::simulated_verbs {

namespace {

RandomNumbers& numbers_of(const LibraryCall& call) {
  return call.process().sockets().random_numbers();
}

// With random numbers of the host, which are those of its seed.
void fill(const LibraryCall& call, void* buffer, std::size_t bytes) {
  auto* const begin = static_cast<std::byte*>(buffer);
  for (std::size_t filled = 0; filled < bytes;) {
    const std::uint64_t word = call.host().random(0);
    const std::size_t part = std::min(bytes - filled, sizeof word);
    std::memcpy(begin + filled, &word, part);
    filled += part;
  }
}

}  // namespace
}  // namespace falafel::simulated_verbs

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.

using falafel::simulated_verbs::fill;
using falafel::simulated_verbs::LibraryCall;
using falafel::simulated_verbs::numbers_of;
using falafel::simulated_verbs::running_process;

extern "C" {

int __real_rand();
void __real_srand(unsigned seed);
long __real_random();
void __real_srandom(unsigned seed);
long __real_lrand48();
long __real_mrand48();
double __real_drand48();
void __real_srand48(long seed);
ssize_t __real_getrandom(void* buffer, std::size_t bytes, unsigned flags);
int __real_getentropy(void* buffer, std::size_t bytes);

int __wrap_rand() {
  if (running_process() == nullptr) return __real_rand();
  const LibraryCall call("rand");
  return static_cast<int>(numbers_of(call).next_random());
}

void __wrap_srand(unsigned seed) {
  if (running_process() == nullptr) return __real_srand(seed);
  const LibraryCall call("srand");
  numbers_of(call).seed_random(seed);
}

long __wrap_random() {
  if (running_process() == nullptr) return __real_random();
  const LibraryCall call("random");
  return numbers_of(call).next_random();
}

void __wrap_srandom(unsigned seed) {
  if (running_process() == nullptr) return __real_srandom(seed);
  const LibraryCall call("srandom");
  numbers_of(call).seed_random(seed);
}

long __wrap_lrand48() {
  if (running_process() == nullptr) return __real_lrand48();
  const LibraryCall call("lrand48");
  long number = 0;
  lrand48_r(&numbers_of(call).of_48_bits(), &number);
  return number;
}

long __wrap_mrand48() {
  if (running_process() == nullptr) return __real_mrand48();
  const LibraryCall call("mrand48");
  long number = 0;
  mrand48_r(&numbers_of(call).of_48_bits(), &number);
  return number;
}

double __wrap_drand48() {
  if (running_process() == nullptr) return __real_drand48();
  const LibraryCall call("drand48");
  double number = 0;
  drand48_r(&numbers_of(call).of_48_bits(), &number);
  return number;
}

void __wrap_srand48(long seed) {
  if (running_process() == nullptr) return __real_srand48(seed);
  const LibraryCall call("srand48");
  numbers_of(call).seed_48(seed);
}

ssize_t __wrap_getrandom(void* buffer, std::size_t bytes, unsigned flags) {
  if (running_process() == nullptr) return __real_getrandom(buffer, bytes, flags);
  const LibraryCall call("getrandom");
  fill(call, buffer, bytes);
  return static_cast<ssize_t>(bytes);
}

int __wrap_getentropy(void* buffer, std::size_t bytes) {
  if (running_process() == nullptr) return __real_getentropy(buffer, bytes);
  const LibraryCall call("getentropy");
  constexpr std::size_t most_bytes = 256;
  if (bytes > most_bytes) {
    errno = EIO;
    return -1;
  }
  fill(call, buffer, bytes);
  return 0;
}

}  // extern "C"

// NOLINTEND(readability-identifier-naming)
