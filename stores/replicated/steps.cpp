#include "stores/replicated/steps.h"

#include <algorithm>
#include <utility>

namespace falafel::replicated {
namespace {

// Raises the word at one server; returns the word afterwards, or nothing without an answer. `known`
// is a word that the server had, if any; `likely` is one that it may have.
std::optional<Word> raise_at(Link& link, std::size_t server, std::uint64_t key, Word word,
                             Filling& filling, std::optional<Word> known, Word likely,
                             bool repeats) {
  Word expected = known ? *known : word.is_newer_than(likely) ? likely : Word();
  while (word.is_newer_than(expected)) {
    const ContainerWrite write{.container = filling.container,
                               .content = filling.is_filled[server]
                                              ? std::span<const std::byte>()
                                              : std::span<const std::byte>(filling.content)};
    const std::optional<Word> found = link.write_and_swap(write, key, expected, word);
    if (!found) return std::nullopt;
    filling.is_filled[server] = true;
    if (*found == expected || !repeats) return word;
    expected = *found;
  }
  return expected;
}

}  // namespace

Word newest_of(const Words& words) {
  Word newest;
  for (const std::optional<Word>& word : words) {
    if (word && word->is_newer_than(newest)) newest = *word;
  }
  return newest;
}

std::size_t count_of(const Words& words, std::uint64_t version) {
  return static_cast<std::size_t>(std::ranges::count_if(
      words, [&](const auto& word) { return word && word->version() == version; }));
}

Steps::Steps(const Options& options, std::unique_ptr<Replicas> replicas)
    : options_(options), replicas_(std::move(replicas)) {}

bool Steps::is_at_majority(const Words& words, std::uint64_t version) const {
  return count_of(words, version) >= replicas_->majority();
}

std::optional<Words> Steps::read(std::uint64_t key) {
  const auto words = std::make_shared<Words>(servers());
  if (!replicas_->run_at_majority([words, key](std::size_t server, Link& link) {
        const std::optional<Word> word = link.read_word(key);
        (*words)[server] = word;
        return word.has_value();
      })) {
    return std::nullopt;
  }
  return *words;
}

std::optional<Steps::WordsAndContents> Steps::read_with_containers(
    std::uint64_t key, const std::vector<std::optional<std::uint64_t>>& containers) {
  const auto results = std::make_shared<WordsAndContents>();
  results->words.resize(servers());
  results->contents.resize(servers());
  if (!replicas_->run_at_majority([results, key, containers](std::size_t server, Link& link) {
        if (!containers[server]) {
          const std::optional<Word> word = link.read_word(key);
          results->words[server] = word;
          return word.has_value();
        }
        auto both = link.read_word_and_container(key, *containers[server]);
        if (!both) return false;
        results->words[server] = both->word;
        results->contents[server] = std::move(both->content);
        return true;
      })) {
    return std::nullopt;
  }
  return *results;
}

std::optional<Words> Steps::fill_and_read(std::uint64_t key, const SharedFilling& filling) {
  const auto words = std::make_shared<Words>(servers());
  if (!replicas_->run_at_majority([words, key, filling](std::size_t server, Link& link) {
        const std::optional<Word> word = link.write_and_read_word(
            {.container = filling->container, .content = filling->content}, key);
        (*words)[server] = word;
        if (word) filling->is_filled[server] = true;
        return word.has_value();
      })) {
    return std::nullopt;
  }
  return *words;
}

std::optional<Words> Steps::mark(std::uint64_t key, Word word) {
  const auto words = std::make_shared<Words>(servers());
  if (!replicas_->run_at_majority([words, key, word](std::size_t server, Link& link) {
        const std::optional<Word> found =
            link.mark_and_read_word(word.container(), word.version(), key);
        (*words)[server] = found;
        return found.has_value();
      })) {
    return std::nullopt;
  }
  return *words;
}

std::optional<std::vector<std::uint64_t>> Steps::read_marks(std::uint64_t container) {
  const auto marks = std::make_shared<std::vector<std::uint64_t>>(servers());
  if (!replicas_->run_at_majority([marks, container](std::size_t server, Link& link) {
        const std::optional<std::uint64_t> mark = link.read_mark(container);
        (*marks)[server] = mark.value_or(0);
        return mark.has_value();
      })) {
    return std::nullopt;
  }
  return *marks;
}

std::optional<Content> Steps::fetch(const Words& words, std::uint64_t version) {
  for (std::size_t server = 0; server < servers(); ++server) {
    if (!words[server] || words[server]->version() != version) continue;
    const auto content = std::make_shared<std::optional<Content>>();
    const std::uint64_t container = words[server]->container();
    if (replicas_->run_at(server, [content, container](std::size_t, Link& link) {
          *content = link.read_container(container);
          return content->has_value();
        })) {
      return *content;
    }
  }
  return std::nullopt;
}

std::optional<Words> Steps::raise(std::uint64_t key, Word word, const SharedFilling& filling,
                                  const Words& expected) {
  const auto words = std::make_shared<Words>(servers());
  const Word newest = newest_of(expected);
  const bool repeats = options_.safeguards.repeated_swaps;
  if (!replicas_->run_at_majority(
          [words, key, word, filling, expected, newest, repeats](std::size_t server, Link& link) {
            const std::optional<Word> after =
                raise_at(link, server, key, word, *filling, expected[server], newest, repeats);
            (*words)[server] = after;
            return after.has_value();
          })) {
    return std::nullopt;
  }
  return *words;
}

std::optional<Steps::WordsAndMarks> Steps::raise_and_read_marks(std::uint64_t key, Word word,
                                                                const SharedFilling& filling,
                                                                const Words& expected,
                                                                std::uint64_t container) {
  const auto results = std::make_shared<WordsAndMarks>();
  results->words.resize(servers());
  results->marks.resize(servers());
  const Word newest = newest_of(expected);
  const bool repeats = options_.safeguards.repeated_swaps;
  if (!replicas_->run_at_majority([results, key, word, filling, expected, newest, repeats,
                                   container](std::size_t server, Link& link) {
        const std::optional<Word> after =
            raise_at(link, server, key, word, *filling, expected[server], newest, repeats);
        if (!after) return false;
        const std::optional<std::uint64_t> mark = link.read_mark(container);
        if (!mark) return false;
        results->words[server] = after;
        results->marks[server] = *mark;
        return true;
      })) {
    return std::nullopt;
  }
  return *results;
}

void Steps::settle_later(std::uint64_t key, Word word) {
  replicas_->run_later([key, word](std::size_t, Link& link) {
    link.swap_later(key, word, word.settled());
    return true;
  });
}

}  // namespace falafel::replicated
