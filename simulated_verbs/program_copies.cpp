#include "simulated_verbs/program_copies.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

// The linker gives the names.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)

// The table, and the beginning of the executable.
extern "C" {
__attribute__((weak)) extern falafel::simulated_verbs::ProgramCopy __start_falafel_programs;
__attribute__((weak)) extern falafel::simulated_verbs::ProgramCopy __stop_falafel_programs;
extern const ElfW(Ehdr) __ehdr_start;
}

namespace falafel::simulated_verbs {

namespace {

std::span<ProgramCopy> all_copies() {
  ProgramCopy* const begin = &__start_falafel_programs;
  if (begin == nullptr) return {};
  return {begin, &__stop_falafel_programs};
}

void restore(ProgramCopy& copy) {
  const std::size_t bytes = static_cast<std::size_t>(copy.end - copy.begin);
  if (bytes == 0) return;
  if (copy.initial == nullptr) {
    copy.initial = std::make_unique_for_overwrite<std::byte[]>(bytes).release();
    std::memcpy(copy.initial, copy.begin, bytes);
  } else {
    std::memcpy(copy.begin, copy.initial, bytes);
  }
}

}  // namespace

std::vector<ProgramCopy*> copies_of(std::string_view program) {
  std::vector<ProgramCopy*> copies;
  for (ProgramCopy& copy : all_copies()) {
    if (copy.program == program) copies.push_back(&copy);
  }
  if (copies.empty()) {
    throw std::invalid_argument(fmt::format(
        "there is no program '{}' in this executable; link what falafel_add_program built",
        program));
  }
  if (__ehdr_start.e_type != ET_EXEC) {
    throw std::invalid_argument(
        fmt::format("the variables of '{}' would have other addresses in each replay; link this "
                    "executable with -no-pie",
                    program));
  }
  return copies;
}

ProgramCopies::Taken& ProgramCopies::find_free(std::string_view program) {
  const std::vector<ProgramCopy*> copies = copies_of(program);
  for (ProgramCopy* const copy : copies) {
    if (std::ranges::find(taken_, copy, &Taken::copy) == taken_.end()) {
      return taken_.emplace_back(copy);
    }
  }
  for (Taken& taken : taken_) {
    if (taken.copy->program == program && taken.process.expired()) return taken;
  }
  throw std::runtime_error(
      fmt::format("program '{}' has {} copies, and each is a process of this run; build more of "
                  "them (COPIES)",
                  program, copies.size()));
}

ProgramCopy& ProgramCopies::take(std::string_view program,
                                 const std::shared_ptr<const void>& process) {
  Taken& taken = find_free(program);
  taken.process = process;
  restore(*taken.copy);
  return *taken.copy;
}

}  // namespace falafel::simulated_verbs

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
