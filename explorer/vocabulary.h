// The names that a program gives to memory, words and hosts, for stories and timelines. All offsets
// are in the memory of its server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace falafel::explorer {

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  // A host by its number in the simulation: "server", "client 0".
  virtual std::string host(std::uint32_t number) const = 0;
  // For example "slot 2", or "320 (region 0, byte 64)".
  virtual std::string place(std::uint64_t offset) const = 0;
  // One 64-bit word, for example of an atomic.
  virtual std::string word(std::uint64_t word) const = 0;
  // The data that a READ or WRITE moved, with its place.
  virtual std::string data(std::uint64_t offset, std::span<const std::byte> data) const = 0;
};

// Names nothing: numbers of hosts, offsets, and words in hexadecimal. Programs derive their own
// vocabularies from it.
class PlainVocabulary : public Vocabulary {
 public:
  std::string host(std::uint32_t number) const override;
  std::string place(std::uint64_t offset) const override;
  std::string word(std::uint64_t word) const override;
  // Up to eight words one by one, of longer data only the place. Uses place() and word().
  std::string data(std::uint64_t offset, std::span<const std::byte> data) const override;
};

}  // namespace falafel::explorer
