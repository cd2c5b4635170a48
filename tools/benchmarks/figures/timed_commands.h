// The commands that predict figures of the thesis with a timed run. `all` predicts every figure.
#pragma once

#include <CLI/CLI.hpp>

namespace falafel::figures {

void add_card_command(CLI::App& app);
void add_throughput_command(CLI::App& app);
void add_latency_command(CLI::App& app);
void add_all_command(CLI::App& app);
// Keys whose location the client remembers, which the thesis does not have.
void add_cached_command(CLI::App& app);

}  // namespace falafel::figures
