// The vocabulary of a world: its hosts by name, and the places and words that its program has
// named.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/vocabulary.h"

namespace falafel::check {

class Names final : public explorer::PlainVocabulary {
 public:
  void clear();
  void add_host(std::string name) { hosts_.push_back(std::move(name)); }
  // A range of one word is named as it is, one of several words with an index: "ring[2]".
  void add_range(std::uint64_t offset, std::uint64_t length_bytes, std::string name);
  void describe_words(std::function<std::string(std::uint64_t)> describe) {
    describe_word_ = std::move(describe);
  }

  std::string host(std::uint32_t number) const override;
  std::string place(std::uint64_t offset) const override;
  std::string word(std::uint64_t word) const override;

 private:
  struct Range {
    std::uint64_t offset;
    std::uint64_t length_bytes;
    std::string name;
  };

  std::vector<std::string> hosts_;
  std::vector<Range> ranges_;
  std::function<std::string(std::uint64_t)> describe_word_;
};

}  // namespace falafel::check
