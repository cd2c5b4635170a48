// A program that falafel_add_program built, as a host of a run. It starts at main, with these
// arguments behind its name. Each process has variables of its own, which have their initial values
// in each run, and after each restart.
//
//   programs.client("first", Program("chain", {"-n1", "-l"}));
//   programs.client("second", Program("chain", {"-n2", "-l", "first"}));
#pragma once

#include <string>
#include <vector>

namespace falafel::simulated_verbs {

class Program {
 public:
  // Throws a std::invalid_argument if the executable has no such program.
  explicit Program(std::string name, std::vector<std::string> arguments = {});

  // Runs it as the process of the calling host, and returns its exit status.
  int operator()() const;

 private:
  std::string name_;
  std::vector<std::string> arguments_;
};

}  // namespace falafel::simulated_verbs
