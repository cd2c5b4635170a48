#include "simulated_verbs/unmodified/program_side/waiting_loop.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "simulated_verbs/unmodified/mailbox.h"
#include "simulated_verbs/unmodified/program_side/connection.h"
#include "simulated_verbs/unmodified/program_side/instructions.h"

namespace falafel::simulated_verbs {

namespace {

constexpr greg_t single_step_flag = 0x100;
constexpr greg_t flags_of_arithmetic = 0xcd5;
constexpr unsigned char breakpoint_instruction = 0xcc;

// The longest loop, in instructions.
constexpr unsigned most_loop_steps = 1'000;
// A breakpoint that was hit 64 times in a row without a loop is only in the way.
constexpr unsigned most_vain_hits = 64;

// The part of the stack that belongs to the state of a loop: the red zone below the top, and what a
// function has above it.
constexpr std::uint64_t red_zone_bytes = 128;
constexpr std::uint64_t frame_bytes = 1'024;

struct State {
  Registers registers;
  unsigned char stack[red_zone_bytes + frame_bytes];
};

enum class Phase : unsigned char {
  free,       // the program runs by itself
  searching,  // step by step, until a state comes back
  checking,   // as searching, from a breakpoint
  following,  // once around the loop that was found
  returning,  // to the first state of the loop, in the order of states
  leaving     // from that state, after a wait
};

// A thread's way through a loop.
struct Breakpoint {
  std::uint64_t address;  // 0: none
  unsigned loop_steps;
  unsigned vain_hits;
  bool is_writable;
  bool is_placed;
  unsigned char replaced;
};

struct Search {
  Phase phase;
  unsigned steps;   // of this phase
  unsigned period;  // of searching: how many steps until `seen` is replaced
  unsigned loop_steps;
  Word calls;              // before this phase
  Breakpoint* breakpoint;  // of checking
  State seen;
  State first;
};

__attribute__((tls_model("initial-exec"))) thread_local Search search;
Breakpoint breakpoints[most_loops];

unsigned char* memory_at(std::uint64_t address) {
  // An address and not an object: instructions are there.
  return reinterpret_cast<unsigned char*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// The page stays writable: it changes often, and making it so is expensive.
bool make_writable(std::uint64_t address) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return mprotect(memory_at(address & ~(page - 1)), page, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

void place(Breakpoint& breakpoint) {
  if (breakpoint.is_placed) return;
  if (!breakpoint.is_writable) breakpoint.is_writable = make_writable(breakpoint.address);
  if (!breakpoint.is_writable) return;
  breakpoint.replaced = *memory_at(breakpoint.address);
  *memory_at(breakpoint.address) = breakpoint_instruction;
  breakpoint.is_placed = true;
}

void lift(Breakpoint& breakpoint) {
  if (breakpoint.is_placed) *memory_at(breakpoint.address) = breakpoint.replaced;
  breakpoint.is_placed = false;
}

Breakpoint* find_breakpoint(std::uint64_t address) {
  for (Breakpoint& breakpoint : breakpoints) {
    if (breakpoint.address == address) return &breakpoint;
  }
  return nullptr;
}

void place_all() {
  for (Breakpoint& breakpoint : breakpoints) {
    if (breakpoint.address != 0 && breakpoint.vain_hits < most_vain_hits) place(breakpoint);
  }
}

// Steps execute the program's own instructions.
void lift_all() {
  for (Breakpoint& breakpoint : breakpoints) lift(breakpoint);
}

void add_breakpoint(std::uint64_t address, unsigned loop_steps) {
  Breakpoint* breakpoint = find_breakpoint(address);
  if (breakpoint == nullptr) {
    breakpoint = find_breakpoint(0);
    if (breakpoint == nullptr) return;
    *breakpoint = {};
    breakpoint->address = address;
  }
  breakpoint->loop_steps = loop_steps;
  breakpoint->vain_hits = 0;
  WaitingLoop& loop = known_loops()[breakpoint - breakpoints];
  loop.address = address;
  loop.steps = loop_steps;
  std::memcpy(&loop.code, memory_at(address), sizeof loop.code);
}

Registers registers_of(const ucontext_t& context) {
  const auto& values = context.uc_mcontext.gregs;
  constexpr int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15};
  Registers registers{};
  for (unsigned number = 0; number < 16; ++number) {
    registers.general[number] = static_cast<std::uint64_t>(values[order[number]]);
  }
  registers.flags = static_cast<std::uint64_t>(values[REG_EFL] & flags_of_arithmetic);
  registers.instruction = static_cast<std::uint64_t>(values[REG_RIP]);
  return registers;
}

std::uint64_t top_of_stack(const Registers& registers) { return registers.general[stack_pointer]; }

State state_of(const Registers& registers) {
  State state{};
  state.registers = registers;
  std::memcpy(state.stack, memory_at(top_of_stack(registers) - red_zone_bytes), sizeof state.stack);
  return state;
}

// States that differ in an instruction or a register need no look at the stack.
bool is_at(const Registers& registers, const State& state) {
  return std::memcmp(&registers, &state.registers, sizeof registers) == 0 &&
         std::memcmp(memory_at(top_of_stack(registers) - red_zone_bytes), state.stack,
                     sizeof state.stack) == 0;
}

bool comes_before(const State& left, const State& right) {
  return std::memcmp(&left, &right, sizeof left) < 0;
}

void begin(Phase phase) {
  search.phase = phase;
  search.steps = 0;
  search.calls = calls_of_thread();
}

void begin_search(const Registers& registers) {
  lift_all();
  begin(Phase::searching);
  search.period = 1;
  search.seen = state_of(registers);
}

void begin_check(const Registers& registers, Breakpoint& breakpoint) {
  lift_all();
  begin(Phase::checking);
  search.breakpoint = &breakpoint;
  search.seen = state_of(registers);
}

void run_freely() {
  begin(Phase::free);
  place_all();
}

// The loop may push, and use what it has pushed.
bool is_harmless(const Registers& registers) {
  return stores_nothing_else(registers, {.begin = top_of_stack(registers) - red_zone_bytes,
                                         .end = top_of_stack(search.seen.registers) + frame_bytes});
}

void follow(const Registers& registers) {
  if (!is_harmless(registers)) return run_freely();
  const State state = state_of(registers);
  if (comes_before(state, search.first)) search.first = state;
}

void begin_following(const Registers& registers, unsigned loop_steps) {
  search.loop_steps = loop_steps;
  search.first = state_of(registers);
  begin(Phase::following);
  follow(registers);
}

// The breakpoints are there for other threads while this one waits.
void wait_at_first_state() {
  add_breakpoint(search.first.registers.instruction, search.loop_steps);
  place_all();
  call_simulator(CallNumber::of_wait_for_change);
  lift_all();
  begin(Phase::leaving);
}

// A state is compared with one before it, which is replaced after 1, 2, 4, ... steps (Brent).
void search_on(const Registers& registers) {
  if (is_at(registers, search.seen)) return begin_following(registers, search.steps);
  if (search.steps >= most_loop_steps) return run_freely();
  if (search.steps < search.period) return;
  search.period *= 2;
  search.steps = 0;
  search.seen = state_of(registers);
}

// The first time around a loop may differ from the others.
void check_on(const Registers& registers) {
  if (is_at(registers, search.seen))
    return begin_following(registers, search.breakpoint->loop_steps);
  if (registers.instruction == search.breakpoint->address) search.seen = state_of(registers);
  if (search.steps <= 2 * search.breakpoint->loop_steps) return;
  ++search.breakpoint->vain_hits;
  run_freely();
}

void make_step(const Registers& registers) {
  ++search.steps;
  switch (search.phase) {
    case Phase::free: break;
    case Phase::searching: return search_on(registers);
    case Phase::checking: return check_on(registers);
    case Phase::following:
      if (search.steps < search.loop_steps) return follow(registers);
      begin(Phase::returning);
      if (is_at(registers, search.first)) wait_at_first_state();
      return;
    case Phase::returning:
    case Phase::leaving:
      if (is_at(registers, search.first)) return wait_at_first_state();
      if (search.steps > search.loop_steps) run_freely();
      return;
  }
}

void set_single_steps(ucontext_t& context) {
  greg_t& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = search.phase == Phase::free ? flags & ~single_step_flag : flags | single_step_flag;
}

struct Wanted {
  std::uint64_t address;
  bool is_code;
};

int look_at_object(dl_phdr_info* object, std::size_t /*bytes*/, void* context) {
  auto& wanted = *static_cast<Wanted*>(context);
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = object->dlpi_phdr[index];
    const std::uint64_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uint64_t end = begin + part.p_memsz;
    if (begin <= wanted.address && wanted.address + sizeof(std::uint64_t) <= end) {
      wanted.is_code = true;
    }
  }
  return wanted.is_code ? 1 : 0;
}

}  // namespace

void place_known_breakpoints() {
  for (unsigned index = 0; index < most_loops; ++index) {
    const WaitingLoop& loop = known_loops()[index];
    Wanted wanted{.address = loop.address, .is_code = false};
    if (loop.address != 0) dl_iterate_phdr(look_at_object, &wanted);
    if (!wanted.is_code) continue;
    if (std::memcmp(memory_at(loop.address), &loop.code, sizeof loop.code) != 0) continue;
    breakpoints[index].address = loop.address;
    breakpoints[index].loop_steps = loop.steps;
  }
  place_all();
}

void look_for_loop(ucontext_t& context) {
  if (is_within_call() || search.phase != Phase::free) return;
  begin_search(registers_of(context));
  set_single_steps(context);
}

bool note_trap(ucontext_t& context) {
  greg_t& instruction = context.uc_mcontext.gregs[REG_RIP];
  const bool is_step = (context.uc_mcontext.gregs[REG_EFL] & single_step_flag) != 0;
  if (search.phase == Phase::free) {
    Breakpoint* const hit = find_breakpoint(static_cast<std::uint64_t>(instruction) - 1);
    if (hit == nullptr && !is_step) return false;
    if (hit != nullptr && hit->is_placed) {
      --instruction;
      begin_check(registers_of(context), *hit);
    }
  } else if (is_within_call() || calls_of_thread() != search.calls) {
    run_freely();
  } else {
    make_step(registers_of(context));
  }
  set_single_steps(context);
  return true;
}

}  // namespace falafel::simulated_verbs
