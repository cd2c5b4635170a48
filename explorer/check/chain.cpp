#include "explorer/check/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace falafel::check {

Chain::Request& Chain::add(fabric::Opcode opcode, const RemoteRegion& region, std::uint64_t offset,
                           std::uint32_t length_bytes) {
  Request& added = requests_.emplace_back();
  added.request.opcode = opcode;
  added.request.length_bytes = length_bytes;
  added.request.remote = {.key = region.key, .offset = offset};
  added.region = region.name;
  return added;
}

Chain& Chain::read(const RemoteRegion& region, std::uint64_t offset, std::uint32_t length_bytes) {
  add(fabric::Opcode::read, region, offset, length_bytes);
  return *this;
}

Chain& Chain::write(const RemoteRegion& region, std::uint64_t offset, std::uint64_t word) {
  return write(region, offset, std::as_bytes(std::span(&word, 1)));
}

Chain& Chain::write(const RemoteRegion& region, std::uint64_t offset,
                    std::span<const std::byte> data) {
  add(fabric::Opcode::write, region, offset, static_cast<std::uint32_t>(data.size()))
      .data.assign(data.begin(), data.end());
  return *this;
}

Chain& Chain::compare_and_swap(const RemoteRegion& region, std::uint64_t offset,
                               std::uint64_t expected, std::uint64_t desired) {
  Request& added = add(fabric::Opcode::compare_and_swap, region, offset, fabric::word_bytes);
  added.request.compare = expected;
  added.request.swap_or_add = desired;
  return *this;
}

Chain& Chain::fetch_and_add(const RemoteRegion& region, std::uint64_t offset,
                            std::uint64_t addend) {
  add(fabric::Opcode::fetch_and_add, region, offset, fabric::word_bytes).request.swap_or_add =
      addend;
  return *this;
}

Chain& Chain::masked_compare_and_swap(const RemoteRegion& region, std::uint64_t offset,
                                      std::uint64_t expected, std::uint64_t compare_mask,
                                      std::uint64_t desired, std::uint64_t swap_mask) {
  Request& added = add(fabric::Opcode::masked_compare_and_swap, region, offset, fabric::word_bytes);
  added.request.compare = expected;
  added.request.compare_mask = compare_mask;
  added.request.swap_or_add = desired;
  added.request.swap_mask = swap_mask;
  return *this;
}

Chain& Chain::masked_fetch_and_add(const RemoteRegion& region, std::uint64_t offset,
                                   std::uint64_t addend, std::uint64_t field_boundaries) {
  Request& added = add(fabric::Opcode::masked_fetch_and_add, region, offset, fabric::word_bytes);
  added.request.swap_or_add = addend;
  added.request.field_boundaries = field_boundaries;
  return *this;
}

Chain& Chain::send(std::span<const std::byte> message) {
  add(fabric::Opcode::send, {}, 0, static_cast<std::uint32_t>(message.size()))
      .data.assign(message.begin(), message.end());
  return *this;
}

Chain& Chain::fenced() {
  if (requests_.empty()) throw std::logic_error("Chain::fenced: the chain has no request yet");
  requests_.back().request.fenced = true;
  return *this;
}

bool Outcome::succeeded() const {
  return std::ranges::all_of(
      parts_, [](const Part& part) { return part.status == fabric::CompletionStatus::success; });
}

std::span<const std::byte> Outcome::bytes(std::size_t index) const {
  const Part& part = parts_.at(index);
  if (part.data.empty()) {
    throw std::logic_error(
        fmt::format("{} returned no data ({})", describe(index), to_string(part.status)));
  }
  return part.data;
}

std::uint64_t Outcome::word(std::size_t index) const {
  std::uint64_t word = 0;
  const auto data = bytes(index);
  if (data.size() != sizeof word) {
    throw std::logic_error(
        fmt::format("{} returned {} bytes, not a word", describe(index), data.size()));
  }
  std::memcpy(&word, data.data(), sizeof word);
  return word;
}

std::string Outcome::describe(std::size_t index) const {
  const Part& part = parts_.at(index);
  const std::string place =
      part.region.empty() ? fmt::format("to {}", peer_)
                          : fmt::format("at byte {} of {}'s '{}'", part.offset, peer_, part.region);
  return fmt::format("{} of {} bytes {}", to_string(part.opcode), part.length_bytes, place);
}

}  // namespace falafel::check
