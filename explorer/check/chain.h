// Requests that are posted together, by one doorbell, and what became of each (endpoint.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/work_request.h"

namespace falafel::check {

// Memory that a peer shares.
struct RemoteRegion {
  std::string name;
  std::uint32_t key = 0;
};

class Chain {
 public:
  Chain& read(const RemoteRegion& region, std::uint64_t offset,
              std::uint32_t length_bytes = fabric::word_bytes);
  Chain& write(const RemoteRegion& region, std::uint64_t offset, std::uint64_t word);
  Chain& write(const RemoteRegion& region, std::uint64_t offset, std::span<const std::byte> data);
  Chain& compare_and_swap(const RemoteRegion& region, std::uint64_t offset, std::uint64_t expected,
                          std::uint64_t desired);
  Chain& fetch_and_add(const RemoteRegion& region, std::uint64_t offset, std::uint64_t addend);
  // Compares the bits of `compare_mask`, and replaces those of `swap_mask`.
  Chain& masked_compare_and_swap(const RemoteRegion& region, std::uint64_t offset,
                                 std::uint64_t expected, std::uint64_t compare_mask,
                                 std::uint64_t desired, std::uint64_t swap_mask);
  // Adds the fields one by one; `field_boundaries` has the highest bit of each.
  Chain& masked_fetch_and_add(const RemoteRegion& region, std::uint64_t offset,
                              std::uint64_t addend, std::uint64_t field_boundaries);
  Chain& send(std::span<const std::byte> message);
  // The last request starts only after all READs and atomics before it are complete.
  Chain& fenced();

  struct Request {
    fabric::WorkRequest request;  // without local buffer
    std::vector<std::byte> data;  // of a WRITE or SEND
    std::string region;
  };
  const std::vector<Request>& requests() const { return requests_; }

 private:
  Request& add(fabric::Opcode opcode, const RemoteRegion& region, std::uint64_t offset,
               std::uint32_t length_bytes);

  std::vector<Request> requests_;
};

// Indices are those of the chain's requests.
class Outcome {
 public:
  struct Part {
    fabric::CompletionStatus status = fabric::CompletionStatus::success;
    std::vector<std::byte> data;  // returned by a READ or an atomic that succeeded
    // the request
    fabric::Opcode opcode = fabric::Opcode::read;
    std::uint32_t length_bytes = 0;
    std::uint64_t offset = 0;
    std::string region;  // empty: a message
  };
  Outcome(std::string peer, std::vector<Part> parts)
      : peer_(std::move(peer)), parts_(std::move(parts)) {}

  std::size_t size() const { return parts_.size(); }
  bool succeeded() const;
  fabric::CompletionStatus status(std::size_t index) const { return parts_.at(index).status; }
  // Throw a std::logic_error if the request returned nothing.
  std::uint64_t word(std::size_t index) const;
  std::span<const std::byte> bytes(std::size_t index) const;
  // "READ of 8 bytes at byte 16 of server's 'table'".
  std::string describe(std::size_t index) const;

 private:
  std::string peer_;
  std::vector<Part> parts_;
};

}  // namespace falafel::check
