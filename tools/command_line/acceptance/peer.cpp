#include "tools/command_line/acceptance/peer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/command_line/acceptance/observers.h"

namespace falafel::acceptance {

using fabric::CompletionStatus;
using fabric::Opcode;
using fabric::WorkCompletion;
using fabric::WorkRequest;

// -------------------------------------------------------------------------------------------------
// Link

Link::Link(Peer& peer, const fabric::QueuePairOptions& wanted)
    : peer_(peer),
      sends_(must(peer.device().create_completion_queue(most_link_requests))),
      receives_(must(peer.device().create_completion_queue(most_link_receives))) {
  fabric::QueuePairOptions options = wanted;
  options.protection_domain = &peer.domain();
  options.send_completions = sends_.get();
  options.receive_completions = receives_.get();
  options.max_send_requests = most_link_requests;
  options.max_receive_requests = most_link_receives;
  const LinkHello hello{.session = peer.session(),
                        .transport = static_cast<std::uint32_t>(wanted.transport),
                        .receiver_not_ready_retry_count = wanted.receiver_not_ready_retry_count};
  auto connection =
      must(peer.device().connect({.host = peer.server(), .service = link_service}, options,
                                 to_bytes(hello), peer.host().now_ns() + patience_ns));
  const auto answer = from_bytes<LinkAnswer>(connection.private_data);
  if (!answer) throw NotDone{"the other side is none of an acceptance run"};
  queue_pair_ = std::move(connection.queue_pair);
  remote_key_ = answer->remote_key;
  number_ = answer->link;
}

WorkRequest Link::request(Opcode opcode, std::uint64_t local, std::uint64_t remote,
                          std::uint32_t length) const {
  WorkRequest made;
  made.opcode = opcode;
  made.length_bytes = length;
  made.local = {peer_.local_key(), local};
  made.remote = {remote_key_, remote};
  return made;
}

WorkRequest Link::read(std::uint64_t local, std::uint64_t remote, std::uint32_t length) const {
  return request(Opcode::read, local, remote, length);
}
WorkRequest Link::write(std::uint64_t local, std::uint64_t remote, std::uint32_t length) const {
  return request(Opcode::write, local, remote, length);
}
WorkRequest Link::swap(std::uint64_t local, std::uint64_t remote, std::uint64_t expected,
                       std::uint64_t desired) const {
  WorkRequest made = request(Opcode::compare_and_swap, local, remote, fabric::word_bytes);
  made.compare = expected;
  made.swap_or_add = desired;
  return made;
}
WorkRequest Link::add(std::uint64_t local, std::uint64_t remote, std::uint64_t addend) const {
  WorkRequest made = request(Opcode::fetch_and_add, local, remote, fabric::word_bytes);
  made.swap_or_add = addend;
  return made;
}
WorkRequest Link::send(std::uint64_t local, std::uint32_t length) const {
  WorkRequest made = request(Opcode::send, local, 0, length);
  made.remote = {};
  return made;
}

void Link::post(std::span<const WorkRequest> chain) { must(queue_pair_->post_send(chain)); }

WorkCompletion Link::next_of(fabric::CompletionQueue& queue) const {
  WorkCompletion completion;
  if (!queue.wait(peer_.host().now_ns() + patience_ns)) throw NotDone{"no completion came"};
  if (queue.poll({&completion, 1}) != 1) throw NotDone{"a completion cannot be polled"};
  return completion;
}

WorkCompletion Link::next() { return next_of(*sends_); }
WorkCompletion Link::next_received() { return next_of(*receives_); }

void Link::succeed(std::span<const WorkRequest> chain) {
  post(chain);
  for (const WorkRequest& each : chain) {
    if (!each.signalled) continue;
    const WorkCompletion completion = next();
    if (completion.status != CompletionStatus::success) {
      throw Mismatch{fmt::format("{} completed with: {}", to_string(each.opcode),
                                 to_string(completion.status))};
    }
  }
}

CompletionStatus Link::status_of(const WorkRequest& request) {
  post({request});
  return next().status;
}

// -------------------------------------------------------------------------------------------------
// Peer

Peer::Peer(fabric::Host& host, const std::string& server)
    : host_(host),
      server_(server),
      session_(host.random(0)),
      domain_(host.device(0).create_protection_domain()),
      memory_(must(host.allocate_memory(session_bytes))),
      region_(must(domain_->register_memory(memory_, 0, session_bytes,
                                            {.local_write = true,
                                             .remote_read = true,
                                             .remote_write = true,
                                             .remote_atomic = true}))),
      messages_(must(host.allocate_memory(sizeof(Command) + sizeof(Reply)))),
      message_region_(must(domain_->register_memory(messages_, 0, sizeof(Command) + sizeof(Reply),
                                                    {.local_write = true}))),
      sends_(must(device().create_completion_queue(2))),
      receives_(must(device().create_completion_queue(2))) {
  connect_control();
  const Reply reply = ask({.task = Task::greet});
  greeting_ = from_words<Greeting>(reply.words);
  const std::string text(reply.text.data(), reply.text_bytes);
  const std::size_t end_of_version = std::min(text.find('\n'), text.size());
  version_ = text.substr(0, end_of_version);
  machine_ = text.substr(std::min(end_of_version + 1, text.size()));
}

void Peer::connect_control() {
  auto connection = must(device().connect({.host = server_, .service = control_service},
                                          {.protection_domain = domain_.get(),
                                           .send_completions = sends_.get(),
                                           .receive_completions = receives_.get(),
                                           .max_send_requests = 2,
                                           .max_receive_requests = 2,
                                           .hears_close = true},
                                          to_bytes(session_), host_.now_ns() + patience_ns));
  control_ = std::move(connection.queue_pair);
}

void Peer::begin_asking(const Command& command) {
  const fabric::ReceiveRequest reply{.local = {message_region_->local_key(), sizeof(Command)},
                                     .length_bytes = sizeof(Reply)};
  must(control_->post_receive({&reply, 1}));
  messages_->write(0, to_bytes(command));
  WorkRequest request;
  request.opcode = Opcode::send;
  request.length_bytes = sizeof(Command);
  request.local = {message_region_->local_key(), 0};
  must(control_->post_send({&request, 1}));
  WorkCompletion completion;
  if (!sends_->wait(host_.now_ns() + patience_ns) || sends_->poll({&completion, 1}) != 1 ||
      completion.status != CompletionStatus::success) {
    throw NotDone{"the other side does not take messages"};
  }
}

Reply Peer::end_asking() {
  // The longest answer is that of a store which comes to rest.
  constexpr std::uint64_t longest_answer_ns = 4 * patience_ns;
  WorkCompletion completion;
  if (!receives_->wait(host_.now_ns() + longest_answer_ns) ||
      receives_->poll({&completion, 1}) != 1 || completion.status != CompletionStatus::success) {
    throw NotDone{"the other side does not answer"};
  }
  const Reply reply = from_bytes<Reply>(messages_->bytes().subspan(sizeof(Command))).value();
  if (reply.answered == Answered::refused) {
    throw NotDone{"the other side refused: " + std::string(reply.text.data(), reply.text_bytes)};
  }
  return reply;
}

Reply Peer::ask(const Command& command) {
  begin_asking(command);
  return end_asking();
}

Reply Peer::stop_observer(Link& link) {
  constexpr std::uint64_t local_offset = session_bytes - fabric::word_bytes;
  memory_->store(local_offset, 1);
  link.succeed({link.write(local_offset, stop_offset, fabric::word_bytes),
                link.read(local_offset - fabric::word_bytes, stop_offset, fabric::word_bytes)});
  return end_asking();
}

std::unique_ptr<Link> Peer::connect(const fabric::QueuePairOptions& wanted) {
  return std::make_unique<Link>(*this, wanted);
}

WorkRequest fenced(WorkRequest request) {
  request.fenced = true;
  return request;
}
WorkRequest unsignalled(WorkRequest request) {
  request.signalled = false;
  return request;
}

std::vector<std::byte> pattern(std::size_t length_bytes, std::uint8_t salt) {
  std::vector<std::byte> bytes(length_bytes);
  for (std::size_t index = 0; index < length_bytes; ++index) {
    bytes[index] = static_cast<std::byte>((index * 7 + salt) % 255 + 1);
  }
  return bytes;
}

}  // namespace falafel::acceptance
