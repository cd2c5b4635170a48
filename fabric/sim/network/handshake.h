// Connecting: a request travels to the listener, and the answer travels back; choices decide how
// long each takes. The queue pairs are joined when the server accepts. The client's queue pair
// becomes ready when the answer arrives.
#pragma once

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <string>

#include "fabric/fabric.h"
#include "fabric/sim/run/actor.h"
#include "fabric/sim/run/fiber.h"

namespace falafel::sim {

class DeviceState;
class HostState;
class QueuePairActor;
struct World;

class Handshake final : public Actor {
 public:
  Handshake(World& world, HostState& client, HostState& server, std::uint16_t service,
            QueuePairActor& queue_pair, fabric::PrivateData private_data);

  fabric::Result<void> wait(std::uint64_t deadline_ns);  // for the client's fiber
  const fabric::PrivateData& private_data() const { return private_data_; }
  const fabric::PrivateData& reply() const { return reply_; }
  QueuePairActor& client_queue_pair() const { return queue_pair_; }
  bool abandoned() const { return stage_ == Stage::abandoned; }

  void touch() const;

  void accept(fabric::PrivateData reply);
  void reject(fabric::PrivateData reason);

  void step() override;
  std::string describe() const override;

 private:
  enum class Stage : std::uint8_t { request_travels, at_listener, answer_travels, done, abandoned };

  void set_out();
  void request_arrives();
  void answer(bool accepted, fabric::PrivateData reply);

  World& world_;
  HostState& client_;
  HostState& server_;
  std::uint32_t server_incarnation_;
  std::uint16_t service_;
  QueuePairActor& queue_pair_;
  fabric::PrivateData private_data_;
  fabric::PrivateData reply_;
  Stage stage_ = Stage::request_travels;
  bool accepted_ = false;
  bool listener_found_ = false;
  fabric::WaitList waiter_;
};

class Listener final : public fabric::Listener {
 public:
  Listener(World& world, DeviceState& device, std::uint16_t service);
  ~Listener() override;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::unique_ptr<fabric::ConnectionRequest> accept(std::uint64_t deadline_ns) override;
  void arrive(Handshake& handshake);

 private:
  World& world_;
  DeviceState& device_;
  std::pmr::deque<Handshake*> backlog_;
  fabric::WaitList waiters_;
};

}  // namespace falafel::sim
