// The copies of programs that falafel_add_program built into this executable. Each process of a run
// gets one, with its variables as they were when the executable started. So all addresses of a
// process are its own, peers reach its static buffers while others run, and nothing is exchanged
// when processes take turns. The executable lies where it was linked to, so these addresses are the
// same in every replay; copies that dlopen loads would be elsewhere each time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace falafel::simulated_verbs {

// An entry of the table that the script program_copies writes.
struct ProgramCopy {
  const char* program;
  int (*entry)(int count, char** arguments);  // its main
  std::byte* begin;                           // of its variables
  std::byte* end;
  std::byte* initial;  // the variables as they were in the beginning; null until they are needed
};

// All copies of that program in this executable. Throws a std::invalid_argument if there is none,
// or if the system loads the executable where it likes.
std::vector<ProgramCopy*> copies_of(std::string_view program);

// The copies that the processes of a run have taken.
class ProgramCopies {
 public:
  // A copy that no process of the run had before. If there is none, a copy whose process is over,
  // although late requests of that one may still concern it. Throws a std::runtime_error if all
  // processes still run.
  ProgramCopy& take(std::string_view program, const std::shared_ptr<const void>& process);

 private:
  struct Taken {
    ProgramCopy* copy;
    std::weak_ptr<const void> process;
  };

  Taken& find_free(std::string_view program);

  std::vector<Taken> taken_;
};

}  // namespace falafel::simulated_verbs
