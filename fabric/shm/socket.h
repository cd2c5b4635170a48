// Messages over UNIX-domain sockets (SOCK_SEQPACKET, so each message arrives whole). A message can
// carry file descriptors.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "fabric/shm/arena.h"

namespace falafel::shm {

// No call here waits: the sockets do not block.
//
// Errors: address_in_use, invalid_argument (the path is too long or cannot be created).
fabric::Result<FileDescriptor> listen_at(const std::filesystem::path& path);
// Errors: unreachable (no socket, or no permission), connection_refused, access_denied (it is not
// the socket of a user whom this process trusts; fabric/shm/trust.h).
fabric::Result<FileDescriptor> connect_to(const std::filesystem::path& path);

// The result of accepting a caller.
struct Accepted {
  // no_descriptors: there is a caller, but this process has no descriptors left.
  enum class Kind : std::uint8_t { caller, nobody, no_descriptors };
  Kind kind = Kind::nobody;
  FileDescriptor socket;
  int error = 0;  // no_descriptors: the system's error
};
Accepted accept_from(int listener);

bool send_message(int socket, std::span<const std::byte> message,
                  const FileDescriptor* attached = nullptr,
                  const FileDescriptor* attached_second = nullptr);

struct ReceivedMessage {
  // A message of no bytes counts as the end, because the two cannot be told apart.
  enum class Kind : std::uint8_t { message, nothing_yet, end };
  Kind kind = Kind::end;
  std::size_t length_bytes = 0;
  FileDescriptor attached;
  FileDescriptor attached_second;
  // A descriptor was attached, but this process has none left to receive it.
  bool lost_attachment = false;
};
// The system closes all attached descriptors beyond the number that is accepted, which is 1 or 2.
ReceivedMessage receive_message(int socket, std::span<std::byte> buffer,
                                std::size_t most_attached = 1);

// The number of the process at the other end, in this namespace of processes; 0: unknown.
pid_t process_number_of(const FileDescriptor& socket);

// Returns a descriptor (pidfd) of the process at the other end, which is readable once that process
// has ended. It is not open if the process has been waited for, or is in another namespace of
// processes. Errors: out_of_memory (no descriptors left).
fabric::Result<FileDescriptor> process_of(const FileDescriptor& socket);

}  // namespace falafel::shm
