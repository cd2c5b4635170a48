#include "stores/replicated/link.h"

#include <array>
#include <utility>

#include "stores/bytes.h"

namespace falafel::replicated {
namespace {

// The buffer: words, then a content that is read, then one that is written.
constexpr std::uint64_t word_place = 0;
constexpr std::uint64_t mark_place = 8;
constexpr std::uint64_t ignored_place = 16;
constexpr std::uint64_t content_place = 24;
constexpr std::uint32_t most_requests = 16;

}  // namespace

Link::Link(fabric::Host& host, Member member, const Options& options)
    : host_(host), member_(std::move(member)), options_(options), layout_(options) {}

fabric::Result<std::unique_ptr<Link>> Link::create(fabric::Host& host, const Member& member,
                                                   const Options& options) {
  std::unique_ptr<Link> link(new Link(host, member, options));
  if (auto opened = link->open(); !opened) return tl::unexpected(opened.error());
  return link;
}

fabric::Result<void> Link::open() {
  domain_ = host_.device(0).create_protection_domain();
  const std::uint64_t size_bytes = content_place + 2 * std::uint64_t{layout_.content_bytes()};
  auto buffer =
      stores::RegisteredMemory::create(host_, *domain_, size_bytes, {.local_write = true});
  if (!buffer) return tl::unexpected(buffer.error());
  buffer_ = std::move(*buffer);
  return {};
}

// Connections

bool Link::connect() {
  auto completions = host_.device(0).create_completion_queue(2 * most_requests);
  if (!completions) return false;
  completions_ = std::move(*completions);
  auto connection =
      host_.device(0).connect(member_.address,
                              {.protection_domain = domain_.get(),
                               .send_completions = completions_.get(),
                               .receive_completions = completions_.get(),
                               .max_send_requests = most_requests,
                               .max_receive_requests = 1,
                               .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                               .retry_count = options_.retry_count},
                              {}, host_.now_ns() + options_.connect_timeout_ns);
  if (!connection) return false;
  const auto hello = stores::from_bytes<Hello>(connection->private_data);
  if (!hello) return false;
  if (options_.safeguards.incarnations && hello->incarnation != member_.incarnation) {
    is_gone_ = true;
    return false;
  }
  remote_key_ = static_cast<std::uint32_t>(hello->remote_key);
  queue_pair_ = std::move(connection->queue_pair);
  return true;
}

bool Link::execute(std::span<fabric::WorkRequest> chain) {
  for (std::uint32_t broken = 0; broken < options_.connections_per_request && !is_gone_; ++broken) {
    if (queue_pair_ == nullptr && !connect()) return false;
    if (try_to_execute(chain)) return true;
    queue_pair_.reset();
  }
  return false;
}

// Only the last request of the chain is signalled, and every failure is.
bool Link::try_to_execute(std::span<fabric::WorkRequest> chain) {
  for (fabric::WorkRequest& request : chain) {
    request.signalled = &request == &chain.back();
    request.local.key = buffer_.region->local_key();
    request.remote.key = remote_key_;
  }
  if (!queue_pair_->post_send(chain)) return false;
  host_.spend(fabric::Work::round_trip, 0);
  std::array<fabric::WorkCompletion, 1> completion;
  while (completions_->poll(completion) == 0) completions_->wait(fabric::never_ns);
  return completion.front().status == fabric::CompletionStatus::success;
}

fabric::WorkRequest Link::read_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                       std::uint32_t length_bytes) const {
  return {.opcode = fabric::Opcode::read,
          .length_bytes = length_bytes,
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset}};
}

fabric::WorkRequest Link::swap_request(std::uint64_t remote_offset, std::uint64_t expected,
                                       std::uint64_t desired) const {
  return {.opcode = fabric::Opcode::compare_and_swap,
          .length_bytes = fabric::word_bytes,
          .local = {.offset = word_place},
          .remote = {.offset = remote_offset},
          .compare = expected,
          .swap_or_add = desired};
}

Word Link::word_in_buffer() { return Word(buffer_.block->load(word_place)); }

Content Link::content_in_buffer() {
  Content content(layout_.content_bytes());
  buffer_.block->read(content_place, content);
  return content;
}

// Requests

std::optional<Word> Link::read_word(std::uint64_t key) {
  std::array chain{read_request(word_place, layout_.word_offset(key), fabric::word_bytes)};
  if (!execute(chain)) return std::nullopt;
  return word_in_buffer();
}

std::optional<Link::WordAndContent> Link::read_word_and_container(std::uint64_t key,
                                                                  std::uint64_t container) {
  std::array chain{
      read_request(word_place, layout_.word_offset(key), fabric::word_bytes),
      read_request(content_place, layout_.container_offset(container) + Layout::mark_bytes,
                   layout_.content_bytes())};
  if (!execute(chain)) return std::nullopt;
  const Word word = word_in_buffer();
  return WordAndContent{.word = word, .content = content_in_buffer()};
}

std::optional<Content> Link::read_container(std::uint64_t container) {
  std::array chain{read_request(content_place,
                                layout_.container_offset(container) + Layout::mark_bytes,
                                layout_.content_bytes())};
  if (!execute(chain)) return std::nullopt;
  return content_in_buffer();
}

std::vector<fabric::WorkRequest> Link::chain_with(const ContainerWrite& write,
                                                  fabric::WorkRequest request) {
  if (write.content.empty()) return {request};
  buffer_.block->write(content_place + layout_.content_bytes(), write.content);
  host_.spend(fabric::Work::copy, write.content.size());
  const fabric::WorkRequest fill{
      .opcode = fabric::Opcode::write,
      .length_bytes = static_cast<std::uint32_t>(write.content.size()),
      .local = {.offset = content_place + layout_.content_bytes()},
      .remote = {.offset = layout_.container_offset(write.container) + Layout::mark_bytes}};
  if (!options_.safeguards.container_first) return {request, fill};
  return {fill, request};
}

std::optional<Word> Link::write_and_read_word(const ContainerWrite& write, std::uint64_t key) {
  auto chain =
      chain_with(write, read_request(word_place, layout_.word_offset(key), fabric::word_bytes));
  if (!execute(chain)) return std::nullopt;
  return word_in_buffer();
}

std::optional<Word> Link::write_and_swap(const ContainerWrite& write, std::uint64_t key,
                                         Word expected, Word desired) {
  auto chain =
      chain_with(write, swap_request(layout_.word_offset(key), expected.bits(), desired.bits()));
  if (!execute(chain)) return std::nullopt;
  return word_in_buffer();
}

std::optional<Word> Link::mark_and_read_word(std::uint64_t container, std::uint64_t version,
                                             std::uint64_t key) {
  auto mark = swap_request(layout_.container_offset(container), 0, version);
  mark.local.offset = mark_place;
  // An atomic and a later READ of one queue pair are ordered.
  std::array chain{mark, read_request(word_place, layout_.word_offset(key), fabric::word_bytes)};
  if (!execute(chain)) return std::nullopt;
  return word_in_buffer();
}

// Its completion, if any, comes before that of the next chain. If the queue is full, nothing swaps.
void Link::swap_later(std::uint64_t key, Word expected, Word desired) {
  if (is_gone_ || (queue_pair_ == nullptr && !connect())) return;
  auto request = swap_request(layout_.word_offset(key), expected.bits(), desired.bits());
  request.signalled = false;
  request.local = {.key = buffer_.region->local_key(), .offset = ignored_place};
  request.remote.key = remote_key_;
  if (!queue_pair_->post_send(std::span(&request, 1))) return;
  host_.spend(fabric::Work::round_trip, 0);
}

std::optional<std::uint64_t> Link::read_mark(std::uint64_t container) {
  std::array chain{
      read_request(mark_place, layout_.container_offset(container), fabric::word_bytes)};
  if (!execute(chain)) return std::nullopt;
  return buffer_.block->load(mark_place);
}

}  // namespace falafel::replicated
