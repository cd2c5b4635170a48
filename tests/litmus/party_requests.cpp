// The actions of a connected party: processor accesses, requests to the server's memory, messages.
#include <algorithm>
#include <span>

#include "fabric/assert.h"
#include "tests/litmus/party.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::word_bytes;
using fabric::WorkCompletion;
using fabric::WorkRequest;

// The processor

std::uint64_t Party::load(std::uint64_t word) {
  host_.yield();
  return memory_->load(word * word_bytes);
}

void Party::store(std::uint64_t word, std::uint64_t value) {
  host_.yield();
  memory_->store(word * word_bytes, value);
}

std::uint64_t Party::processor_compare_and_swap(std::uint64_t word, std::uint64_t expected,
                                                std::uint64_t desired) {
  host_.yield();
  return memory_->compare_and_swap(word * word_bytes, expected, desired);
}

void Party::yield_at_random(std::uint64_t most) {
  std::uint64_t left = trial_.stage().is_explored ? 1 : host_.random(most + 1);
  for (; left > 0; --left) host_.yield();
}

std::uint64_t Party::final_word(std::uint64_t word) const {
  return word_of(memory_->bytes(), word);
}

// Requests

WorkRequest Party::make(Opcode opcode, std::uint64_t words) {
  FALAFEL_ASSERT(next_word_ + words <= trial_.stage().memory_words, "no room for local buffers");
  FALAFEL_ASSERT(next_request_ < max_requests, "too many requests");
  WorkRequest request;
  request.id = next_request_++;
  request.opcode = opcode;
  request.length_bytes = static_cast<std::uint32_t>(words * word_bytes);
  request.local = {regions_.front()->local_key(), next_word_ * word_bytes};
  next_word_ += words;
  return request;
}

WorkRequest Party::make_remote(Opcode opcode, std::uint64_t word, std::uint64_t words) {
  WorkRequest request = make(opcode, words);
  request.remote = {trial_.server().region(server_device()).remote_key(), word * word_bytes};
  return request;
}

WorkRequest Party::read(std::uint64_t word, std::uint64_t count) {
  return make_remote(Opcode::read, word, count);
}

WorkRequest Party::write(std::uint64_t word, std::initializer_list<std::uint64_t> values) {
  const std::uint64_t first = next_word_;
  const WorkRequest request = make_remote(Opcode::write, word, values.size());
  for (std::size_t index = 0; index < values.size(); ++index) {
    set_word(memory_->bytes(), first + index, values.begin()[index]);
  }
  return request;
}

WorkRequest Party::fill(std::uint64_t word, std::uint64_t value, std::uint64_t count) {
  const std::uint64_t first = next_word_;
  const WorkRequest request = make_remote(Opcode::write, word, count);
  for (std::uint64_t index = 0; index < count; ++index) {
    set_word(memory_->bytes(), first + index, value);
  }
  return request;
}

WorkRequest Party::compare_and_swap(std::uint64_t word, std::uint64_t expected,
                                    std::uint64_t desired) {
  WorkRequest request = make_remote(Opcode::compare_and_swap, word, 1);
  request.compare = expected;
  request.swap_or_add = desired;
  return request;
}

WorkRequest Party::fetch_and_add(std::uint64_t word, std::uint64_t addend) {
  WorkRequest request = make_remote(Opcode::fetch_and_add, word, 1);
  request.swap_or_add = addend;
  return request;
}

WorkRequest Party::send(std::initializer_list<std::uint64_t> values) {
  const std::uint64_t first = next_word_;
  WorkRequest request = make(Opcode::send, values.size());
  if (trial_.stage().queue_pair.transport == fabric::Transport::unreliable_datagram) {
    const std::uint32_t number = trial_.server().queue_pair().number();
    request.destination = must(host_.device(0).resolve(server_name, number));
  }
  for (std::size_t index = 0; index < values.size(); ++index) {
    set_word(memory_->bytes(), first + index, values.begin()[index]);
  }
  return request;
}

fabric::Result<void> Party::try_post(std::span<const WorkRequest> chain, std::size_t queue_pair) {
  auto posted = queue_pairs_.at(queue_pair)->post_send({chain.begin(), chain.size()});
  if (posted.has_value()) {
    const auto signalled = std::ranges::count(chain, true, &WorkRequest::signalled);
    outstanding_ += static_cast<std::uint64_t>(signalled);
  }
  return posted;
}

void Party::post(std::initializer_list<WorkRequest> chain, std::size_t queue_pair) {
  must(try_post(chain, queue_pair));
}

void Party::finish() {
  std::array<WorkCompletion, max_requests> completions;
  while (outstanding_ > 0) {
    send_completions_.front()->wait(fabric::never_ns);
    const std::size_t count = send_completions_.front()->poll(completions);
    for (const WorkCompletion& completion : std::span(completions).first(count)) {
      statuses_.at(completion.id) = completion.status;
      if (completion.status != CompletionStatus::success) last_failure_ = completion;
      completed_.push_back(completion.id);
    }
    // An unsignalled request that fails also completes, in addition to those that were counted.
    outstanding_ -= std::min<std::uint64_t>(outstanding_, count);
  }
}

std::uint64_t Party::result(const WorkRequest& request, std::uint64_t index) const {
  return word_of(memory_->bytes(), request.local.offset / word_bytes + index);
}

CompletionStatus Party::status(const WorkRequest& request) const {
  return statuses_.at(request.id);
}

// Messages

fabric::ReceiveRequest Party::receive_request(std::uint64_t word, std::uint64_t count) const {
  return {.id = word,
          .local = {regions_.front()->local_key(), word * word_bytes},
          .length_bytes = static_cast<std::uint32_t>(count * word_bytes)};
}

void Party::post_receive(std::uint64_t word, std::uint64_t count, std::size_t queue_pair) {
  const fabric::ReceiveRequest request = receive_request(word, count);
  must(queue_pairs_.at(queue_pair)->post_receive({&request, 1}));
}

void Party::post_shared_receive(std::uint64_t word) {
  const fabric::ReceiveRequest request = receive_request(word, 1);
  must(shared_receives_->post_receive({&request, 1}));
}

std::optional<WorkCompletion> Party::await_message(std::uint64_t deadline_ns,
                                                   std::size_t queue_pair) {
  const bool are_separate = trial_.stage().separate_receive_completions;
  auto& completions = *receive_completions_.at(are_separate ? queue_pair : 0);
  WorkCompletion completion;
  if (!completions.wait(deadline_ns)) return std::nullopt;
  completions.poll({&completion, 1});
  return completion;
}

bool Party::has_completion() {
  WorkCompletion completion;
  return send_completions_.front()->poll({&completion, 1}) > 0 ||
         receive_completions_.front()->poll({&completion, 1}) > 0;
}

}  // namespace falafel::litmus
