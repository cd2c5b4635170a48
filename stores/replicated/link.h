// A client's connection to one server, with the requests of which operations consist. Each waits,
// and returns nothing if the server does not answer. Its change may then have happened, or happen
// later. A request that breaks its connection is repeated on the next one; repeating one that has
// had its effect changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/memory_nodes/node_connection.h"
#include "stores/replicated/layout.h"
#include "stores/replicated/options.h"

namespace falafel::replicated {

// Header and value of a container.
using Content = std::vector<std::byte>;

// The content that a client writes into one of its containers.
struct ContainerWrite {
  std::uint64_t container = 0;
  std::span<const std::byte> content{};  // empty: nothing is written
};

class Link {
 public:
  // The host outlives the link, which connects at its first use. Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<Link>> create(fabric::Host& host,
                                                      const stores::Member& member,
                                                      const Options& options);

  std::optional<Word> read_word(std::uint64_t key);
  // At the same time.
  struct WordAndContent {
    Word word;
    Content content;
  };
  std::optional<WordAndContent> read_word_and_container(std::uint64_t key, std::uint64_t container);
  std::optional<Content> read_container(std::uint64_t container);
  // The write has taken effect before the word is read, or swapped. A swap returns the word before.
  std::optional<Word> write_and_read_word(const ContainerWrite& write, std::uint64_t key);
  std::optional<Word> write_and_swap(const ContainerWrite& write, std::uint64_t key, Word expected,
                                     Word desired);
  // Marks the container for this version, then reads the word.
  std::optional<Word> mark_and_read_word(std::uint64_t container, std::uint64_t version,
                                         std::uint64_t key);
  std::optional<std::uint64_t> read_mark(std::uint64_t container);
  // Swaps without waiting, and without saying whether it succeeds. Waits only for a connection.
  void swap_later(std::uint64_t key, Word expected, Word desired);

 private:
  Link(std::unique_ptr<stores::NodeConnection> connection, const Options& options);
  std::vector<fabric::WorkRequest> chain_with(const ContainerWrite& write,
                                              fabric::WorkRequest request);
  Word word_in_buffer();
  Content content_in_buffer();

  std::unique_ptr<stores::NodeConnection> connection_;
  Options options_;
  Layout layout_;
};

}  // namespace falafel::replicated
