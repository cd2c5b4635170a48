// Tells the mutants of a build (tools/mutants) which of them is on. Each file with a mutant
// includes this one first. The environment names the mutant, and a file in which each mutant that
// the program reaches sets its byte, also if a child process reaches it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace falafel_mutants {

inline constexpr int largest_number = 4095;

class Switch {
 public:
  Switch() {
    if (const char* number = std::getenv("FALAFEL_MUTANT")) number_ = std::atoi(number);
    if (const char* path = std::getenv("FALAFEL_MUTANTS_REACHED")) map(path);
  }

  bool is_on(int number) {
    if (reached_[number] == 0) reached_[number] = 1;
    return number == number_;
  }

 private:
  void map(const char* path) {
    const int file = ::open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* bytes = ::mmap(nullptr, largest_number + 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    if (bytes != MAP_FAILED) reached_ = static_cast<unsigned char*>(bytes);
  }

  int number_ = 0;
  std::array<unsigned char, largest_number + 1> unnamed_file_{};
  unsigned char* reached_ = unnamed_file_.data();
};

inline Switch mutant_switch;

inline bool is_on(int number) { return mutant_switch.is_on(number); }

}  // namespace falafel_mutants
