// A program's process asks the simulator here for the calls that it makes, in memory that both have
// mapped. Each of its threads has a mailbox. They take turns: while a thread runs, the simulator
// and all other threads wait. So all that the program does happens within the step in which the
// simulator lets it run.
//
// Objects, heap, stack and variables of the program are at the same addresses on both sides, so
// arguments and results are the plain words of a call.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <initializer_list>

#include "simulated_verbs/unmodified/calls.h"

namespace falafel::simulated_verbs {

enum class Turn : std::uint32_t { of_program, of_simulator };

inline constexpr std::size_t most_arguments = 6;
#define FALAFEL_NAME(name, ...) #name,
inline constexpr std::size_t operation_count =
    std::initializer_list<const char*>{FALAFEL_OPERATION_CALLS(FALAFEL_NAME) FALAFEL_QUEUE_CALLS(
                                           FALAFEL_NAME) FALAFEL_BATCH_CALLS(FALAFEL_NAME)}
        .size();
#undef FALAFEL_NAME

// Threads that a process can start.
inline constexpr std::size_t most_threads = 4'096;

// Readings of clocks that a thread answers itself, because it does nothing but read clocks: each
// takes the same time. The simulator lets the time pass before the next call of the thread.
struct GrantedReadings {
  std::uint32_t granted;
  std::uint32_t taken;
  std::uint64_t step_ns;
  std::uint64_t now_ns;         // before the first of them
  std::uint64_t wall_clock_ns;  // at the same time
};

struct alignas(64) Mailbox {
  std::atomic<Turn> turn;  // zero: the program runs
  CallNumber call;
  std::int32_t error;      // errno before the call, and after it
  std::int32_t thread_id;  // of the system
  std::int32_t signal;     // that the program gets after the call; 0: none
  std::uint64_t arguments[most_arguments];
  std::uint64_t result;
  GrantedReadings readings;
};

// A loop in which programs wait without a call (program_side/waiting_loop.h).
struct WaitingLoop {
  std::uint64_t address;  // 0: none
  std::uint64_t code;     // what is there
  std::uint32_t steps;    // instructions
};
inline constexpr std::size_t most_loops = 16;
// Asks a thread to look for one. No program uses this signal: it is for processors of another time.
inline constexpr int loop_signal = 16;  // SIGSTKFLT

struct Mailboxes {
  // Before the process starts: where its heap is to be mapped.
  std::uint64_t heap_address;
  std::uint64_t heap_bytes;
  // From its first call on: where it has the functions of FALAFEL_OPERATION_CALLS and the two lists
  // after it, in their order.
  std::uint64_t operations[operation_count];
  // Before the process starts: those that earlier ones have found. It adds its own.
  WaitingLoop loops[most_loops];
  std::uint32_t handles_signals;  // 1 as soon as it does
  // By the number of the thread. The first one runs main; number 0 is none.
  Mailbox of_threads[most_threads];
};

inline constexpr std::size_t number_of_main = 1;

// The addresses at which a process maps its files.
inline constexpr std::uint64_t mailbox_address = 0x1d00'0000'0000;
inline constexpr std::uint64_t objects_address = 0x1e00'0000'0000;
inline constexpr std::size_t objects_bytes = std::size_t{1} << 30U;
inline constexpr std::size_t data_bytes = std::size_t{1} << 30U;

// Gives the turn to the other side.
inline void give_turn(Mailbox& mailbox, Turn next) {
  mailbox.turn.store(next, std::memory_order_release);
  syscall(SYS_futex, &mailbox.turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

// Waits for the turn, but not longer than the time-out. Null: as long as it takes.
inline bool wait_for_turn(Mailbox& mailbox, Turn wanted, const timespec* timeout) {
  const Turn other = wanted == Turn::of_program ? Turn::of_simulator : Turn::of_program;
  if (mailbox.turn.load(std::memory_order_acquire) != other) return true;
  syscall(SYS_futex, &mailbox.turn, FUTEX_WAIT, other, timeout, nullptr, 0);
  return mailbox.turn.load(std::memory_order_acquire) != other;
}

}  // namespace falafel::simulated_verbs
