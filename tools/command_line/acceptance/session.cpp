#include "tools/command_line/acceptance/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fabric/time_units.h"
#include "tools/command_line/acceptance/observers.h"

namespace falafel::acceptance {
namespace {

// Longer than a slow emulated network needs.
constexpr std::uint64_t receive_patience_ns = 60 * fabric::second_ns;
constexpr std::uint64_t flush_id = 1'000'000;

Reply done(std::uint64_t word = 0) { return {.words = {word}}; }

template <typename Value>
Reply done_with(const Value& value) {
  return {.words = to_words(value)};
}

Reply from_result(const fabric::Result<void>& result) {
  return result ? done() : refusal(result.error().detail);
}

}  // namespace

Reply refusal(std::string_view reason) {
  Reply reply{.answered = Answered::refused};
  reply.text_bytes = static_cast<std::uint32_t>(std::min(reason.size(), most_text_bytes));
  std::ranges::copy(reason.substr(0, reply.text_bytes), reply.text.begin());
  return reply;
}

fabric::Access access_of(std::uint64_t rights) {
  return {.local_write = (rights & right_local_write) != 0,
          .remote_read = (rights & right_remote_read) != 0,
          .remote_write = (rights & right_remote_write) != 0,
          .remote_atomic = (rights & right_remote_atomic) != 0};
}

fabric::Result<std::unique_ptr<Session>> Session::create(fabric::Host& host, std::uint64_t number) {
  std::unique_ptr<Session> session(new Session(host, number));
  session->domain_ = host.device(0).create_protection_domain();
  auto memory = host.allocate_memory(session_bytes);
  if (!memory) return tl::unexpected(memory.error());
  session->memory_ = std::move(*memory);
  auto region =
      session->domain_->register_memory(session->memory_, 0, session_bytes, access_of(all_rights));
  if (!region) return tl::unexpected(region.error());
  session->regions_.push_back(std::move(*region));
  return session;
}

void Session::accept(fabric::ConnectionRequest& request, const LinkHello& hello) {
  Link link;
  auto sends = host_.device(0).create_completion_queue(most_link_requests);
  auto receives = host_.device(0).create_completion_queue(most_link_receives);
  if (!sends || !receives) return request.reject({});
  link.sends = std::move(*sends);
  link.receives = std::move(*receives);
  const LinkAnswer answer{.remote_key = regions_.front()->remote_key(),
                          .link = static_cast<std::uint32_t>(links_.size())};
  auto accepted =
      request.accept({.transport = static_cast<fabric::Transport>(hello.transport),
                      .protection_domain = domain_.get(),
                      .send_completions = link.sends.get(),
                      .receive_completions = link.receives.get(),
                      .max_send_requests = 4,
                      .max_receive_requests = most_link_receives,
                      .receiver_not_ready_retry_count = hello.receiver_not_ready_retry_count},
                     to_bytes(answer));
  if (!accepted) return request.reject({});
  link.queue_pair = std::move(*accepted);
  links_.push_back(std::move(link));
}

// The other side is as trusted as this one. This finds its mistakes, not its attacks.
std::optional<std::string> Session::problem_of(const Command& command) const {
  const bool is_inside =
      command.length <= session_bytes && command.offset <= session_bytes - command.length;
  if (!is_inside) return "beyond the memory of the session";
  return std::nullopt;
}

std::optional<Reply> Session::perform(const Command& command) {
  if (const auto problem = problem_of(command)) return refusal(*problem);
  if (auto reply = perform_on_memory(command)) return reply;
  if (auto reply = perform_on_region(command)) return reply;
  if (auto reply = observe(command)) return reply;
  return perform_on_link(command);
}

std::optional<Reply> Session::perform_on_memory(const Command& command) {
  switch (command.task) {
    case Task::load: return done(memory_->load(command.offset));
    case Task::store: memory_->store(command.offset, command.value); return done();
    case Task::fill: {
      const std::vector<std::byte> bytes(command.length, static_cast<std::byte>(command.value));
      memory_->write(command.offset, bytes);
      return done();
    }
    case Task::compare_and_swap:
      return done(memory_->compare_and_swap(command.offset, command.compare, command.value));
    default: return std::nullopt;
  }
}

Reply Session::register_region(const Command& command) {
  auto region =
      domain_->register_memory(memory_, command.offset, command.length, access_of(command.value));
  if (!region) return refusal(region.error().detail);
  regions_.push_back(std::move(*region));
  return {.words = {regions_.size() - 1, regions_.back()->remote_key()}};
}

std::optional<Reply> Session::perform_on_region(const Command& command) {
  if (command.task == Task::register_region) return register_region(command);
  if (command.task != Task::change_access && command.task != Task::revoke) return std::nullopt;
  if (command.object >= regions_.size()) return refusal("no such region");
  fabric::MemoryRegion& region = *regions_[command.object];
  if (command.task == Task::change_access)
    return from_result(region.change_access(access_of(command.value)));
  region.revoke();
  return done();
}

Reply Session::post_receive(Link& link, const Command& command) {
  const fabric::ReceiveRequest request{.id = command.offset,
                                       .local = {regions_.front()->local_key(), command.offset},
                                       .length_bytes = static_cast<std::uint32_t>(command.length)};
  return from_result(link.queue_pair->post_receive({&request, 1}));
}

Reply Session::await_receive(Link& link) const {
  if (!link.receives->wait(host_.now_ns() + receive_patience_ns))
    return refusal("nothing was received");
  fabric::WorkCompletion completion;
  if (link.receives->poll({&completion, 1}) != 1) return refusal("nothing can be polled");
  return done_with(Received{.status = static_cast<std::uint64_t>(completion.status),
                            .opcode = static_cast<std::uint64_t>(completion.opcode),
                            .length_bytes = completion.length_bytes,
                            .has_immediate = completion.immediate ? 1U : 0U,
                            .immediate = completion.immediate.value_or(0),
                            .queue_pair_number = completion.queue_pair_number});
}

std::optional<Reply> Session::perform_on_link(const Command& command) {
  if (command.object >= links_.size()) return std::nullopt;
  Link& link = links_[command.object];
  switch (command.task) {
    case Task::post_receive: return post_receive(link, command);
    case Task::await_receive: return await_receive(link);
    case Task::move_to_error: link.queue_pair->move_to_error(); return done();
    case Task::close: link.queue_pair->close(); return done();
    case Task::state: return done(static_cast<std::uint64_t>(link.queue_pair->state()));
    case Task::flush: {
      const fabric::ReceiveRequest request{
          .id = flush_id, .local = {regions_.front()->local_key(), 0}, .length_bytes = 8};
      if (const auto posted = link.queue_pair->post_receive({&request, 1}); !posted)
        return refusal(posted.error().detail);
      return await_receive(link);
    }
    default: return std::nullopt;
  }
}

// `offset` is that of the earlier word, `compare` that of the later one.
std::optional<Reply> Session::observe(const Command& command) {
  switch (command.task) {
    case Task::watch_two_words:
      return done_with(
          watch_two_words(host_, *memory_, command.offset, command.compare, command.value != 0));
    case Task::count_up: return done_with(count_up(host_, *memory_, command.offset));
    case Task::store_up: return done_with(store_up(host_, *memory_, command.offset));
    case Task::watch_messages: {
      if (command.object >= links_.size()) return refusal("no such connection");
      Link& link = links_[command.object];
      const MessageSource source{.queue_pair = link.queue_pair.get(),
                                 .receives = link.receives.get(),
                                 .local_key = regions_.front()->local_key(),
                                 .buffer_offset = command.compare,
                                 .buffers = command.value};
      for (std::uint64_t number = 0; number < source.buffers; ++number) {
        const fabric::ReceiveRequest request{
            .id = number,
            .local = {source.local_key, source.buffer_offset + number * fabric::word_bytes},
            .length_bytes = fabric::word_bytes};
        if (const auto posted = link.queue_pair->post_receive({&request, 1}); !posted)
          return refusal(posted.error().detail);
      }
      return done_with(watch_messages(host_, *memory_, source, command.offset));
    }
    default: return std::nullopt;
  }
}

}  // namespace falafel::acceptance
