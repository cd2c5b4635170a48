// Tells the user which call of the program the simulation does not cover.
#pragma once

#include <string>

namespace falafel::simulated_verbs {

// Prints a line to stderr, once for each call: "socket(AF_INET6)".
void report_not_simulated(const std::string& call);

}  // namespace falafel::simulated_verbs
