#include "simulated_verbs/unmodified/program_side/time_stamps.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simulated_verbs/unmodified/program_side/connection.h"

namespace falafel::simulated_verbs {

namespace {

constexpr unsigned half_bits = 32;

using Code = unsigned char*;

constexpr unsigned char rdtsc[] = {0x0f, 0x31};
constexpr unsigned char rdtscp[] = {0x0f, 0x01, 0xf9};
constexpr unsigned char undefined_instruction[] = {0x0f, 0x0b};
// Programs join the halves of the counter: they shift a register by 32 to the left, or first copy
// both halves to other registers. Compilers may put other instructions in front of that.
constexpr std::size_t longest_pattern_bytes = 4;
constexpr std::size_t pattern_distance_bytes = 24;

// The places where the instruction was replaced.
constexpr std::size_t most_replaced = 1'024;
struct Replaced {
  Code code;
  bool has_processor;
};
Replaced replaced[most_replaced];
std::size_t replaced_count = 0;
bool has_failed = false;

Code code_at(greg_t address) {
  // An address and not an object: it is where the program runs.
  return reinterpret_cast<Code>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <std::size_t size>
bool begins_with(const unsigned char* code, const unsigned char (&instruction)[size]) {
  return std::memcmp(code, instruction, size) == 0;
}

void give_time_stamp(ucontext_t& context, bool has_processor) {
  auto& registers = context.uc_mcontext.gregs;
  Word now_ns = 0;
  if (!take_reading(false, now_ns)) now_ns = call_simulator(CallNumber::of_read_time_stamp);
  registers[REG_RAX] = static_cast<greg_t>(now_ns & 0xffff'ffffU);
  registers[REG_RDX] = static_cast<greg_t>(now_ns >> half_bits);
  if (has_processor) registers[REG_RCX] = 0;
  registers[REG_RIP] += static_cast<greg_t>(has_processor ? sizeof rdtscp : sizeof rdtsc);
}

bool is_shift(const unsigned char* code) {
  const bool is_of_register = code[0] == 0x48 || code[0] == 0x49;
  return is_of_register && code[1] == 0xc1 && (code[2] & 0xf8U) == 0xe0 && code[3] == half_bits;
}

// mov from the register with this number to another one.
bool copies_from(const unsigned char* code, unsigned number) {
  return code[0] == 0x89 && code[1] >> 6U == 3 && ((code[1] >> 3U) & 7U) == number;
}

bool reads_time_stamp(const unsigned char* code, const unsigned char* end) {
  const bool has_processor = begins_with(code, rdtscp);
  if (!has_processor && !begins_with(code, rdtsc)) return false;
  const unsigned char* const last =
      std::min(code + pattern_distance_bytes, end - longest_pattern_bytes);
  bool copies_low = false;
  bool copies_high = false;
  for (const unsigned char* at = code; at <= last; ++at) {
    if (is_shift(at)) return true;
    copies_low = copies_low || copies_from(at, 0);
    copies_high = copies_high || copies_from(at, 2);
  }
  return copies_low && copies_high;
}

void replace(Code code) {
  if (replaced_count == most_replaced) return;
  replaced[replaced_count++] = {.code = code, .has_processor = begins_with(code, rdtscp)};
  std::memcpy(code, undefined_instruction, sizeof undefined_instruction);
}

void replace_in(Code begin, Code end) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uint64_t>(begin) & ~(page - 1);
  const std::size_t bytes = reinterpret_cast<std::uint64_t>(end) - first;
  bool is_writable = false;
  for (Code code = begin; code + sizeof rdtscp <= end; ++code) {
    if (!reads_time_stamp(code, end)) continue;
    if (!is_writable && mprotect(code_at(static_cast<greg_t>(first)), bytes,
                                 PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
      return;
    }
    is_writable = true;
    replace(code);
  }
  if (is_writable) {
    mprotect(code_at(static_cast<greg_t>(first)), bytes, PROT_READ | PROT_EXEC);
  }
}

// The first object is the program itself.
int replace_in_object(dl_phdr_info* object, std::size_t /*bytes*/, void* /*context*/) {
  for (int index = 0; index < object->dlpi_phnum; ++index) {
    const ElfW(Phdr)& part = object->dlpi_phdr[index];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const std::uint64_t address = object->dlpi_addr + part.p_vaddr;
    const Code begin = code_at(static_cast<greg_t>(address));
    replace_in(begin, begin + part.p_memsz);
  }
  return 1;
}

}  // namespace

void make_time_stamps_fail() {
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
  __builtin_ia32_rdtsc();
  if (!has_failed) dl_iterate_phdr(replace_in_object, nullptr);
}

bool read_time_stamp(ucontext_t& context) {
  auto& registers = context.uc_mcontext.gregs;
  // The processor finds other faults before it reads an instruction that is not there.
  constexpr int general_protection = 13;
  if (registers[REG_TRAPNO] != general_protection) return false;
  const Code code = code_at(registers[REG_RIP]);
  const bool has_processor = begins_with(code, rdtscp);
  if (!has_processor && !begins_with(code, rdtsc)) return false;
  has_failed = true;
  give_time_stamp(context, has_processor);
  return true;
}

bool read_replaced_time_stamp(ucontext_t& context) {
  const Code code = code_at(context.uc_mcontext.gregs[REG_RIP]);
  for (std::size_t index = 0; index < replaced_count; ++index) {
    if (replaced[index].code != code) continue;
    give_time_stamp(context, replaced[index].has_processor);
    return true;
  }
  return false;
}

}  // namespace falafel::simulated_verbs
