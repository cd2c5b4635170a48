// A decoder of the subset that compilers make of loops over words in memory: moves, comparisons,
// arithmetic, jumps, calls. Numbers are those of the instruction set's manual: an opcode, and for
// groups the extension that the byte of operands contains.
#include "simulated_verbs/unmodified/program_side/instructions.h"

namespace falafel::simulated_verbs {

namespace {

constexpr unsigned no_index = 4;
constexpr unsigned without_base = 5;

// The byte of operands, and what it says about an operand in memory.
class Operands {
 public:
  Operands(const std::uint8_t* bytes, unsigned extension, const Registers& registers)
      : bytes_(bytes), extension_(extension), registers_(registers) {}

  unsigned group() const { return (bytes_[0] >> 3U) & 7U; }
  bool is_register() const { return mode() == 3; }
  // A store there is one of a register, or to an address in the range that is relative to a pointer
  // to the stack.
  bool is_permitted(const StackRange& range) const {
    if (is_register()) return true;
    const bool has_index = low() == no_index;
    const unsigned base = has_index ? bytes_[1] & 7U : low();
    if ((extension_ & 3U) != 0 || (base != stack_pointer && base != frame_pointer)) return false;
    if (has_index && ((bytes_[1] >> 3U) & 7U) != no_index) return false;
    if (mode() == 0 && base == without_base) return false;
    const std::uint64_t address = registers_.general[base] + displacement(has_index ? 2 : 1);
    return range.begin <= address && address < range.end;
  }

 private:
  unsigned mode() const { return bytes_[0] >> 6U; }
  unsigned low() const { return bytes_[0] & 7U; }
  std::uint64_t displacement(unsigned offset) const {
    if (mode() == 0) return 0;
    const std::uint8_t* const at = bytes_ + offset;
    if (mode() == 1) return static_cast<std::uint64_t>(static_cast<std::int8_t>(*at));
    const std::uint32_t value =
        at[0] | (at[1] << 8U) | (at[2] << 16U) | (static_cast<std::uint32_t>(at[3]) << 24U);
    return static_cast<std::uint64_t>(static_cast<std::int32_t>(value));
  }

  const std::uint8_t* bytes_;
  unsigned extension_;  // B, X and R of the prefix
  const Registers& registers_;
};

bool is_within(unsigned value, unsigned first, unsigned last) {
  return first <= value && value <= last;
}

bool is_harmless_arithmetic(unsigned opcode, const Operands& operands, const StackRange& range) {
  const bool is_comparison = (opcode & 0x38U) == 0x38;
  switch (opcode & 7U) {
    case 0:
    case 1: return is_comparison || operands.is_permitted(range);
    case 2:
    case 3:
    case 4:
    case 5: return true;
    default: return false;
  }
}

bool is_harmless_group(unsigned opcode, const Operands& operands, const StackRange& range) {
  const unsigned group = operands.group();
  switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83: return group == 7 || operands.is_permitted(range);
    case 0xf6:
    case 0xf7: return (group != 2 && group != 3) || operands.is_permitted(range);
    case 0xfe: return operands.is_permitted(range);
    case 0xff: return is_within(group, 2, 6) || operands.is_permitted(range);
    default: return false;
  }
}

bool is_harmless_of_two_bytes(unsigned opcode, const Operands& operands, const StackRange& range) {
  if (is_within(opcode, 0x40, 0x4f) || is_within(opcode, 0x80, 0x8f)) return true;
  if (is_within(opcode, 0x90, 0x9f)) return operands.is_permitted(range);
  switch (opcode) {
    case 0x0d:
    case 0x18:
    case 0x1e:
    case 0x1f:
    case 0xa3:
    case 0xaf:
    case 0xb6:
    case 0xb7:
    case 0xbe:
    case 0xbf: return true;
    case 0xae: return operands.is_register() && operands.group() >= 5;  // fences
    case 0xba: return operands.group() == 4;
    default: return false;
  }
}

bool is_harmless_of_one_byte(unsigned opcode, const Operands& operands, const StackRange& range) {
  if (opcode < 0x40) return is_harmless_arithmetic(opcode, operands, range);
  if (is_within(opcode, 0x50, 0x5f) || is_within(opcode, 0x70, 0x7f)) return true;
  if (is_within(opcode, 0xb0, 0xbf)) return true;
  switch (opcode) {
    case 0x63:
    case 0x68:
    case 0x69:
    case 0x6a:
    case 0x6b:
    case 0x84:
    case 0x85:
    case 0x8a:
    case 0x8b:
    case 0x8d:
    case 0x90:
    case 0x98:
    case 0x99:
    case 0xa8:
    case 0xa9:
    case 0xc2:
    case 0xc3:
    case 0xc9:
    case 0xe8:
    case 0xe9:
    case 0xeb: return true;
    case 0x86:
    case 0x87: return operands.is_register();
    case 0x88:
    case 0x89:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return operands.is_permitted(range);
    default: return is_harmless_group(opcode, operands, range);
  }
}

bool is_prefix(std::uint8_t byte) {
  switch (byte) {
    case 0x2e:
    case 0x3e:
    case 0x64:
    case 0x66:
    case 0xf2:
    case 0xf3: return true;
    default: return false;
  }
}

}  // namespace

bool stores_nothing_else(const Registers& registers, const StackRange& range) {
  // An address and not an object: it is where the program runs.
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(  // NOLINT(performance-no-int-to-ptr)
      registers.instruction);
  // A segment has another base than the stack.
  bool has_segment = false;
  for (; is_prefix(*bytes); ++bytes) has_segment = has_segment || *bytes == 0x64;
  unsigned extension = 0;
  if ((*bytes & 0xf0U) == 0x40) extension = *bytes++ & 7U;
  const StackRange permitted = has_segment ? StackRange{.begin = 0, .end = 0} : range;
  if (*bytes == 0x0f) {
    return is_harmless_of_two_bytes(bytes[1], Operands(bytes + 2, extension, registers), permitted);
  }
  return is_harmless_of_one_byte(*bytes, Operands(bytes + 1, extension, registers), permitted);
}

}  // namespace falafel::simulated_verbs
