// The start of a process. A process loads the program and its libraries, and waits before any of
// their code runs. The simulator then asks for a copy of it, or lets it go on itself, and sends the
// files of the process, all in one message.
//
// Up to there, a process depends on nothing but the program, its libraries and the kernel. So a
// copy behaves as a process that has just been loaded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace falafel::simulated_verbs {

enum class StartRequest : std::uint8_t { copy, itself };

// In the order of the message: standard output and error, and memory that the process maps. This is
// its mailboxes, the objects of all processes, its heap, and the program's own variables.
enum StartFile : std::size_t { output_file, mailbox_file, objects_file, heap_file, data_file };
inline constexpr std::size_t start_file_count = 5;
using StartFiles = std::array<int, start_file_count>;

// A socket for messages in the process that waits. It sends StartReady when it begins to wait.
inline constexpr int control_descriptor = 3;
using StartReady = std::uint8_t;

// The answer to a request for a copy: its number, or the negative error with which the system has
// refused it.
using StartAnswer = std::int32_t;

}  // namespace falafel::simulated_verbs
