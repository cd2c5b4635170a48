#include "stores/two_sided/layout.h"

namespace falafel::two_sided {
namespace {

template <std::size_t most_bytes>
std::optional<std::span<const std::byte>> used_part(const std::array<std::byte, most_bytes>& field,
                                                    std::uint64_t bytes) {
  if (bytes > most_bytes) return std::nullopt;
  return std::span(field).first(bytes);
}

}  // namespace

std::optional<std::span<const std::byte>> key_of(const Request& request) {
  return used_part(request.key, request.key_bytes);
}

std::optional<std::span<const std::byte>> message_of(const Request& request) {
  return used_part(request.message, request.message_bytes);
}

std::optional<std::span<const std::byte>> message_of(const Response& response) {
  return used_part(response.message, response.message_bytes);
}

}  // namespace falafel::two_sided
