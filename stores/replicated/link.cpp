#include "stores/replicated/link.h"

#include <array>
#include <utility>

namespace falafel::replicated {
namespace {

// The buffer: words, then a content that is read, then one that is written.
constexpr std::uint64_t word_place = 0;
constexpr std::uint64_t mark_place = 8;
constexpr std::uint64_t ignored_place = 16;
constexpr std::uint64_t content_place = 24;

}  // namespace

Link::Link(std::unique_ptr<stores::NodeConnection> connection, const Options& options)
    : connection_(std::move(connection)), options_(options), layout_(options) {}

fabric::Result<std::unique_ptr<Link>> Link::create(fabric::Host& host, const stores::Member& member,
                                                   const Options& options) {
  auto connection = stores::NodeConnection::create(
      host, member,
      {.buffer_bytes = content_place + 2 * std::uint64_t{Layout(options).content_bytes()},
       .checks_incarnation = options.safeguards.incarnations,
       .connect_timeout_ns = options.connect_timeout_ns,
       .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
       .retry_count = options.retry_count,
       .connections_per_chain = options.connections_per_request});
  if (!connection) return tl::unexpected(connection.error());
  return std::unique_ptr<Link>(new Link(std::move(*connection), options));
}

Word Link::word_in_buffer() { return Word(connection_->buffer().load(word_place)); }

Content Link::content_in_buffer() {
  Content content(layout_.content_bytes());
  connection_->buffer().read(content_place, content);
  return content;
}

// Requests

std::optional<Word> Link::read_word(std::uint64_t key) {
  std::array chain{stores::read_request(word_place, layout_.word_offset(key), fabric::word_bytes)};
  if (!connection_->execute(chain)) return std::nullopt;
  return word_in_buffer();
}

std::optional<Link::WordAndContent> Link::read_word_and_container(std::uint64_t key,
                                                                  std::uint64_t container) {
  std::array chain{
      stores::read_request(word_place, layout_.word_offset(key), fabric::word_bytes),
      stores::read_request(content_place, layout_.container_offset(container) + Layout::mark_bytes,
                           layout_.content_bytes())};
  if (!connection_->execute(chain)) return std::nullopt;
  const Word word = word_in_buffer();
  return WordAndContent{.word = word, .content = content_in_buffer()};
}

std::optional<Content> Link::read_container(std::uint64_t container) {
  std::array chain{stores::read_request(content_place,
                                        layout_.container_offset(container) + Layout::mark_bytes,
                                        layout_.content_bytes())};
  if (!connection_->execute(chain)) return std::nullopt;
  return content_in_buffer();
}

std::vector<fabric::WorkRequest> Link::chain_with(const ContainerWrite& write,
                                                  fabric::WorkRequest request) {
  if (write.content.empty()) return {request};
  const auto fill = connection_->write_request(
      content_place + layout_.content_bytes(),
      layout_.container_offset(write.container) + Layout::mark_bytes, write.content);
  if (!options_.safeguards.container_first) return {request, fill};
  return {fill, request};
}

std::optional<Word> Link::write_and_read_word(const ContainerWrite& write, std::uint64_t key) {
  auto chain = chain_with(
      write, stores::read_request(word_place, layout_.word_offset(key), fabric::word_bytes));
  if (!connection_->execute(chain)) return std::nullopt;
  return word_in_buffer();
}

std::optional<Word> Link::write_and_swap(const ContainerWrite& write, std::uint64_t key,
                                         Word expected, Word desired) {
  auto chain = chain_with(write, stores::swap_request(word_place, layout_.word_offset(key),
                                                      expected.bits(), desired.bits()));
  if (!connection_->execute(chain)) return std::nullopt;
  return word_in_buffer();
}

std::optional<Word> Link::mark_and_read_word(std::uint64_t container, std::uint64_t version,
                                             std::uint64_t key) {
  // An atomic and a later READ of one queue pair are ordered.
  std::array chain{
      stores::swap_request(mark_place, layout_.container_offset(container), 0, version),
      stores::read_request(word_place, layout_.word_offset(key), fabric::word_bytes)};
  if (!connection_->execute(chain)) return std::nullopt;
  return word_in_buffer();
}

void Link::swap_later(std::uint64_t key, Word expected, Word desired) {
  connection_->post(stores::swap_request(ignored_place, layout_.word_offset(key), expected.bits(),
                                         desired.bits()));
}

std::optional<std::uint64_t> Link::read_mark(std::uint64_t container) {
  std::array chain{
      stores::read_request(mark_place, layout_.container_offset(container), fabric::word_bytes)};
  if (!connection_->execute(chain)) return std::nullopt;
  return connection_->buffer().load(mark_place);
}

}  // namespace falafel::replicated
