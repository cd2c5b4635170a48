#include "tests/litmus/party.h"

#include <iterator>
#include <utility>

#include "fabric/assert.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

using fabric::Transport;
using fabric::word_bytes;

// The server listens before the clients connect.
constexpr std::uint64_t connecting_starts_ns = 1'000'000;
constexpr std::uint16_t first_service = 1;
constexpr std::uint32_t completion_capacity = 256;

}  // namespace

Party::Party(Trial& trial, std::size_t number, fabric::Host& host)
    : trial_(trial), number_(number), host_(host) {}

// Setting up

void Party::set_up() {
  forget_former_life();
  memory_ = must(host_.allocate_memory(trial_.stage().memory_words * word_bytes));
  for (std::size_t index = 0; index < host_.device_count(); ++index) set_up_device(index);
}

// A host that restarts begins with nothing.
void Party::forget_former_life() {
  queue_pairs_.clear();
  listeners_.clear();
  shared_receives_.reset();
  receive_completions_.clear();
  send_completions_.clear();
  regions_.clear();
  domains_.clear();
}

void Party::set_up_device(std::size_t index) {
  fabric::Device& device = host_.device(index);
  domains_.push_back(device.create_protection_domain());
  regions_.push_back(must(domains_.back()->register_memory(
      memory_, 0, trial_.stage().memory_words * word_bytes, every_right)));
  send_completions_.push_back(must(device.create_completion_queue(completion_capacity)));
  if (trial_.stage().separate_receive_completions) return;
  receive_completions_.push_back(must(device.create_completion_queue(completion_capacity)));
}

void Party::share_receives() {
  const std::uint32_t requests = trial_.stage().shared_receive_requests;
  if (requests == 0) return;
  shared_receives_ = must(host_.device(0).create_shared_receive_queue(
      {.protection_domain = domains_.front().get(), .max_receive_requests = requests}));
}

fabric::CompletionQueue& Party::receive_completions_of_next(std::size_t device) {
  if (!trial_.stage().separate_receive_completions) return *receive_completions_.at(device);
  auto completions = host_.device(device).create_completion_queue(completion_capacity);
  return *receive_completions_.emplace_back(must(std::move(completions)));
}

fabric::QueuePairOptions Party::queue_pair_options(std::size_t device) {
  fabric::QueuePairOptions options = trial_.stage().queue_pair;
  options.protection_domain = domains_.at(device).get();
  options.send_completions = send_completions_.at(device).get();
  options.receive_completions = &receive_completions_of_next(device);
  options.shared_receive_queue = shared_receives_.get();
  return options;
}

std::size_t Party::server_device() const {
  return (number_ - 1) % trial_.stage().server_device_count;
}

void Party::boot_as_server() {
  set_up();
  share_receives();
  if (trial_.stage().queue_pair.transport == Transport::unreliable_datagram) {
    open_datagram_queue_pair();
  } else {
    for (std::size_t index = 0; index < host_.device_count(); ++index) {
      const auto service = static_cast<std::uint16_t>(first_service + index);
      listeners_.push_back(must(host_.device(index).listen(service)));
    }
    const Stage& stage = trial_.stage();
    const std::uint64_t connections = stage.client_count * stage.connections_per_client;
    for (std::uint64_t count = 0; count < connections; ++count) accept();
  }
  if (trial_.stage().prepare_server) trial_.stage().prepare_server(*this);
  wait_for_start();
}

void Party::boot_as_client() {
  set_up();
  host_.sleep_until(connecting_starts_ns);
  if (trial_.stage().queue_pair.transport == Transport::unreliable_datagram) {
    open_datagram_queue_pair();
  } else {
    for (std::uint64_t count = 0; count < trial_.stage().connections_per_client; ++count) connect();
  }
  wait_for_start();
}

void Party::wait_for_start() { host_.sleep_until(programs_start_ns); }

fabric::ProtectionDomain& Party::add_domain() {
  domains_.push_back(host_.device(0).create_protection_domain());
  return *domains_.back();
}

std::size_t Party::add_region(std::uint64_t word, std::uint64_t count, fabric::Access access,
                              fabric::ProtectionDomain& domain) {
  regions_.push_back(
      must(domain.register_memory(memory_, word * word_bytes, count * word_bytes, access)));
  return regions_.size() - 1;
}

// Connections use the devices in turn.
std::size_t Party::accept() {
  const std::size_t device = queue_pairs_.size() % listeners_.size();
  auto request = listeners_.at(device)->accept(fabric::never_ns);
  queue_pairs_.push_back(must(request->accept(queue_pair_options(device), {})));
  return queue_pairs_.size() - 1;
}

// Retries until the server listens, because a latency spike may delay the server beyond the fixed
// time.
std::size_t Party::connect() {
  const fabric::Address address{server_name,
                                static_cast<std::uint16_t>(first_service + server_device())};
  while (true) {
    auto connection = host_.device(0).connect(address, queue_pair_options(0), {}, fabric::never_ns);
    if (connection.has_value()) {
      queue_pairs_.push_back(std::move(connection->queue_pair));
      return queue_pairs_.size() - 1;
    }
    FALAFEL_ASSERT(connection.error().code == fabric::ErrorCode::connection_refused, "{}",
                   connection.error().detail);
    host_.sleep_until(host_.now_ns() + connecting_starts_ns);
  }
}

void Party::open_datagram_queue_pair() {
  queue_pairs_.push_back(must(host_.device(0).create_datagram_queue_pair(queue_pair_options(0))));
}

// The run

Trial::Trial(sim::Simulation& simulation, const Stage& stage, const Program& server,
             const std::vector<Program>& clients)
    : simulation_(simulation), stage_(stage) {
  FALAFEL_ASSERT(clients.size() == stage.client_count && clients.size() <= std::size(client_names),
                 "{} clients", clients.size());
  parties_.reserve(clients.size() + 1);
  add_party(0, server_name, server);
  for (std::size_t index = 0; index < clients.size(); ++index) {
    add_party(index + 1, client_names[index], clients[index]);
  }
}

// An exploration must know of it.
void Trial::tell(std::size_t index, std::uint64_t value) {
  simulation_.touch(static_cast<std::uint32_t>(index), sim::Access::writes);
  seen.at(index) = value;
}

std::uint64_t Trial::told(std::size_t index) {
  simulation_.touch(static_cast<std::uint32_t>(index), sim::Access::reads);
  return seen.at(index);
}

void Trial::add_party(std::size_t number, const std::string& name, const Program& program) {
  const bool is_server = number == 0;
  const sim::HostOptions options{.name = name,
                                 .role = is_server ? sim::Role::server : sim::Role::client,
                                 .device_count = is_server ? stage_.server_device_count : 1,
                                 .destruction_drains = stage_.destruction_drains};
  fabric::Host& host = simulation_.add_host(options, [this, number, &program](fabric::Host&) {
    Party& party = parties_.at(number);
    number == 0 ? party.boot_as_server() : party.boot_as_client();
    if (program) program(party);
  });
  parties_.emplace_back(*this, number, host);
}

}  // namespace falafel::litmus
