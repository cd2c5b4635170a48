#include "fabric/fiber_stack.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "fabric/assert.h"

#if defined(FALAFEL_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(FALAFEL_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#endif

namespace falafel::fabric {
namespace {

constexpr std::size_t slots_per_group = 32;
// With equal alignment, the most used cache lines of all stacks would map to the same cache sets,
// so the tops of the slots vary.
constexpr std::size_t colour_bytes = 320;
constexpr std::size_t colours = 12;
constexpr std::uint64_t label_magic = 0x46694265724c6162;

struct StackLabel {
  std::uint64_t magic;
  std::array<char, 48> name;
};
constexpr std::size_t label_bytes = 64;  // keeps the stack below it aligned
static_assert(sizeof(StackLabel) <= label_bytes);

// The size of a guard page. ARM64 systems have pages of 4, 16 or 64 KiB.
std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

StackLabel* label_of(std::byte* address) {
  const auto within_slot = reinterpret_cast<std::uintptr_t>(address) & (stack_slot_bytes - 1);
  return reinterpret_cast<StackLabel*>(address - within_slot + stack_slot_bytes - label_bytes);
}

void print(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

// Reads memory that may be unmapped.
bool safe_copy(const void* source, void* destination, std::size_t size_bytes) {
  const iovec local{destination, size_bytes};
  const iovec remote{const_cast<void*>(source), size_bytes};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(size_bytes);
}

bool is_guard_page(std::byte* address) {
  return (reinterpret_cast<std::uintptr_t>(address) & (stack_slot_bytes - 1)) < page_bytes();
}

// Calls only functions that are safe in a signal handler.
void report_overflow(int /*signal*/, siginfo_t* info, void* /*context*/) {
  auto* address = static_cast<std::byte*>(info->si_addr);
  StackLabel label{};
  if (is_guard_page(address) && safe_copy(label_of(address), &label, sizeof label) &&
      label.magic == label_magic) {
    label.name.back() = '\0';
    print("fiber '");
    print(label.name.data());
    print("' overflowed its stack of ");
    std::array<char, 8> kibibytes{};
    std::to_chars(kibibytes.begin(), kibibytes.end(), (stack_slot_bytes - page_bytes()) / 1024);
    print(kibibytes.data());
    print(
        " KiB; keep less on the stack, or enlarge stack_slot_bytes in "
        "fabric/fiber_stack.h\n");
    std::abort();
  }
  // Not an overflow of a fiber. Restores the default action; returning repeats the fault, which
  // ends the process.
  std::signal(SIGSEGV, SIG_DFL);
}

}  // namespace

void FiberStack::set_name(std::string_view name) {
  StackLabel* label = label_of(lowest);
  label->magic = label_magic;
  const std::size_t length = std::min(name.size(), label->name.size() - 1);
  std::memcpy(label->name.data(), name.data(), length);
  label->name[length] = '\0';
}

void FiberStackPool::map_group() {
  // One additional slot leaves room for alignment; the surrounding pages stay untouched.
  const std::size_t size_bytes = (slots_per_group + 1) * stack_slot_bytes;
  groups_.reserve(groups_.size() + 1);
  free_.reserve((groups_.size() + 1) * slots_per_group);  // a stack returns without new memory
  void* group = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (group == MAP_FAILED) throw std::bad_alloc();
  groups_.push_back(group);
  const std::size_t guard_bytes = page_bytes();
  FALAFEL_ASSERT(stack_slot_bytes % guard_bytes == 0 && guard_bytes < stack_slot_bytes / 2,
                 "pages of {} bytes are too large for fiber stacks of {}; enlarge "
                 "stack_slot_bytes in fabric/fiber_stack.h",
                 guard_bytes, stack_slot_bytes);
  const auto beyond_slot = reinterpret_cast<std::uintptr_t>(group) & (stack_slot_bytes - 1);
  std::byte* first_slot = static_cast<std::byte*>(group) + (stack_slot_bytes - beyond_slot);
  for (std::size_t index = slots_per_group; index-- > 0;) {
    std::byte* slot = first_slot + index * stack_slot_bytes;
    // It fails if the process has too many mappings. The stacks before this one can be used.
    if (::mprotect(slot, guard_bytes, PROT_NONE) != 0) throw std::bad_alloc();
    FiberStack stack;
    stack.lowest = slot + guard_bytes;
    stack.highest = slot + stack_slot_bytes - label_bytes - (index % colours) * colour_bytes;
    free_.push_back(stack);
  }
}

FiberStack FiberStackPool::acquire() {
  if (free_.empty()) map_group();
  FiberStack stack = free_.back();
  free_.pop_back();
  ++handed_out_;
#if defined(FALAFEL_THREAD_SANITIZER)
  if (stack.thread_sanitizer_fiber == nullptr) {
    stack.thread_sanitizer_fiber = __tsan_create_fiber(0);
  }
#endif
  return stack;
}

void FiberStackPool::release(FiberStack stack) {
#if defined(FALAFEL_ADDRESS_SANITIZER)
  __asan_unpoison_memory_region(stack.lowest, stack.size_bytes());
#endif
  --handed_out_;
  free_.push_back(stack);
}

FiberStackPool::~FiberStackPool() {
  FALAFEL_ASSERT(handed_out_ == 0, "{} fiber stacks are still in use", handed_out_);
#if defined(FALAFEL_THREAD_SANITIZER)
  for (const FiberStack& stack : free_) {
    if (stack.thread_sanitizer_fiber != nullptr) __tsan_destroy_fiber(stack.thread_sanitizer_fiber);
  }
#endif
  for (void* group : groups_) ::munmap(group, (slots_per_group + 1) * stack_slot_bytes);
}

StackOverflowReport::StackOverflowReport()
    : signal_stack_(std::make_unique<std::byte[]>(static_cast<std::size_t>(SIGSTKSZ))) {
  stack_t stack{};
  stack.ss_sp = signal_stack_.get();
  stack.ss_size = static_cast<std::size_t>(SIGSTKSZ);
  ::sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = report_overflow;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
}

StackOverflowReport::~StackOverflowReport() {
  std::signal(SIGSEGV, SIG_DFL);
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  ::sigaltstack(&stack, nullptr);
}

}  // namespace falafel::fabric
