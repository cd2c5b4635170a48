#include "simulated_verbs/program.h"

#include <unistd.h>

#include <utility>

#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/program_copies.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

namespace {

int (*take_main(const std::string& program))(int, char**) {
  const LibraryCall call("Program");
  optind = 0;  // getopt of the C library begins anew
  Process& process = call.process();
  return process.subnet().program_copies().take(program, process.shared_from_this()).entry;
}

}  // namespace

Program::Program(std::string name, std::vector<std::string> arguments)
    : name_(std::move(name)), arguments_(std::move(arguments)) {
  copies_of(name_);
}

int Program::operator()() const {
  std::vector<std::string> words{name_};
  words.insert(words.end(), arguments_.begin(), arguments_.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return take_main(name_)(static_cast<int>(words.size()), pointers.data());
}

}  // namespace falafel::simulated_verbs
