#include "stores/swarm/invariants.h"

#include <cstring>
#include <set>
#include <utility>

#include "stores/swarm/layout.h"
#include "stores/swarm/record.h"

namespace falafel::swarm {
namespace {

class Inspector {
 public:
  Inspector(std::span<const std::shared_ptr<fabric::MemoryBlock>> nodes, const Options& options)
      : nodes_(nodes), options_(options), layout_(options) {}

  std::vector<std::string> run() {
    const std::size_t replicas = nodes_.size() - (options_.safeguards.own_index_node ? 1 : 0);
    for (std::size_t node = 0; node < nodes_.size(); ++node) {
      if (nodes_[node] == nullptr) continue;
      if (node < replicas) inspect_registers(node);
      inspect_index(node);
    }
    return std::move(problems_);
  }

 private:
  std::span<const std::byte> bytes_at(std::size_t node, std::uint64_t offset,
                                      std::uint64_t length_bytes) const {
    return nodes_[node]->bytes().subspan(offset, length_bytes);
  }
  std::uint64_t word_at(std::size_t node, std::uint64_t offset) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_at(node, offset, sizeof word).data(), sizeof word);
    return word;
  }

  void inspect_registers(std::size_t node) {
    for (std::uint64_t number = 0; number < layout_.registers(); ++number) {
      for (std::uint64_t writer = 0; writer < layout_.words(); ++writer) {
        const Word word(word_at(node, layout_.word_offset(number, writer)));
        if (!word.is_empty()) inspect_word(node, number, word);
      }
      inspect_record(node, number);
    }
  }

  bool exists(Word word) const {
    return word.writer() < layout_.writers() && word.buffer() < layout_.buffers_per_writer();
  }

  void inspect_word(std::size_t node, std::uint64_t number, Word word) {
    const std::string name = "register " + std::to_string(number) + " of node " +
                             std::to_string(node) + " (" + describe(word) + ")";
    if (!exists(word)) {
      problems_.push_back(name + " names a buffer that does not exist");
      return;
    }
    const Record record =
        decode(bytes_at(node, layout_.buffer_offset(word), layout_.record_bytes()));
    if (record.word.identity() != word.identity()) {
      problems_.push_back(name + " names a buffer with another value");
    } else if (!record.has_right_hash()) {
      problems_.push_back(name + " names a buffer with a wrong hash");
    }
  }

  void inspect_record(std::size_t node, std::uint64_t number) {
    const Record record =
        decode(bytes_at(node, layout_.register_offset(number), layout_.record_bytes()));
    if (record.word.is_empty() || !record.has_right_hash() || !exists(record.word)) return;
    const Record buffer =
        decode(bytes_at(node, layout_.buffer_offset(record.word), layout_.record_bytes()));
    if (buffer.word.identity() == record.word.identity() && buffer.content != record.content) {
      problems_.push_back("register " + std::to_string(number) + " of node " +
                          std::to_string(node) + " has other data in place than in the buffer");
    }
  }

  void inspect_index(std::size_t node) {
    for (std::uint64_t slot = 0; slot < layout_.slots(); ++slot) {
      const std::uint64_t word = word_at(node, layout_.slot_offset(slot));
      if (word == 0) continue;
      const std::string name = "slot " + std::to_string(slot) + " of node " + std::to_string(node);
      const std::uint64_t number = word >> 16;
      if (number >= layout_.registers()) {
        problems_.push_back(name + " names a register that does not exist");
        continue;
      }
      if (!numbers_.insert(number).second) problems_.push_back(name + " names a register again");
      const auto key = bytes_at(node, layout_.key_offset(number), layout_.key_bytes());
      if (!keys_.emplace(key.begin(), key.end()).second) {
        problems_.push_back(name + " has the key of another slot");
      }
    }
  }

  std::span<const std::shared_ptr<fabric::MemoryBlock>> nodes_;
  const Options& options_;
  Layout layout_;
  std::set<std::uint64_t> numbers_;
  std::set<std::vector<std::byte>> keys_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> find_problems(std::span<const std::shared_ptr<fabric::MemoryBlock>> nodes,
                                       const Options& options) {
  return Inspector(nodes, options).run();
}

}  // namespace falafel::swarm
