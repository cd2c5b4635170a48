// The start and the end of the process. Before main runs, the simulator learns where the program's
// variables are, and gets them at the same addresses: they move into a file that both map. main
// runs on a stack of the heap, which both have mapped as well. So the simulator sees what a pointer
// means that the program passes, and devices reach all that the program registers.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simulated_verbs/unmodified/mailbox.h"
#include "simulated_verbs/unmodified/program_side/connection.h"
#include "simulated_verbs/unmodified/program_side/signals.h"
#include "simulated_verbs/unmodified/program_side/time_stamps.h"
#include "simulated_verbs/unmodified/program_side/waiting_loop.h"

namespace falafel::simulated_verbs {

namespace {

using Main = int (*)(int count, char** arguments, char** environment);

constexpr std::size_t stack_bytes = std::size_t{8} << 20U;
constexpr std::size_t stack_alignment = 64;

// The pages of a part of the program's file.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

Range pages_of(const dl_phdr_info& object, const ElfW(Phdr) & part) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = object.dlpi_addr + part.p_vaddr;
  const std::uint64_t end = begin + part.p_memsz;
  return {begin & ~(page - 1), (end + page - 1) & ~(page - 1)};
}

void share(const Range& range, bool is_writable, std::uint64_t& offset) {
  const std::size_t bytes = range.end - range.begin;
  // An address and not an object: it is what a file of the program describes.
  void* const memory = reinterpret_cast<void*>(range.begin);  // NOLINT(performance-no-int-to-ptr)
  const auto position = static_cast<off_t>(offset);
  void* const copy =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_of_variables(), position);
  if (copy == MAP_FAILED) refuse("mmap of the program's variables");
  std::memcpy(copy, memory, bytes);
  munmap(copy, bytes);
  if (is_writable && mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                          file_of_variables(), position) == MAP_FAILED) {
    refuse("mmap of the program's variables");
  }
  call_simulator(CallNumber::map_data, range.begin, bytes, offset);
  offset += bytes;
}

// The first object is the program itself.
int share_variables(dl_phdr_info* object, std::size_t /*bytes*/, void* /*context*/) {
  std::uint64_t offset = 0;
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = object->dlpi_phdr[index];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) != 0) continue;
    share(pages_of(*object, part), (part.p_flags & PF_W) != 0, offset);
  }
  return 1;
}

char** copy_texts(int count, char** texts) {
  auto** const copies =
      static_cast<char**>(std::calloc(static_cast<std::size_t>(count) + 1, sizeof(char*)));
  for (int index = 0; index < count; ++index) copies[index] = strdup(texts[index]);
  return copies;
}

// makecontext passes no pointers.
struct Start {
  Main main;
  int count;
  char** arguments;
  char** environment;
  int status;
  ucontext_t before;
  ucontext_t within;
} start;

void run_main() { start.status = start.main(start.count, start.arguments, start.environment); }

int run_main_on_heap(int count, char** arguments, char** environment) {
  dl_iterate_phdr(share_variables, nullptr);
  syscall(SYS_close, file_of_variables());
  // Each line leaves at once, because a process that is killed loses what it buffers.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  handle_signals();
  make_time_stamps_fail();
  place_known_breakpoints();
  start.count = count;
  start.arguments = copy_texts(count, arguments);
  int variables = 0;
  while (environment[variables] != nullptr) ++variables;
  start.environment = copy_texts(variables, environment);
  environ = start.environment;
  getcontext(&start.within);
  start.within.uc_stack.ss_sp = std::aligned_alloc(stack_alignment, stack_bytes);
  start.within.uc_stack.ss_size = stack_bytes;
  start.within.uc_link = &start.before;
  makecontext(&start.within, run_main, 0);
  swapcontext(&start.before, &start.within);
  return start.status;
}

// The linker lets it run before the constructors of the program and of all other libraries.
__attribute__((constructor)) void begin() { connect(); }
__attribute__((destructor)) void end() { announce_end(); }

}  // namespace
}  // namespace falafel::simulated_verbs

extern "C" {

using falafel::simulated_verbs::Main;

using StartOfProgram = int (*)(Main main, int count, char** arguments, void (*begin)(),
                               void (*end)(), void (*end_of_loader)(), void* end_of_stack);

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
FALAFEL_EXPORTED int __libc_start_main(Main main, int count, char** arguments, void (*begin)(),
                                       void (*end)(), void (*end_of_loader)(), void* end_of_stack) {
  const auto original = reinterpret_cast<StartOfProgram>(dlsym(RTLD_NEXT, "__libc_start_main"));
  falafel::simulated_verbs::start.main = main;
  return original(falafel::simulated_verbs::run_main_on_heap, count, arguments, begin, end,
                  end_of_loader, end_of_stack);
}

}  // extern "C"
