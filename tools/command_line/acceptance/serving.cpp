#include "tools/command_line/acceptance/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "falafel_build_identity.h"
#include "tools/benchmarks/calibration/parties.h"
#include "tools/command_line/acceptance/machine.h"
#include "tools/command_line/acceptance/protocol.h"
#include "tools/command_line/acceptance/served_store.h"
#include "tools/command_line/acceptance/session.h"

namespace falafel::acceptance {
namespace {

Reply with_text(std::string_view text) {
  Reply reply = refusal(text);
  reply.answered = Answered::done;
  return reply;
}

// The messages of one session: a command, a reply, and so on.
class Conversation {
 public:
  static fabric::Result<std::unique_ptr<Conversation>> create(fabric::Host& host) {
    std::unique_ptr<Conversation> made(new Conversation(host));
    auto sends = host.device(0).create_completion_queue(2);
    auto receives = host.device(0).create_completion_queue(2);
    auto memory = host.allocate_memory(sizeof(Command) + sizeof(Reply));
    for (const auto* const result : {&sends, &receives}) {
      if (!*result) return tl::unexpected(result->error());
    }
    if (!memory) return tl::unexpected(memory.error());
    auto region = made->domain_->register_memory(*memory, 0, sizeof(Command) + sizeof(Reply),
                                                 {.local_write = true});
    if (!region) return tl::unexpected(region.error());
    made->sends_ = std::move(*sends);
    made->receives_ = std::move(*receives);
    made->memory_ = std::move(*memory);
    made->region_ = std::move(*region);
    return made;
  }

  bool accept(fabric::ConnectionRequest& request) {
    const fabric::ReceiveRequest first = receive_request();
    auto accepted = request.accept({.protection_domain = domain_.get(),
                                    .send_completions = sends_.get(),
                                    .receive_completions = receives_.get(),
                                    .max_send_requests = 2,
                                    .max_receive_requests = 2,
                                    .hears_close = true},
                                   {}, {&first, 1});
    if (!accepted) return false;
    queue_pair_ = std::move(*accepted);
    return true;
  }

  // Waits. nullopt: the other side has gone.
  std::optional<Command> next() {
    receives_->wait(fabric::never_ns);
    fabric::WorkCompletion completion;
    if (receives_->poll({&completion, 1}) != 1) return std::nullopt;
    if (completion.status != fabric::CompletionStatus::success) return std::nullopt;
    return from_bytes<Command>(memory_->bytes().first(sizeof(Command)));
  }

  // Waits until the other side has closed its end, and lets next() return then.
  void end_with_peer() {
    queue_pair_->wait_until_peer_closed(fabric::never_ns);
    queue_pair_->move_to_error();
  }
  void close() { queue_pair_->close(); }

  bool answer(const Reply& reply) {
    memory_->write(sizeof(Command), to_bytes(reply));
    const fabric::ReceiveRequest again = receive_request();
    if (!queue_pair_->post_receive({&again, 1})) return false;
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::send;
    request.length_bytes = sizeof(Reply);
    request.local = {region_->local_key(), sizeof(Command)};
    if (!queue_pair_->post_send({&request, 1})) return false;
    sends_->wait(fabric::never_ns);
    fabric::WorkCompletion completion;
    return sends_->poll({&completion, 1}) == 1 &&
           completion.status == fabric::CompletionStatus::success;
  }

 private:
  explicit Conversation(fabric::Host& host) : domain_(host.device(0).create_protection_domain()) {}

  fabric::ReceiveRequest receive_request() const {
    return {.local = {region_->local_key(), 0}, .length_bytes = sizeof(Command)};
  }

  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> sends_;
  std::unique_ptr<fabric::CompletionQueue> receives_;
  std::shared_ptr<fabric::MemoryBlock> memory_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

class Serving {
 public:
  Serving(fabric::Host& host, const std::function<bool()>& is_over, std::uint64_t interval_ns)
      : host_(host), is_over_(is_over), interval_ns_(interval_ns) {}

  tl::expected<void, std::string> run() {
    const auto control = host_.device(0).listen(control_service);
    if (!control) return tl::unexpected(control.error().detail);
    const auto links = host_.device(0).listen(link_service);
    if (!links) return tl::unexpected(links.error().detail);
    fibers_.push_back(
        host_.spawn({.name = "links", .daemon = true}, [&] { accept_links(**links); }));
    while (!is_over_()) {
      if (const auto request = (*control)->accept(host_.now_ns() + interval_ns_)) begin(*request);
    }
    end_calibration();
    for (const fabric::FiberId fiber : fibers_) host_.cancel(fiber);
    for (const fabric::FiberId fiber : fibers_) host_.join(fiber);
    store_.reset();
    return {};
  }

 private:
  void begin(fabric::ConnectionRequest& request) {
    const auto number = from_bytes<std::uint64_t>(request.private_data());
    auto conversation = Conversation::create(host_);
    if (!number || !conversation) return request.reject({});
    auto session = Session::create(host_, *number);
    if (!session) return request.reject({});
    const std::shared_ptr<Session> shared = std::move(*session);
    sessions_.push_back(shared);  // before the other side can connect a link
    if (!(*conversation)->accept(request)) return end(*shared);
    const std::shared_ptr<Conversation> talk = std::move(*conversation);
    fibers_.push_back(host_.spawn({.name = "session", .daemon = true}, [this, shared, talk] {
      while (const auto command = talk->next()) {
        auto reply = shared->perform(*command);
        if (!reply) reply = perform(*command);
        if (!talk->answer(*reply)) break;
      }
      talk->close();
      end(*shared);
    }));
    fibers_.push_back(
        host_.spawn({.name = "end", .daemon = true}, [talk] { talk->end_with_peer(); }));
  }

  void end(const Session& session) {
    std::erase_if(sessions_, [&](const auto& each) { return each.get() == &session; });
  }

  void accept_links(fabric::Listener& listener) {
    while (true) {
      const auto request = listener.accept(fabric::never_ns);
      if (request == nullptr) continue;
      const auto hello = from_bytes<LinkHello>(request->private_data());
      const auto found = std::ranges::find_if(sessions_, [&](const auto& session) {
        return hello && session->number() == hello->session;
      });
      if (found == sessions_.end()) {
        request->reject({});
      } else {
        (*found)->accept(*request, *hello);
      }
    }
  }

  Reply perform(const Command& command) {
    switch (command.task) {
      case Task::greet: return greet();
      case Task::begin_store: return begin_store();
      case Task::end_store: return end_store();
      case Task::begin_calibration: return begin_calibration();
      case Task::end_calibration: end_calibration(); return {};
      default: return refusal("unknown task or connection");
    }
  }

  Reply greet() {
    const fabric::DeviceAttributes& device = host_.device(0).attributes();
    std::string text(build::identity);
    for (const auto& [name, value] : facts_of_machine())
      text += fmt::format("\n{}: {}", name, value);
    Reply reply = with_text(text);
    reply.words =
        to_words(Greeting{.mtu_bytes = device.mtu_bytes,
                          .atomic_capability = static_cast<std::uint64_t>(device.atomic_capability),
                          .places_in_address_order = device.places_in_address_order ? 1U : 0U});
    return reply;
  }

  Reply begin_store() {
    store_.reset();
    auto started = start_small_store(host_);
    if (!started) return refusal(started.error().detail);
    store_ = std::move(*started);
    return {};
  }

  // The words say whether the memory is in order. The text says what is wrong with it, or what the
  // server did.
  Reply end_store() {
    if (store_ == nullptr) return refusal("no store was begun");
    std::string summary;
    const std::string problem = judge_store(host_, *store_, summary);
    store_.reset();
    Reply reply = with_text(problem.empty() ? summary : problem);
    reply.words[0] = problem.empty() ? 1 : 0;
    return reply;
  }

  Reply begin_calibration() {
    if (calibration_) return {};
    calibration_is_over_ = false;
    calibration_failure_.clear();
    calibration_ = host_.spawn({.name = "calibration", .daemon = true}, [this] {
      const auto served = calibration::serve(
          host_, [this] { return calibration_is_over_; }, interval_ns_);
      if (!served) calibration_failure_ = served.error();
    });
    host_.sleep_until(host_.now_ns() + interval_ns_);  // it listens by then, or has failed
    return calibration_failure_.empty() ? Reply{} : refusal(calibration_failure_);
  }

  void end_calibration() {
    if (!calibration_) return;
    calibration_is_over_ = true;
    host_.join(*calibration_);
    calibration_.reset();
  }

  fabric::Host& host_;
  const std::function<bool()>& is_over_;
  std::uint64_t interval_ns_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<fabric::FiberId> fibers_;
  std::unique_ptr<engine::Server> store_;
  std::optional<fabric::FiberId> calibration_;
  bool calibration_is_over_ = false;
  std::string calibration_failure_;
};

}  // namespace

tl::expected<void, std::string> serve(fabric::Host& host, const std::function<bool()>& is_over,
                                      std::uint64_t interval_ns) {
  return Serving(host, is_over, interval_ns).run();
}

}  // namespace falafel::acceptance
