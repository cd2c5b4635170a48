#include "explorer/crash_stack.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <sstream>
#include <string_view>

#include "fabric/assert.h"

namespace falafel::explorer {
namespace {

constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
// The handler itself, and what the system puts between it and the function that it interrupted.
constexpr std::size_t frames_of_handler = 2;
// The look-up of frames needs more than MINSIGSTKSZ.
constexpr std::size_t signal_stack_bytes = 64 * 1024;

// A signal handler has no argument for them.
std::atomic<const void**> frames_of_process = nullptr;
std::array<struct sigaction, crash_signals.size()> former_actions;

void run_former_action(int signal, siginfo_t* info, void* context) {
  const auto place = std::ranges::find(crash_signals, signal) - crash_signals.begin();
  const struct sigaction& former = former_actions[static_cast<std::size_t>(place)];
  if ((former.sa_flags & SA_SIGINFO) != 0) return former.sa_sigaction(signal, info, context);
  // Returning repeats the fault, or abort() goes on.
  std::signal(signal, SIG_DFL);
}

// If a former action calls abort(), the first stack counts.
void write_stack(int signal, siginfo_t* info, void* context) {
  if (const void** const frames = frames_of_process.exchange(nullptr); frames != nullptr) {
    std::array<void*, most_stack_frames> found{};
    const auto count = static_cast<std::size_t>(::backtrace(found.data(), most_stack_frames));
    for (std::size_t frame = frames_of_handler; frame < count; ++frame) {
      frames[frame - frames_of_handler] = found[frame];
    }
  }
  run_former_action(signal, info, context);
}

// The address of the instruction as the executable's file has it, or nullopt if it is in a library.
std::optional<std::uintptr_t> address_in_executable(const void* instruction) {
  Dl_info info{};
  link_map* module = nullptr;
  const int found =
      ::dladdr1(instruction, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP);
  const bool is_executable = found != 0 && module != nullptr && module->l_name[0] == '\0';
  if (!is_executable) return std::nullopt;
  return reinterpret_cast<std::uintptr_t>(instruction) - module->l_addr;
}

// Starts addr2line, which is installed wherever programs are compiled. Empty if it is not.
std::string output_of_addr2line(const std::string& addresses) {
  const std::string command =
      fmt::format("addr2line -e /proc/{}/exe -f -C -p{} 2>/dev/null", ::getpid(), addresses);
  std::string text;
  FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) return text;
  std::array<char, 4096> part{};
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), output)) {
    text.append(part.data(), count);
  }
  ::pclose(output);
  return text;
}

}  // namespace

CrashStack::CrashStack(std::span<const void*, most_stack_frames> frames)
    : signal_stack_(std::make_unique<std::byte[]>(signal_stack_bytes)) {
  frames_of_process = frames.data();
  stack_t stack{};
  stack.ss_sp = signal_stack_.get();
  stack.ss_size = signal_stack_bytes;
  ::sigaltstack(&stack, nullptr);
  // The first look-up loads a library, which a handler must not do.
  void* own_frame = nullptr;
  ::backtrace(&own_frame, 1);
  struct sigaction action {};
  action.sa_sigaction = write_stack;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    const int failed = ::sigaction(crash_signals[index], &action, &former_actions[index]);
    FALAFEL_ASSERT(failed == 0, "no handler for signal {}", crash_signals[index]);
  }
}

CrashStack::~CrashStack() {
  frames_of_process = nullptr;
  for (std::size_t index = 0; index < crash_signals.size(); ++index) {
    ::sigaction(crash_signals[index], &former_actions[index], nullptr);
  }
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  ::sigaltstack(&stack, nullptr);
}

// A frame has the address behind its call, and the innermost one that of the fault.
std::string describe_stack(const std::vector<const void*>& frames) {
  constexpr std::string_view nowhere = " at ??:?";
  std::string addresses;
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    const auto address = address_in_executable(frames[frame]);
    if (address) addresses += fmt::format(" {:#x}", *address - (frame == 0 ? 0 : 1));
  }
  if (addresses.empty()) return "";
  std::istringstream lines(output_of_addr2line(addresses));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("falafel::sim::Fiber::")) break;  // the simulator called the program
    if (line.ends_with(nowhere)) line.resize(line.size() - nowhere.size());
    text += fmt::format("  in {}\n", line);
  }
  return text;
}

}  // namespace falafel::explorer
