#include "fabric/sim/network/handshake.h"

#include <algorithm>

#include "fabric/posting_rules.h"
#include "fabric/sim/network/device_state.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/network/queue_pair_creation.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

class ConnectionRequest final : public fabric::ConnectionRequest {
 public:
  ConnectionRequest(World& world, DeviceState& device, Handshake& handshake)
      : world_(world), device_(device), handshake_(&handshake) {}
  ~ConnectionRequest() override {
    if (handshake_ != nullptr) handshake_->reject({});
  }
  ConnectionRequest(const ConnectionRequest&) = delete;
  ConnectionRequest& operator=(const ConnectionRequest&) = delete;

  const fabric::PrivateData& private_data() const override {
    FALAFEL_ASSERT(handshake_ != nullptr, "a connection request is asked after its answer");
    return handshake_->private_data();
  }

  Result<std::unique_ptr<fabric::QueuePair>> accept(
      const fabric::QueuePairOptions& options, fabric::PrivateData private_data,
      std::span<const fabric::ReceiveRequest> first_receives) override {
    if (handshake_ == nullptr) {
      return make_error(ErrorCode::invalid_argument, "the request was answered before");
    }
    const QueuePairActor& client = handshake_->client_queue_pair();
    if (options.transport != client.connection().transport()) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("transport: the client asks for {}, not {}",
                      to_string(client.connection().transport()), to_string(options.transport)));
    }
    if (Result<void> checked = fabric::check_private_data(private_data); !checked) {
      return tl::unexpected<fabric::Error>(checked.error());
    }
    Result<QueuePairActor*> actor = create_queue_pair(world_, device_, options);
    if (!actor) return tl::unexpected<fabric::Error>(actor.error());
    auto queue_pair = std::make_unique<QueuePair>(**actor);
    Result<void> posted = fabric::post_first_receives(*queue_pair, first_receives);
    if (!posted) return tl::unexpected<fabric::Error>(posted.error());
    (*actor)->host().drain_stores();
    Handshake& handshake = *std::exchange(handshake_, nullptr);
    QueuePairActor::join(**actor, handshake.client_queue_pair());
    (*actor)->become_ready();
    handshake.accept(std::move(private_data));
    return queue_pair;
  }

  void reject(fabric::PrivateData reason) override {
    if (handshake_ != nullptr) std::exchange(handshake_, nullptr)->reject(std::move(reason));
  }

 private:
  World& world_;
  DeviceState& device_;
  Handshake* handshake_;  // null after the answer
};

}  // namespace

Handshake::Handshake(World& world, HostState& client, HostState& server, std::uint16_t service,
                     QueuePairActor& queue_pair, fabric::PrivateData private_data)
    : world_(world),
      client_(client),
      server_(server),
      server_incarnation_(server.incarnation()),
      service_(service),
      queue_pair_(queue_pair),
      private_data_(std::move(private_data)) {
  world_.ready.introduce(*this);
  touch();
  set_out();
}

// In a timed run, each way takes the time of a handshake.
void Handshake::set_out() {
  if (world_.costs != nullptr) {
    world_.ready.set_due(
        *this, world_.local_time_ns() + timing::to_ns(world_.costs->profile().handshake_ps));
  }
  world_.ready.set_work(*this, true);
}

Result<void> Handshake::wait(std::uint64_t deadline_ns) {
  world_.current_fiber().wait(&waiter_, deadline_ns, "a connection");
  touch();
  if (stage_ != Stage::done) {
    stage_ = Stage::abandoned;
    world_.ready.set_work(*this, false);
    return make_error(ErrorCode::unreachable,
                      fmt::format("{} did not answer in time", server_.name()));
  }
  if (accepted_) return {};
  if (!listener_found_) {
    return make_error(ErrorCode::connection_refused,
                      fmt::format("nobody listens on service {} of {}", service_, server_.name()));
  }
  return make_error(
      ErrorCode::connection_refused,
      fmt::format("{} rejected the connection{}{}", server_.name(), reply_.empty() ? "" : ": ",
                  std::string_view(reinterpret_cast<const char*>(reply_.data()), reply_.size())));
}

void Handshake::step() {
  world_.trace.record({.kind = EventKind::connection,
                       .detail = static_cast<std::uint8_t>(stage_),
                       .subject = queue_pair_.number()});
  world_.ready.set_work(*this, false);
  if (stage_ == Stage::request_travels) {
    request_arrives();
  } else if (stage_ == Stage::answer_travels) {
    stage_ = Stage::done;
    if (accepted_) queue_pair_.become_ready();
    waiter_.wake_all();
  }
}

void Handshake::request_arrives() {
  stage_ = Stage::at_listener;
  if (!server_.alive() || server_.incarnation() != server_incarnation_) return;  // no answer
  Listener* listener = server_.services().find(service_);
  listener_found_ = listener != nullptr;
  if (listener_found_) {
    listener->arrive(*this);
  } else {
    answer(false, {});
  }
}

void Handshake::accept(fabric::PrivateData reply) { answer(true, std::move(reply)); }

void Handshake::reject(fabric::PrivateData reason) { answer(false, std::move(reason)); }

void Handshake::answer(bool accepted, fabric::PrivateData reply) {
  touch();
  if (stage_ != Stage::at_listener) return;  // the client gave up
  reply.resize(std::min(reply.size(), fabric::max_private_data_bytes));
  if (!server_.alive()) return;  // the answer is lost
  accepted_ = accepted;
  reply_ = std::move(reply);
  stage_ = Stage::answer_travels;
  set_out();
}

void Handshake::touch() const { world_.touch(Touchable::actor, actor_id(), Access::writes); }

std::string Handshake::describe() const {
  return fmt::format("connection of {} to service {} of {}, stage {}", client_.name(), service_,
                     server_.name(), static_cast<int>(stage_));
}

Listener::Listener(World& world, DeviceState& device, std::uint16_t service)
    : world_(world), device_(device), backlog_(&world.arena) {
  device_.host().services().add(service, *this);
}

Listener::~Listener() {
  device_.host().services().remove(*this);
  for (Handshake* handshake : backlog_) handshake->reject({});
}

void Listener::arrive(Handshake& handshake) {
  device_.host().services().touch(Access::writes);
  backlog_.push_back(&handshake);
  waiters_.wake_all();
}

std::unique_ptr<fabric::ConnectionRequest> Listener::accept(std::uint64_t deadline_ns) {
  for (;;) {
    device_.host().services().touch(Access::writes);
    while (!backlog_.empty()) {
      Handshake& handshake = *backlog_.front();
      backlog_.pop_front();
      handshake.touch();
      if (!handshake.abandoned())
        return std::make_unique<ConnectionRequest>(world_, device_, handshake);
    }
    if (!world_.current_fiber().wait(&waiters_, deadline_ns, "a request to connect") &&
        backlog_.empty()) {
      return nullptr;
    }
  }
}

}  // namespace falafel::sim
