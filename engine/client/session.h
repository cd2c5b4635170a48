// A connection to the server with everything that its operations share, and two fibers: one
// receives the server's messages, and one sends the client's. A third one may wait for the server
// to close the connection.
//
// The client and every fiber that uses the session share its ownership, so it outlives both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "engine/client/access_reports.h"
#include "engine/client/client_options.h"
#include "engine/client/location_cache.h"
#include "engine/client/old_operations.h"
#include "engine/client/operation_slots.h"
#include "engine/client/quiescence.h"
#include "engine/client/readahead.h"
#include "engine/client/region_allocator.h"
#include "engine/client/requester.h"
#include "engine/client/server_memory.h"
#include "engine/client/server_requests.h"
#include "engine/layout/control_message.h"
#include "engine/layout/superblock.h"
#include "engine/layout/tables.h"
#include "engine/local_memory.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(fabric::Host& host, const ClientOptions& options);

  // Returns how many requests a queue of this device and its completion queue hold.
  static std::uint32_t requests_at_a_time(const fabric::DeviceAttributes& device);
  // Returns a message about an attribute of the device that is too small for a session.
  static std::optional<std::string> find_unmet_requirement(const fabric::DeviceAttributes& device);

  // Connects, reads the superblock and starts the fibers. Waits.
  fabric::Result<void> open(const fabric::Address& server);
  // Stops the fibers; operations that wait fail. Does not wait.
  void close();
  // Sends a goodbye and waits until the server has received it.
  void say_goodbye();

  fabric::Host& host() { return host_; }
  fabric::Device& device() const { return host_.device(options_.device_index); }
  const ClientOptions& options() const { return options_; }
  const ServerMemory& server() const { return server_; }
  // The tables in use, as far as this client knows. They only advance.
  const Tables& tables() const { return tables_; }
  void learn(const Tables& tables);
  bool is_broken() const { return requester_->is_broken(); }
  // How long an operation may walk. While it does, the client can neither send a heartbeat nor
  // answer the server's question for quiescence, and the server waits for each of them no longer
  // than the heartbeat time-out. A heartbeat is due one interval after the last one, and there are
  // five of them in the time-out: four are over at the end of the walk.
  std::uint64_t longest_walk_ns() const { return 3 * heartbeat_interval_ns_; }

  // The parts that operations share. Valid once the session is open.
  fabric::ProtectionDomain& domain() { return *domain_; }
  Requester& requester() { return *requester_; }
  RegionAllocator& regions() { return *regions_; }
  OperationSlots& slots() { return slots_; }
  ServerRequests& cleanups() { return cleanups_; }
  ServerRequests& ends() { return ends_; }
  AccessReports& accesses() { return accesses_; }
  Quiescence& quiescence() { return quiescence_; }
  OldOperations& old_operations() { return old_operations_; }
  LoadEstimate& load() { return load_; }
  LocationCache& locations() { return locations_; }
  OperationStatistics& statistics() { return statistics_; }

 private:
  static constexpr std::uint32_t receive_count = 4;
  static constexpr std::uint64_t superblock_at = (receive_count + 1) * control_message_bytes;

  fabric::Result<ServerHello> connect(const fabric::Address& server, std::uint64_t deadline_ns);
  fabric::Result<void> read_superblock(std::uint64_t promised_bytes);
  void start_fibers();

  void do_duty(void (Session::*duty)());
  void hear_server_close();
  void receive_messages();
  void post_receives(std::uint64_t first, std::uint64_t count);
  bool handle(const ControlMessage& message);

  void send_messages();
  bool note_received(std::uint64_t received);
  bool has_credit(std::uint64_t credits) const { return sent_ - received_ < credits; }
  bool send(const ControlMessage& message);
  void check_connection();
  std::uint64_t next_duty_ns() const;
  std::optional<ControlMessage> next_message();
  std::optional<ControlMessage> heartbeat();
  std::optional<ControlMessage> end_report();
  void on_broken();

  fabric::Host& host_;
  const ClientOptions options_;
  ServerMemory server_;
  Tables tables_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> send_completions_;
  std::unique_ptr<fabric::CompletionQueue> receive_completions_;
  OperationSlots slots_;
  std::optional<Requester> requester_;
  std::optional<RegionAllocator> regions_;
  ServerRequests cleanups_;
  ServerRequests ends_;  // of all operations that began before
  AccessReports accesses_;
  Quiescence quiescence_;
  OldOperations old_operations_;
  LoadEstimate load_;
  LocationCache locations_;
  OperationStatistics statistics_;

  LocalMemory messages_;  // receive buffers, one send buffer, and the superblock as it was read
  std::unique_ptr<fabric::Event> outbox_;
  std::uint64_t heartbeat_interval_ns_ = 0;
  std::uint64_t next_heartbeat_ns_ = 0;
  // The next check of the connection while no message may be sent.
  std::uint64_t next_check_ns_ = 0;
  std::uint64_t check_interval_ns_ = 0;
  std::uint64_t asked_epoch_ = 0;  // the epoch of the server's last quiescence request
  // a heartbeat is due when the client is quiescent since this time
  std::optional<std::uint64_t> quiescent_since_;
  // The epoch of the server's question for the end of operations, until the client answers it.
  std::optional<std::uint64_t> unreported_end_;
  std::uint64_t sent_ = 0;      // number of messages sent
  std::uint64_t received_ = 0;  // number of those that the server has confirmed
  bool goodbye_ = false;
  std::unique_ptr<fabric::Event> goodbye_sent_;
  // Declared last so that it is destroyed first, because it refers to the queues and the memory.
  std::unique_ptr<fabric::QueuePair> queue_pair_;
};

}  // namespace falafel::engine
