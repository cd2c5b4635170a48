// The options for what entries say of their containers (engine/layout/references.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "engine/layout/geometry.h"

namespace falafel::command_line {

// `usual` describes the number of bits that a store has without the options.
void add_reference_bit_options(CLI::App& command, engine::SpareBits& bits, std::string_view usual);

}  // namespace falafel::command_line
