// A process that has loaded a program and waits to be started. A copy of it costs much less than to
// load the program anew.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "simulated_verbs/unmodified/control_socket.h"
#include "simulated_verbs/unmodified/executable.h"
#include "simulated_verbs/unmodified/shared_file.h"
#include "simulated_verbs/unmodified/start_request.h"

namespace falafel::simulated_verbs {

class LoadedProgram {
 public:
  // `libraries`: the folder of libibverbs.so.1. Processes of a run have different numbers, and so
  // their programs are at different addresses. Throws a std::system_error if the system refuses.
  LoadedProgram(const Executable& executable, const std::string& libraries, std::uint64_t number);
  // Kills the process if it waits.
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  // Starts a process with these files, which is a child of this one, and returns its number. It is
  // a copy, or the process itself if that is wanted or if the system refuses to copy it. If the
  // program could not be loaded, it is the process that has tried, and has ended.
  pid_t start(StartRequest wanted, const StartFiles& files);

  // False once the process itself has gone on or has ended, and in children of the process that
  // made this object.
  bool is_waiting() const;
  // The error with which the system has refused to copy the process.
  std::optional<int> refusal() const { return refusal_; }

 private:
  void spawn(const Executable& executable, const std::string& libraries, std::uint64_t number);
  bool is_loaded();
  bool copy(const StartFiles& files, pid_t& id);

  SharedFile output_;  // of loading
  ControlSocket control_;
  pid_t owner_;
  pid_t id_ = 0;  // 0: goes on or has ended
  bool is_loaded_ = false;
  std::optional<int> refusal_;
};

// The programs of all runs, by the numbers of their processes.
class LoadedPrograms {
 public:
  // `loads_anew`: each process loads its program.
  LoadedPrograms(std::string libraries, bool loads_anew)
      : libraries_(std::move(libraries)), loads_anew_(loads_anew) {}

  // A process of that number, which always has the same program.
  pid_t start(const Executable& executable, std::uint64_t number, const StartFiles& files);

 private:
  std::string libraries_;
  bool loads_anew_;
  std::map<std::uint64_t, std::unique_ptr<LoadedProgram>> programs_;
};

}  // namespace falafel::simulated_verbs
