// A process of the system that runs a program with this folder's library in place of libibverbs.
// One of its threads runs only while wait_for_call() waits for the next call of that thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "processes/child_process.h"
#include "simulated_verbs/unmodified/executable.h"
#include "simulated_verbs/unmodified/loaded_program.h"
#include "simulated_verbs/unmodified/mailbox.h"
#include "simulated_verbs/unmodified/shared_file.h"

namespace falafel::simulated_verbs {

using WaitingLoops = std::array<WaitingLoop, most_loops>;

struct ProgramPlace {
  int objects = -1;  // descriptors of the memory that the process maps
  int heap = -1;
  std::uint64_t heap_address = 0;
  std::uint64_t heap_bytes = 0;
  std::uint64_t number = 0;  // for LoadedPrograms
  WaitingLoops loops{};      // that its program is known to have
};

class ProgramProcess {
 public:
  // Throws a std::system_error if the system refuses to start it.
  ProgramProcess(LoadedPrograms& programs, const Executable& executable, const ProgramPlace& place);
  // Kills it if it still runs.
  ~ProgramProcess();
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;

  enum class Event : std::uint8_t { call, end, silence };
  // Lets the thread run until it makes a call or the process ends. Silence: neither for that time.
  Event wait_for_call(std::size_t thread, double patience_seconds);
  Mailboxes& mailboxes() { return *static_cast<Mailboxes*>(mapping_.begin()); }
  WaitingLoops loops() { return std::to_array(mailboxes().loops); }
  // The call that the thread waits for; answer() lets it see the result.
  Mailbox& call(std::size_t thread) { return mailboxes().of_threads[thread]; }
  void answer(std::size_t thread) { give_turn(call(thread), Turn::of_program); }

  pid_t id() const { return id_; }
  int data_descriptor_of_simulator() const { return data_.descriptor(); }
  // After its end.
  const processes::Ending& ending() const { return *ending_; }
  void kill();
  // All that it has written to its standard output and error so far.
  std::string output() const { return output_.text(); }

 private:
  bool has_ended(int options);
  // Asks the thread to look for a loop, now and then while it computes.
  void watch(std::size_t thread, std::uint64_t look);

  SharedFile mailbox_;
  SharedFile data_;
  SharedFile output_;
  SharedMapping mapping_;
  pid_t id_ = 0;
  std::uint64_t computed_ns_ = 0;  // when the thread was found silent
  std::optional<processes::Ending> ending_;
};

}  // namespace falafel::simulated_verbs
