// The steps of operations: what a client does with the word of one key at a majority of the
// servers. Each waits for that majority, and returns nothing if there is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/replicated/layout.h"
#include "stores/replicated/link.h"
#include "stores/replicated/options.h"
#include "stores/replicated/replicas.h"

namespace falafel::replicated {

// The words of a key, by server; none where the server has not answered yet.
using Words = std::vector<std::optional<Word>>;

Word newest_of(const Words& words);
std::size_t count_of(const Words& words, std::uint64_t version);

// A container that the client fills, at each server before the first word that refers to it.
struct Filling {
  std::uint64_t container = 0;
  Content content{};              // empty: there is nothing to fill
  std::vector<bool> is_filled{};  // by server
};
using SharedFilling = std::shared_ptr<Filling>;

class Steps {
 public:
  Steps(const Options& options, std::unique_ptr<Replicas> replicas);

  std::size_t servers() const { return replicas_->servers(); }
  std::size_t majority() const { return replicas_->majority(); }
  std::uint64_t round_trips() const { return replicas_->round_trips(); }
  bool is_at_majority(const Words& words, std::uint64_t version) const;

  std::optional<Words> read(std::uint64_t key);
  // Also reads a container at some of the servers.
  struct WordsAndContents {
    Words words;
    std::vector<std::optional<Content>> contents;  // by server
  };
  std::optional<WordsAndContents> read_with_containers(
      std::uint64_t key, const std::vector<std::optional<std::uint64_t>>& containers);
  std::optional<Words> fill_and_read(std::uint64_t key, const SharedFilling& filling);
  // Marks the container of the word for its version, then reads.
  std::optional<Words> mark(std::uint64_t key, Word word);
  std::optional<std::vector<std::uint64_t>> read_marks(std::uint64_t container);
  // From a server whose word has the version.
  std::optional<Content> fetch(const Words& words, std::uint64_t version);

  // Makes the word the newest, unless a server has it or a newer one. `expected` are words that the
  // servers had. The words afterwards: this one, or the one that prevented it.
  std::optional<Words> raise(std::uint64_t key, Word word, const SharedFilling& filling,
                             const Words& expected);
  // Then also reads the marks of a container.
  struct WordsAndMarks {
    Words words;
    std::vector<std::uint64_t> marks;
  };
  std::optional<WordsAndMarks> raise_and_read_marks(std::uint64_t key, Word word,
                                                    const SharedFilling& filling,
                                                    const Words& expected, std::uint64_t container);
  // Settles the word where it is, without waiting.
  void settle_later(std::uint64_t key, Word word);

 private:
  Options options_;
  std::unique_ptr<Replicas> replicas_;
};

}  // namespace falafel::replicated
