// Fibers switch during calls, so there may be several. The one that a fault belongs to is found by
// its stack: its frame is the nearest one above the place where the fault happened.
#include "simulated_verbs/unmodified/memory_of_process.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <vector>

#include "simulated_verbs/unmodified/cheap_switches.h"

namespace falafel::simulated_verbs {

namespace {

constexpr std::uint64_t page_bytes = 4'096;
constexpr std::size_t most_pages = 64;

void* pointer_to(std::uint64_t address) {
  // An address and not an object: another process has something there.
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

class CallInProgress;
// The handler of a signal has no argument that leads to it.
thread_local std::vector<CallInProgress*> calls_in_progress;

class CallInProgress {
 public:
  CallInProgress(pid_t process, std::uint64_t frame) : process_(process), frame_(frame) {
    calls_in_progress.push_back(this);
  }
  ~CallInProgress() {
    for (std::size_t index = 0; index < page_count_; ++index) {
      munmap(pointer_to(pages_[index].address), page_bytes);
      munmap(pages_[index].before, page_bytes);
    }
    std::erase(calls_in_progress, this);
  }
  CallInProgress(const CallInProgress&) = delete;
  CallInProgress& operator=(const CallInProgress&) = delete;

  std::uint64_t frame() const { return frame_; }
  sigjmp_buf& end() { return end_; }
  std::uint64_t unknown_address() const { return unknown_address_; }

  // For the handler: makes the page accessible. False: the process does not have it.
  bool take_page(std::uint64_t address) {
    unknown_address_ = address;
    const std::uint64_t page = address & ~(page_bytes - 1);
    if (page_count_ == most_pages) return false;
    constexpr int access = PROT_READ | PROT_WRITE;
    constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void* const before = mmap(nullptr, page_bytes, access, kind, -1, 0);
    if (before == MAP_FAILED) return false;
    if (!transfer(process_vm_readv, before, page, page_bytes) ||
        mmap(pointer_to(page), page_bytes, access, kind | MAP_FIXED_NOREPLACE, -1, 0) ==
            MAP_FAILED) {
      munmap(before, page_bytes);
      return false;
    }
    std::memcpy(pointer_to(page), before, page_bytes);
    pages_[page_count_++] = {.address = page, .before = static_cast<std::byte*>(before)};
    return true;
  }

  // Only bytes that have changed: other threads may have changed others.
  void give_changes_back() {
    for (std::size_t index = 0; index < page_count_; ++index) {
      const Page& page = pages_[index];
      auto* const now = static_cast<std::byte*>(pointer_to(page.address));
      for (std::size_t begin = 0; begin < page_bytes; ++begin) {
        std::size_t end = begin;
        while (end < page_bytes && now[end] != page.before[end]) ++end;
        if (end > begin)
          transfer(process_vm_writev, now + begin, page.address + begin, end - begin);
        begin = end;
      }
    }
  }

 private:
  struct Page {
    std::uint64_t address;
    std::byte* before;
  };

  template <typename Transfer>
  bool transfer(const Transfer& move, void* here, std::uint64_t there, std::size_t bytes) const {
    const iovec own{.iov_base = here, .iov_len = bytes};
    const iovec other{.iov_base = pointer_to(there), .iov_len = bytes};
    return move(process_, &own, 1, &other, 1, 0) == static_cast<ssize_t>(bytes);
  }

  pid_t process_;
  std::uint64_t frame_;
  sigjmp_buf end_{};
  std::uint64_t unknown_address_ = 0;
  std::array<Page, most_pages> pages_{};
  std::size_t page_count_ = 0;
};

CallInProgress* find_call(std::uint64_t stack_pointer) {
  CallInProgress* nearest = nullptr;
  for (CallInProgress* const call : calls_in_progress) {
    if (call->frame() < stack_pointer) continue;
    if (nearest == nullptr || call->frame() < nearest->frame()) nearest = call;
  }
  return nearest;
}

struct sigaction action_before {};

// Not a fault of a page, which is the processor's other reason for this signal.
bool is_protection_fault(greg_t number) { return number == 13; }

// The stacks of fibers lie far above the memory of programs.
void handle_fault(int signal, siginfo_t* information, void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (is_protection_fault(registers[REG_TRAPNO]) &&
      permit_time_stamp(static_cast<const unsigned char*>(
          pointer_to(static_cast<std::uint64_t>(registers[REG_RIP]))))) {
    return;
  }
  const auto stack_pointer = static_cast<std::uint64_t>(registers[REG_RSP]);
  const auto address = reinterpret_cast<std::uint64_t>(information->si_addr);
  CallInProgress* const call = find_call(stack_pointer);
  constexpr std::uint64_t most_stack_bytes = std::uint64_t{1} << 30U;
  const bool is_near_stack = address - (stack_pointer - most_stack_bytes) < 2 * most_stack_bytes;
  if (call == nullptr || is_near_stack)
    return action_before.sa_sigaction(signal, information, context);
  if (!call->take_page(address)) siglongjmp(call->end(), 1);
}

}  // namespace

void serve_memory_of_processes() {
  struct sigaction action {};
  action.sa_sigaction = handle_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &action_before);
}

std::optional<std::uint64_t> run_with_memory_of(pid_t process, const std::function<void()>& call) {
  CallInProgress progress(process, reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)));
  if (sigsetjmp(progress.end(), 1) != 0) return progress.unknown_address();
  call();
  progress.give_changes_back();
  return std::nullopt;
}

}  // namespace falafel::simulated_verbs
