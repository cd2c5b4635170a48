#include "simulated_verbs/unmodified/served_program.h"

#include <fmt/format.h>

#include <cstring>

#include "simulated_verbs/process.h"
#include "simulated_verbs/program_heap.h"
#include "simulated_verbs/unmodified/call_table.h"
#include "simulated_verbs/unmodified/operations.h"

namespace falafel::simulated_verbs {

namespace {

constexpr int status_of_signals = 128;

ProgramPlace place_of(const Process& process, const std::string& libraries,
                      const ObjectMemory& objects) {
  ProgramHeap& heap = process.heap();
  const auto address = reinterpret_cast<std::uint64_t>(heap.begin());
  return {.libraries = libraries,
          .objects = objects.descriptor(),
          .heap = heap.descriptor(),
          .heap_address = address,
          .heap_bytes = ProgramHeap::size_bytes,
          .number = heap.number()};
}

}  // namespace

// Ends the process when the host crashes, which unwinds its fiber.
class ServedPrograms::Served {
 public:
  Served(ServedPrograms& owner, Process& process, const Executable& executable)
      : owner_(owner),
        process_(process),
        host_(process.host().name()),
        running_(executable, place_of(process, owner.options_.libraries, owner.objects_)) {}
  ~Served() {
    running_.kill();
    owner_.reports_.push_back(
        {.host = host_, .output = running_.output(), .ending = running_.ending().describe()});
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  int serve() {
    while (true) {
      switch (running_.wait_for_call(owner_.options_.patience_seconds)) {
        case ProgramProcess::Event::call: answer_call(); break;
        case ProgramProcess::Event::end: return end();
        case ProgramProcess::Event::silence: return report_silence();
      }
    }
  }

 private:
  void answer_call() {
    Mailbox& call = running_.call();
    if (call.call == CallNumber::map_data) {
      owner_.variables_.push_back(
          std::make_unique<SharedMapping>(running_.data_descriptor_of_simulator(),
                                          call.arguments[2], call.arguments[1], call.arguments[0]));
    } else {
      carry_out(call);
      if (gives_text(call.call)) share_text(call);
      set_operations_of_program(process_, call);
    }
    running_.answer();
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
};

int ServedPrograms::run(const Executable& executable) {
  return Served(*this, *running_process(), executable).serve();
}

}  // namespace falafel::simulated_verbs
