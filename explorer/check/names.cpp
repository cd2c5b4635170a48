#include "explorer/check/names.h"

#include <fmt/format.h>

#include "fabric/work_request.h"

namespace falafel::check {

void Names::clear() { *this = Names(); }

void Names::add_range(std::uint64_t offset, std::uint64_t length_bytes, std::string name) {
  ranges_.push_back({.offset = offset, .length_bytes = length_bytes, .name = std::move(name)});
}

std::string Names::host(std::uint32_t number) const {
  return number < hosts_.size() ? hosts_[number] : PlainVocabulary::host(number);
}

std::string Names::place(std::uint64_t offset) const {
  for (const Range& range : ranges_) {
    if (offset < range.offset || offset - range.offset >= range.length_bytes) continue;
    const std::uint64_t within = offset - range.offset;
    if (range.length_bytes <= fabric::word_bytes && within == 0) return range.name;
    return within % fabric::word_bytes == 0
               ? fmt::format("{}[{}]", range.name, within / fabric::word_bytes)
               : fmt::format("byte {} of {}", within, range.name);
  }
  return PlainVocabulary::place(offset);
}

std::string Names::word(std::uint64_t word) const {
  return describe_word_ ? describe_word_(word) : PlainVocabulary::word(word);
}

}  // namespace falafel::check
