#include "simulated_verbs/unmodified/served_program.h"

#include <fmt/format.h>

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "fabric/assert.h"
#include "fabric/time_units.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/program_heap.h"
#include "simulated_verbs/programs.h"
#include "simulated_verbs/threads.h"
#include "simulated_verbs/unmodified/alarm_of_process.h"
#include "simulated_verbs/unmodified/call_table.h"
#include "simulated_verbs/unmodified/memory_of_process.h"
#include "simulated_verbs/unmodified/operations.h"

namespace falafel::simulated_verbs {

namespace {

constexpr int status_of_signals = 128;
constexpr auto reregistration_failed = static_cast<unsigned>(IBV_REREG_MR_ERR_CMD);
constexpr std::uint64_t most_quick_readings = 16;
// perftest compares two clocks over 0.1 to 2.1 ms, and refuses to report if they differ much.
constexpr std::uint64_t most_reading_us = 100;
constexpr std::uint64_t first_slow_reading = most_quick_readings + 10;
// A program that has read clocks for long reads them without calls, at most this often in a
// row.
constexpr std::uint64_t most_granted_readings = 128;
// It misses what happens meanwhile, so this takes at most a part of the time that it has read for.
constexpr std::uint64_t part_of_granted_readings = 4;

bool reads_clock(CallNumber call) {
  switch (call) {
    case CallNumber::of_clock:
    case CallNumber::of_clock_gettime:
    case CallNumber::of_gettimeofday:
    case CallNumber::of_read_time_stamp:
    case CallNumber::of_time:
    case CallNumber::of_times:
    case CallNumber::of_timespec_get: return true;
    default: return false;
  }
}

ProgramPlace place_of(const Process& process, const ObjectMemory& objects,
                      const WaitingLoops& loops) {
  ProgramHeap& heap = process.heap();
  const auto address = reinterpret_cast<std::uint64_t>(heap.begin());
  return {.objects = objects.descriptor(),
          .heap = heap.descriptor(),
          .heap_address = address,
          .heap_bytes = ProgramHeap::size_bytes,
          .number = heap.number(),
          .loops = loops};
}

}  // namespace

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

// The memory that the call registers, if it does.
std::optional<Range> registered_memory(const Mailbox& call) {
  const auto range = [&](std::size_t first) {
    const std::uint64_t begin = call.arguments[first];
    return Range{.begin = begin, .end = begin + call.arguments[first + 1]};
  };
  switch (call.call) {
    case CallNumber::of_ibv_reg_mr:
    case CallNumber::of_ibv_reg_mr_iova:
    case CallNumber::of_ibv_reg_mr_iova2: return range(1);
    case CallNumber::of_ibv_rereg_mr:
      if ((call.arguments[1] & IBV_REREG_MR_CHANGE_TRANSLATION) == 0) return std::nullopt;
      return range(3);
    default: return std::nullopt;
  }
}

// The process, and the calls of its threads, which fibers of the host carry out.
class ServedPrograms::Served : public std::enable_shared_from_this<Served> {
 public:
  Served(ServedPrograms& owner, Process& process, const Executable& executable)
      : owner_(owner),
        process_(process),
        host_(process.host().name()),
        running_(owner.programs_, executable,
                 place_of(process, owner.objects_, owner.loops_[host_])) {}

  // The thread that runs main, and returns the exit status of the process.
  int serve_main() {
    switch (serve(number_of_main)) {
      case ProgramProcess::Event::call: break;
      case ProgramProcess::Event::end: return end();
      case ProgramProcess::Event::silence: return report_silence();
    }
    FALAFEL_ASSERT(false, "the thread that runs main has ended without its process");
  }

  void end_process() {
    running_.kill();
    owner_.loops_[host_] = running_.loops();
    owner_.reports_.push_back(
        {.host = host_, .output = running_.output(), .ending = running_.ending().describe()});
  }

 private:
  // Carries out the calls of a thread until it ends, which is a call, or until the process does.
  ProgramProcess::Event serve(std::size_t thread) {
    while (true) {
      const auto event = running_.wait_for_call(thread, owner_.options_.patience_seconds);
      if (event != ProgramProcess::Event::call) return event;
      if (running_.call(thread).call == CallNumber::end_thread) return event;
      answer_call(thread);
    }
  }

  void serve_started(std::size_t thread) {
    switch (serve(thread)) {
      case ProgramProcess::Event::call: return;
      case ProgramProcess::Event::silence: report_silence(); return;
      case ProgramProcess::Event::end: break;
    }
    const int status = end();
    if (running_.ending().signal()) return;
    owner_.report_(std::string(exit_status_property),
                   fmt::format("the program of {} ended with status {} in another thread than that "
                               "of main, which is not simulated",
                               host_, status));
  }

  void answer_call(std::size_t thread) {
    Mailbox& call = running_.call(thread);
    let_time_of_readings_pass(call);
    switch (call.call) {
      case CallNumber::map_data: map_data(call); break;
      case CallNumber::set_alarm:
        call.result = alarm_.set(call.arguments[0], process_.host().now_ns());
        break;
      case CallNumber::start_thread: call.result = start_thread(call.arguments[0] != 0); break;
      case CallNumber::begin_thread: break;
      default: carry_out_call(call); break;
    }
    grant_readings(call);
    if (alarm_.take(process_.host().now_ns())) call.signal = SIGALRM;
    running_.answer(thread);
  }

  // A call costs much more than a reading of a clock. So the time passes faster for a program that
  // reads clocks without doing anything else.
  void note_reading(CallNumber call) {
    if (!reads_clock(call)) {
      readings_in_row_ = 0;
      return;
    }
    if (++readings_in_row_ <= most_quick_readings) return;
    const LibraryCall reading("a clock");
    const std::uint64_t number = readings_in_row_ - most_quick_readings;
    const std::uint64_t wait_us = std::min(number * number, most_reading_us);
    reading.host().sleep_until(reading.host().now_ns() + wait_us * fabric::microsecond_ns);
  }

  void grant_readings(Mailbox& call) const {
    if (!reads_clock(call.call) || readings_in_row_ < first_slow_reading) return;
    const std::uint64_t granted =
        std::min(readings_in_row_ / part_of_granted_readings, most_granted_readings);
    call.readings = {.granted = static_cast<std::uint32_t>(granted),
                     .taken = 0,
                     .step_ns = most_reading_us * fabric::microsecond_ns,
                     .now_ns = process_.host().now_ns(),
                     .wall_clock_ns = process_.host().wall_clock_ns()};
  }

  void let_time_of_readings_pass(Mailbox& call) {
    const GrantedReadings readings = std::exchange(call.readings, {});
    if (readings.taken == 0) return;
    readings_in_row_ += readings.taken;
    const LibraryCall reading("a clock");
    reading.host().sleep_until(readings.now_ns + readings.taken * readings.step_ns);
  }

  void carry_out_call(Mailbox& call) {
    note_reading(call.call);
    if (const auto memory = registered_memory(call); memory && !has_memory(*memory)) {
      refuse_registration(call, *memory);
      return;
    }
    const auto unknown = run_with_memory_of(running_.id(), [&call] { carry_out(call); });
    if (unknown) {
      report_unknown(*unknown);
      return;
    }
    if (gives_text(call.call)) share_text(call);
    set_operations_of_program(process_, running_.mailboxes(), call);
  }

  // Devices use registered memory at any time, so the simulator must have it.
  bool has_memory(const Range& memory) const {
    const auto contains = [&](const Range& range) {
      return range.begin <= memory.begin && memory.begin < range.end &&
             memory.end - memory.begin <= range.end - memory.begin;
    };
    const auto heap = reinterpret_cast<std::uint64_t>(process_.heap().begin());
    return contains({.begin = heap, .end = heap + ProgramHeap::size_bytes}) ||
           std::ranges::any_of(variables_, contains);
  }

  void refuse_registration(Mailbox& call, const Range& memory) {
    owner_.report_(
        memory_property,
        fmt::format("the program of {} registers {} bytes at {:#x}, which are neither of "
                    "its heap nor of its stacks and variables; memory of files and of "
                    "shared libraries cannot be registered",
                    host_, memory.end - memory.begin, memory.begin));
    call.result =
        call.call == CallNumber::of_ibv_rereg_mr ? std::uint64_t{reregistration_failed} : 0;
    call.error = EFAULT;
  }

  // A real library would crash, and the program with it.
  void report_unknown(std::uint64_t address) {
    owner_.report_(memory_property,
                   fmt::format("the program of {} has called a function with the address {:#x}, "
                               "where it has no memory",
                               host_, address));
    running_.kill();
  }

  void map_data(const Mailbox& call) {
    variables_.push_back(
        {.begin = call.arguments[0], .end = call.arguments[0] + call.arguments[1]});
    owner_.variables_.push_back(
        std::make_unique<SharedMapping>(running_.data_descriptor_of_simulator(), call.arguments[2],
                                        call.arguments[1], call.arguments[0]));
  }

  std::uint64_t start_thread(bool is_detached) {
    if (threads_ == most_threads - 1) return 0;
    ++threads_;
    return process_.threads()
        .start(is_detached,
               [served = shared_from_this()]() -> void* {
                 served->serve_started(running_thread()->number());
                 return nullptr;
               })
        .number();
  }

  void share_text(Mailbox& call) {
    // The result of a call is a word.
    const auto* const text =
        reinterpret_cast<const char*>(call.result);  // NOLINT(performance-no-int-to-ptr)
    call.result = reinterpret_cast<std::uint64_t>(owner_.objects_.share_text(text));
  }

  int end() {
    const processes::Ending& ending = running_.ending();
    if (const auto signal = ending.signal()) {
      owner_.report_(killed_property, fmt::format("the program of {} {} ({})", host_,
                                                  ending.describe(), strsignal(*signal)));
      return status_of_signals + *signal;
    }
    return *ending.exit_status();
  }

  int report_silence() {
    owner_.report_(silent_property, fmt::format("the program of {} has run for {} s without a call",
                                                host_, owner_.options_.patience_seconds));
    return status_of_signals;
  }

  ServedPrograms& owner_;
  Process& process_;
  std::string host_;
  ProgramProcess running_;
  std::size_t threads_ = number_of_main;
  std::uint64_t readings_in_row_ = 0;
  AlarmOfProcess alarm_;
  std::vector<Range> variables_;
};

// Fibers of other threads may outlast that of main, but not the end of the process.
int ServedPrograms::run(const Executable& executable) {
  const auto served = std::make_shared<Served>(*this, *running_process(), executable);
  struct End {
    ~End() { served.end_process(); }
    Served& served;
  } const end{*served};
  return served->serve_main();
}

}  // namespace falafel::simulated_verbs
