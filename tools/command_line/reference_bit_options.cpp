#include "tools/command_line/reference_bit_options.h"

#include <fmt/format.h>

namespace falafel::command_line {

void add_reference_bit_options(CLI::App& command, engine::SpareBits& bits, std::string_view usual) {
  command
      .add_option("--fingerprint-bits", bits.fingerprint,
                  fmt::format("bits of a key's hash in its entry; 0: none (default: {})", usual))
      ->check(CLI::Range(0U, engine::most_fingerprint_bits));
  command
      .add_option("--size-class-bits", bits.size_class,
                  fmt::format("bits in an entry for the length of its container; 0: none "
                              "(default: {})",
                              usual))
      ->check(CLI::Range(0U, engine::most_size_class_bits));
}

}  // namespace falafel::command_line
