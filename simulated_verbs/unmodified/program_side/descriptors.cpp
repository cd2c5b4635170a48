// The C library's functions of descriptors. Those with a small number are the system's. This file
// includes no header that declares them.
#include <sys/syscall.h>

#include "simulated_verbs/unmodified/calls.h"
#include "simulated_verbs/unmodified/program_side/connection.h"

namespace falafel::simulated_verbs {

namespace {

// Sockets::first_descriptor.
constexpr int first_descriptor = 1'000'000;

bool is_simulated(Word descriptor) { return static_cast<int>(descriptor) >= first_descriptor; }

// As poll.h and <sys/epoll.h> have them; these headers would declare the functions.
struct Polled {
  int descriptor;
  short events;
  short reported;
};

bool has_real_ones(const Polled* polled, Word count) {
  for (Word index = 0; index < count; ++index) {
    const int descriptor = polled[index].descriptor;
    if (descriptor >= 0 && !is_simulated(static_cast<Word>(descriptor))) return true;
  }
  return false;
}

}  // namespace
}  // namespace falafel::simulated_verbs

using falafel::simulated_verbs::call_simulator;
using falafel::simulated_verbs::CallNumber;
using falafel::simulated_verbs::is_simulated;
using falafel::simulated_verbs::refuse;
using falafel::simulated_verbs::system_call;
using falafel::simulated_verbs::Word;

extern "C" {

#define FALAFEL_PASS_ON(name, function, number)                                                    \
  FALAFEL_EXPORTED Word name(Word descriptor, Word second, Word third, Word fourth, Word fifth,    \
                             Word sixth) {                                                         \
    if (!is_simulated(descriptor)) {                                                               \
      return static_cast<Word>(                                                                    \
          system_call(number, descriptor, second, third, fourth, fifth, sixth));                   \
    }                                                                                              \
    return call_simulator(CallNumber::of_##name, descriptor, second, third, fourth, fifth, sixth); \
  }

FALAFEL_DESCRIPTOR_CALLS(FALAFEL_PASS_ON)

FALAFEL_EXPORTED Word recv(Word descriptor, Word buffer, Word bytes, Word flags) {
  if (is_simulated(descriptor)) {
    return call_simulator(CallNumber::of_recv, descriptor, buffer, bytes, flags);
  }
  return static_cast<Word>(system_call(SYS_recvfrom, descriptor, buffer, bytes, flags, 0, 0));
}

FALAFEL_EXPORTED Word send(Word descriptor, Word data, Word bytes, Word flags) {
  if (is_simulated(descriptor)) {
    return call_simulator(CallNumber::of_send, descriptor, data, bytes, flags);
  }
  return static_cast<Word>(system_call(SYS_sendto, descriptor, data, bytes, flags, 0, 0));
}

FALAFEL_EXPORTED Word epoll_wait(Word descriptor, Word events, Word most, Word timeout_ms) {
  if (!is_simulated(descriptor)) refuse("epoll_wait for descriptors of the system");
  return call_simulator(CallNumber::of_epoll_wait, descriptor, events, most, timeout_ms);
}

FALAFEL_EXPORTED Word poll(falafel::simulated_verbs::Polled* polled, Word count, Word timeout_ms) {
  if (has_real_ones(polled, count)) refuse("poll for descriptors of the system");
  return call_simulator(CallNumber::of_poll, reinterpret_cast<Word>(polled), count, timeout_ms);
}

FALAFEL_EXPORTED double drand48() {
  const Word bits = call_simulator(CallNumber::of_drand48);
  return __builtin_bit_cast(double, bits);
}

}  // extern "C"
