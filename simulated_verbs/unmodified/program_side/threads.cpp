// The C library's functions that start and end threads. A thread of the program is a thread of the
// system that only runs when the simulator lets it. Its stack is memory of the heap, which the
// simulator has mapped, too.
//
// The thread ends for the simulator when the destructors of its values have run. The program sees
// nothing of what the C library does after that. The next thread that joins it, or starts another
// one, joins the system's thread. So a stack is free at the same time in each run.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "simulated_verbs/unmodified/program_side/connection.h"

namespace falafel::simulated_verbs {

namespace {

using Function = void* (*)(void*);

constexpr std::size_t usual_stack_bytes = std::size_t{8} << 20U;

struct Thread {
  Word number;  // that the simulator has given it
  pthread_t id;
  Function function;
  void* argument;
  void* stack;  // null if it is the program's
  std::size_t stack_bytes;
  int rounds_of_destructors;
  bool is_detached;
  bool is_over;
  Thread* next;
};

struct FreeStack {
  std::size_t bytes;
  FreeStack* next;
};

// A thread runs alone until its next call, so these need no lock.
Thread* threads = nullptr;
FreeStack* free_stacks = nullptr;
pthread_key_t key_of_thread = 0;
bool has_key = false;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

// The lowest page is a guard. The end of the stack has the record of a free one.
FreeStack* record_of(void* stack, std::size_t bytes) {
  return reinterpret_cast<FreeStack*>(static_cast<std::byte*>(stack) + bytes - sizeof(FreeStack));
}

void* take_stack(std::size_t bytes) {
  for (FreeStack** place = &free_stacks; *place != nullptr; place = &(*place)->next) {
    FreeStack* const found = *place;
    if (found->bytes != bytes) continue;
    *place = found->next;
    return reinterpret_cast<std::byte*>(found + 1) - bytes;
  }
  void* const stack = std::aligned_alloc(page_bytes(), bytes);
  if (stack != nullptr) mprotect(stack, page_bytes(), PROT_NONE);
  return stack;
}

void give_stack_back(void* stack, std::size_t bytes) {
  FreeStack* const record = record_of(stack, bytes);
  *record = {.bytes = bytes, .next = free_stacks};
  free_stacks = record;
}

// The destructors of all values run before: those that set values again have had their rounds.
void end_in_last_round(void* value) {
  auto* const thread = static_cast<Thread*>(value);
  if (++thread->rounds_of_destructors < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(key_of_thread, thread);
    return;
  }
  thread->is_over = true;
  end_thread();
}

void* run_thread(void* value) {
  auto* const thread = static_cast<Thread*>(value);
  begin_thread(thread->number);
  pthread_setspecific(key_of_thread, thread);
  return thread->function(thread->argument);
}

Thread* find_thread(pthread_t id) {
  for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
    if (thread->id == id) return thread;
  }
  return nullptr;
}

void* join_system(Thread* thread) {
  using Join = int (*)(pthread_t, void**);
  static const auto join = reinterpret_cast<Join>(dlsym(RTLD_NEXT, "pthread_join"));
  void* result = nullptr;
  join(thread->id, &result);
  Thread** place = &threads;
  while (*place != thread) place = &(*place)->next;
  *place = thread->next;
  if (thread->stack != nullptr) give_stack_back(thread->stack, thread->stack_bytes);
  std::free(thread);
  return result;
}

void join_detached_threads() {
  for (Thread* thread = threads; thread != nullptr;) {
    Thread* const next = thread->next;
    if (thread->is_detached && thread->is_over) join_system(thread);
    thread = next;
  }
}

// Chooses the stack that the attributes ask for.
bool choose_stack(const pthread_attr_t* wanted, Thread& thread, pthread_attr_t& attributes) {
  void* stack = nullptr;
  std::size_t bytes = 0;
  if (wanted != nullptr) {
    pthread_attr_getstack(wanted, &stack, &bytes);
    // The C library computes the address from the size, even if nobody has set any.
    if (reinterpret_cast<std::uintptr_t>(stack) + bytes == 0) stack = nullptr;
    if (stack != nullptr) return pthread_attr_setstack(&attributes, stack, bytes) == 0;
    pthread_attr_getstacksize(wanted, &bytes);
  }
  const std::size_t page = page_bytes();
  thread.stack_bytes = (std::max(bytes, usual_stack_bytes) + page - 1) / page * page;
  thread.stack = take_stack(thread.stack_bytes);
  if (thread.stack == nullptr) return false;
  return pthread_attr_setstack(&attributes, static_cast<std::byte*>(thread.stack) + page,
                               thread.stack_bytes - page) == 0;
}

bool start_system(Thread* thread, const pthread_attr_t* wanted) {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, Function, void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const bool is_started = choose_stack(wanted, *thread, attributes) &&
                          create(&thread->id, &attributes, run_thread, thread) == 0;
  pthread_attr_destroy(&attributes);
  return is_started;
}

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

int join_by(CallNumber call, pthread_t id, void** result) {
  Thread* const thread = find_thread(id);
  // The thread of main has no record.
  if (thread == nullptr) return id == pthread_self() ? EDEADLK : ESRCH;
  const auto error = static_cast<int>(call_simulator(call, thread->number));
  if (error != 0) return error;
  void* const value = join_system(thread);
  if (result != nullptr) *result = value;
  return 0;
}

}  // namespace
}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

FALAFEL_EXPORTED int pthread_create(pthread_t* id, const pthread_attr_t* attributes,
                                    Function function, void* argument) {
  if (!has_key) has_key = pthread_key_create(&key_of_thread, end_in_last_round) == 0;
  join_detached_threads();
  auto* const thread = static_cast<Thread*>(std::calloc(1, sizeof(Thread)));
  if (thread == nullptr) return EAGAIN;
  thread->function = function;
  thread->argument = argument;
  thread->is_detached = is_detached(attributes);
  thread->number = call_simulator(CallNumber::start_thread, thread->is_detached ? 1 : 0);
  if (thread->number == 0) {
    std::free(thread);
    return EAGAIN;
  }
  if (!start_system(thread, attributes)) refuse("pthread_create without memory for the stack");
  thread->next = threads;
  threads = thread;
  *id = thread->id;
  call_simulator(CallNumber::of_let_others_go_on);
  return 0;
}

FALAFEL_EXPORTED int pthread_join(pthread_t id, void** result) {
  return join_by(CallNumber::of_join_thread, id, result);
}

FALAFEL_EXPORTED int pthread_tryjoin_np(pthread_t id, void** result) {
  return join_by(CallNumber::of_try_join_thread, id, result);
}

FALAFEL_EXPORTED int pthread_detach(pthread_t id) {
  Thread* const thread = find_thread(id);
  if (thread == nullptr) return ESRCH;
  const auto error = static_cast<int>(call_simulator(CallNumber::of_detach_thread, thread->number));
  if (error == 0) thread->is_detached = true;
  return error;
}

FALAFEL_EXPORTED int pthread_once(pthread_once_t* control, void (*function)()) {
  const auto control_word = reinterpret_cast<Word>(control);
  if (call_simulator(CallNumber::of_begin_once, control_word) == 0) return 0;
  function();
  call_simulator(CallNumber::of_end_once, control_word);
  return 0;
}

// The C library unwinds to where it has started the thread, which is on another stack for main.
FALAFEL_EXPORTED void pthread_exit(void* result) {
  if (find_thread(pthread_self()) == nullptr) refuse("pthread_exit in the thread of main");
  using Exit = void (*)(void*);
  reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "pthread_exit"))(result);
  __builtin_unreachable();
}

}  // extern "C"
