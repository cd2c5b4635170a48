#include "stores/replicated/client.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace falafel::replicated {
namespace {

Content value_in(const Content& content) {
  std::uint64_t header = 0;
  std::memcpy(&header, content.data(), sizeof header);
  // A container that nobody has filled has an empty value, which no SET writes.
  const std::uint64_t length = header == 0 ? 0 : header - 1;
  const auto first = content.begin() + static_cast<std::ptrdiff_t>(Layout::header_bytes);
  return Content(first, first + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(
                                    length, content.size() - Layout::header_bytes)));
}

}  // namespace

fabric::Result<std::unique_ptr<Client>> Client::create(fabric::Host& host, std::uint32_t writer,
                                                       const std::vector<stores::Member>& members,
                                                       const Options& options) {
  FALAFEL_ASSERT(writer < options.writers, "writer {} of {}", writer, options.writers);
  auto replicas = Replicas::create(host, members, options);
  if (!replicas) return tl::unexpected(replicas.error());
  return std::unique_ptr<Client>(new Client(writer, options, std::move(*replicas)));
}

Client::Client(std::uint32_t writer, const Options& options, std::unique_ptr<Replicas> replicas)
    : writer_(writer), options_(options), layout_(options), steps_(options, std::move(replicas)) {}

std::optional<std::uint64_t> Client::allocate_container() {
  if (used_containers_ == layout_.containers_per_writer()) return std::nullopt;
  return layout_.first_container(writer_) + used_containers_++;
}

SharedFilling Client::filling_of(std::uint64_t container, Content content) const {
  return std::make_shared<Filling>(
      Filling{.container = container,
              .content = std::move(content),
              .is_filled = std::vector<bool>(steps_.servers(), false)});
}

void Client::remember(std::uint64_t key, const Words& words) {
  Words& known = known_.try_emplace(key, steps_.servers()).first->second;
  for (std::size_t server = 0; server < words.size(); ++server) {
    if (words[server]) known[server] = words[server];
  }
}

std::optional<Client::Decided> Client::decide(std::uint64_t key, Words words) {
  std::uint64_t read_twice = 0;
  while (true) {
    const Word newest = newest_of(words);
    if (newest == Word() || newest.is_settled() || !options_.safeguards.reader_marks) {
      return Decided{.words = std::move(words), .newest = newest};
    }
    const bool marks = read_twice == newest.version() || !options_.safeguards.read_before_mark;
    std::optional<Words> later = marks ? steps_.mark(key, newest) : steps_.read(key);
    if (!later) return std::nullopt;
    read_twice = newest.version();
    if (marks) {
      ++statistics_.marked;
      if (!options_.safeguards.read_after_mark) {
        return Decided{.words = std::move(words), .newest = newest};
      }
      const Word newest_later = newest_of(*later);
      if (newest_later.version() == newest.version()) {
        return Decided{.words = std::move(*later), .newest = newest_later};
      }
    }
    words = std::move(*later);
  }
}

// GET

// Reads the containers that the client knows, at just enough servers that each majority has one of
// them.
std::optional<Steps::WordsAndContents> Client::look_up(std::uint64_t key) {
  std::vector<std::optional<std::uint64_t>> containers(steps_.servers());
  const auto known = known_.find(key);
  std::vector<Word> words(steps_.servers());
  if (options_.locations && known != known_.end()) {
    std::size_t wanted = steps_.servers() - steps_.majority() + 1;
    for (std::size_t number = 0; number < steps_.servers() && wanted > 0; ++number) {
      const std::size_t server = (key + number) % steps_.servers();
      const Word word = known->second[server].value_or(Word());
      if (word == Word() || word.is_absent()) continue;
      words[server] = word;
      containers[server] = word.container();
      --wanted;
    }
  }
  auto found = steps_.read_with_containers(key, containers);
  if (!found) return std::nullopt;
  // A container has the value of the word that was known.
  for (std::size_t server = 0; server < words.size(); ++server) {
    const bool is_same =
        found->words[server] && found->words[server]->version() == words[server].version();
    if (!is_same) found->contents[server].reset();
  }
  return found;
}

std::optional<Client::Value> Client::try_to_find(std::uint64_t key, bool& has_lost_content) {
  has_lost_content = false;
  auto found = look_up(key);
  if (!found) return std::nullopt;
  const Words fetched = found->words;
  auto decided = decide(key, std::move(found->words));
  if (!decided) return std::nullopt;
  remember(key, decided->words);
  const Word newest = decided->newest;
  if (newest == Word() || newest.is_absent()) return Value{.decided = std::move(*decided)};
  for (std::size_t server = 0; server < fetched.size(); ++server) {
    if (found->contents[server] && fetched[server]->version() == newest.version()) {
      return Value{.decided = std::move(*decided), .content = std::move(*found->contents[server])};
    }
  }
  auto content = steps_.fetch(decided->words, newest.version());
  has_lost_content = !content;
  if (has_lost_content) return std::nullopt;
  return Value{.decided = std::move(*decided), .content = std::move(*content)};
}

// Each repetition has lost another server.
std::optional<Client::Value> Client::find(std::uint64_t key) {
  for (std::size_t tries = 0; tries <= steps_.servers(); ++tries) {
    bool has_lost_content = false;
    auto value = try_to_find(key, has_lost_content);
    if (!has_lost_content || !options_.safeguards.repeated_reads) return value;
    ++statistics_.lost_contents;
  }
  return std::nullopt;
}

GetResult Client::get(std::uint64_t key) {
  auto value = find(key);
  if (!value) return {.answer = Answer::disconnected};
  const Word newest = value->decided.newest;
  if (newest == Word()) return {.answer = Answer::not_found};
  if (!steps_.is_at_majority(value->decided.words, newest.version())) {
    if (options_.safeguards.write_back) {
      const Answer answer = write_back(key, value->decided, value->content);
      if (answer != Answer::stored) return {.answer = answer};
    }
  } else if (!newest.is_settled()) {
    steps_.settle_later(key, newest);
  }
  if (newest.is_absent()) return {.answer = Answer::not_found};
  return {.answer = Answer::found, .value = value_in(value->content)};
}

Answer Client::write_back(std::uint64_t key, const Decided& decided, const Content& content) {
  ++statistics_.write_backs;
  std::uint64_t container = decided.newest.container();
  if (options_.safeguards.copies && !decided.newest.is_absent()) {
    const auto copy = allocate_container();
    if (!copy) return Answer::out_of_memory;
    container = *copy;
  }
  const SharedFilling filling =
      filling_of(container, options_.safeguards.copies ? content : Content());
  const auto words =
      steps_.raise(key, decided.newest.settled().in_container(container), filling, decided.words);
  if (!words) return Answer::disconnected;
  remember(key, *words);
  return Answer::stored;
}

}  // namespace falafel::replicated
