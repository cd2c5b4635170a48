// A program of the system as the program of a simulated host: starts its process, and carries out
// its calls.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulated_verbs/unmodified/executable.h"
#include "simulated_verbs/unmodified/loaded_program.h"
#include "simulated_verbs/unmodified/object_memory.h"
#include "simulated_verbs/unmodified/program_process.h"

namespace falafel::simulated_verbs {

// The process of a host, when a run is over.
struct ProgramReport {
  std::string host;
  std::string output;
  std::string ending;  // "exited with status 0"
};

struct ServingOptions {
  double patience_seconds = 10;  // with a process that makes no call
};

// The loops in which programs wait without a call, by host. Known ones cost less, and change
// nothing else. Programs of later runs are at the same addresses.
using LoopsOfHosts = std::map<std::string, WaitingLoops>;

// A violation that ends the run: a property and an explanation.
using ReportViolation = std::function<void(std::string property, std::string explanation)>;

class ServedPrograms {
 public:
  // `objects`, `programs` and `loops` outlive it, and it outlives the run, because peers may still
  // write to the memory of processes that have ended.
  ServedPrograms(const ServingOptions& options, ObjectMemory& objects, LoadedPrograms& programs,
                 LoopsOfHosts& loops, ReportViolation report)
      : options_(options),
        objects_(objects),
        programs_(programs),
        loops_(loops),
        report_(std::move(report)) {}

  // Runs the program as the process of the calling host, and returns its exit status; 128 and more
  // if it ended otherwise.
  int run(const Executable& executable);

  const std::vector<ProgramReport>& reports() const { return reports_; }

 private:
  class Served;

  ServingOptions options_;
  ObjectMemory& objects_;
  LoadedPrograms& programs_;
  LoopsOfHosts& loops_;
  ReportViolation report_;
  std::vector<std::unique_ptr<SharedMapping>> variables_;
  std::vector<ProgramReport> reports_;
};

inline constexpr const char* killed_property = "verbs.killed";
inline constexpr const char* memory_property = "verbs.unknown-memory";
inline constexpr const char* silent_property = "verbs.silent";

}  // namespace falafel::simulated_verbs
