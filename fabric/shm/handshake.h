// The messages by which two processes connect over a socket. The descriptor of the sender's shared
// memory travels with each message, and that of its kept memory with an answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "fabric/shm/arena.h"
#include "fabric/shm/layout.h"

namespace falafel::shm {

struct HandshakeMessage {
  std::uint32_t magic = layout_magic;
  std::uint32_t version = layout_version;
  ArenaId arena{};
  std::uint64_t endpoint = 0;  // offset in the arena
  // In an answer: the kept memory, and the pass of the caller's gate there. None: zeros.
  Overlay kept{};
  std::uint64_t gate_pass = 0;
  std::uint32_t accepted = 1;  // in an answer; if 0, the private data is the reason
  std::uint32_t private_bytes = 0;
  std::array<std::byte, fabric::max_private_data_bytes> private_data{};

  void set_private_data(std::span<const std::byte> data) {
    const std::size_t length = std::min(data.size(), private_data.size());
    private_bytes = static_cast<std::uint32_t>(length);
    if (length > 0) std::memcpy(private_data.data(), data.data(), length);
  }
  std::span<const std::byte> private_span() const {
    return std::span(private_data).first(std::min<std::size_t>(private_bytes, private_data.size()));
  }
};
static_assert(std::has_unique_object_representations_v<HandshakeMessage>);

// Sent before a socket is closed in good order: the queue pair is gone, its process is not.
inline constexpr std::byte goodbye{'b'};

// Empty if the bytes are not a message of this protocol. Other versions have other lengths; of
// their messages, only magic and version are known.
inline std::optional<HandshakeMessage> parse_handshake(std::span<const std::byte> bytes) {
  HandshakeMessage message;
  constexpr std::size_t version_at = offsetof(HandshakeMessage, version);
  if (bytes.size() < version_at + sizeof message.version) return std::nullopt;
  std::memcpy(&message.magic, bytes.data(), sizeof message.magic);
  std::memcpy(&message.version, bytes.data() + version_at, sizeof message.version);
  if (message.magic != layout_magic) return std::nullopt;
  if (message.version != layout_version) return message;
  if (bytes.size() != sizeof message) return std::nullopt;
  std::memcpy(&message, bytes.data(), sizeof message);
  return message;
}

}  // namespace falafel::shm
