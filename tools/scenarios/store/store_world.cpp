#include "tools/scenarios/store/store_world.h"

#include <set>
#include <span>

#include "checkers/collector.h"
#include "checkers/memory_view.h"
#include "checkers/table.h"
#include "engine/layout/expiry.h"
#include "engine/layout/superblock.h"
#include "tools/scenarios/store/judged_objects.h"
#include "tools/scenarios/store/parties.h"

namespace falafel::store_scenario {

using engine::Answer;

std::string key_name(std::uint32_t key) { return "key " + std::to_string(key); }

std::string client_name(std::size_t client) { return "client " + std::to_string(client); }

std::vector<std::string> client_hosts(const Scenario& scenario) {
  std::vector<std::string> names;
  for (std::size_t client = 0; client < scenario.clients.size(); ++client) {
    names.push_back(client_name(client));
  }
  if (!scenario.attacks.empty()) names.emplace_back(Parties::hostile_host);
  return names;
}

StoreWorld::StoreWorld(const Scenario& scenario, RunListener* listener)
    : scenario_(scenario),
      listener_(listener),
      clients_(scenario.clients.size()),
      set_many_(scenario.clients.size()),
      hostile_(
          scenario, [this] { return are_faults_over(); }, [this] { return is_server_stopped(); },
          [this] { return inspect(); }),
      is_hostile_over_(scenario.attacks.empty()),
      attacked_(scenario.geometry) {}

void StoreWorld::add_hosts(sim::Simulation& simulation) {
  simulation_ = &simulation;
  simulation.add_host({.name = "server",
                       .role = sim::Role::server,
                       .destruction_drains = scenario_.destruction_drains},
                      [this](fabric::Host& host) { serve(host); });
  for (std::uint32_t client = 0; client < clients_.size(); ++client) {
    simulation.add_host({.name = client_name(client)},
                        [this, client](fabric::Host& host) { run_client(host, client); });
  }
  if (scenario_.attacks.empty()) return;
  simulation.add_host({.name = std::string(Parties::hostile_host)},
                      [this](fabric::Host& host) { run_hostile_client(host); });
}

void StoreWorld::on_host_died(std::uint32_t host) {
  if (host == server_host) return;
  const std::size_t client = host - server_host - 1;
  (client < clients_.size() ? clients_[client].over : is_hostile_over_) = true;
}

// The order between the return of an operation and the call of another one decides which answers
// are correct; the order of two calls, or of two returns, does not.
std::uint64_t StoreWorld::next_call_time() {
  touch(history_object, sim::Access::reads);
  return ++time_;
}

std::uint64_t StoreWorld::next_return_time() {
  touch(history_object, sim::Access::adds);
  return ++time_;
}

std::uint64_t StoreWorld::unfinished_operations() const {
  std::uint64_t count = 0;
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    if (clients_[client].unfinished > 0 && !is_client_stopped(client))
      count += clients_[client].unfinished;
  }
  return count;
}

bool StoreWorld::is_server_stopped() const {
  return scenario_.simulation.fault_rate(sim::FaultKind::server_stop) > 0 &&
         simulation_->is_stopped("server");
}

// Nobody waits for a client that is stopped for good. Its operations stay pending.
bool StoreWorld::is_client_stopped(std::size_t client) const {
  return may_clients_stop() && simulation_->is_stopped(client_name(client));
}

bool StoreWorld::is_hostile_stopped() const {
  return may_clients_stop() && simulation_->is_stopped(Parties::hostile_host);
}

bool StoreWorld::may_clients_stop() const {
  return scenario_.simulation.fault_rate(sim::FaultKind::client_stop) > 0;
}

bool StoreWorld::are_clients_over() const {
  if (!is_hostile_over_ && !is_hostile_stopped()) return false;
  for (std::size_t client = 0; client < clients_.size(); ++client) {
    if (!clients_[client].over && !is_client_stopped(client)) return false;
  }
  return true;
}

bool StoreWorld::are_faults_over() const {
  return simulation_->steps() > scenario_.simulation.last_fault_step;
}

engine::ServerInspection StoreWorld::inspect() const {
  return server_ == nullptr ? engine::ServerInspection{} : server_->inspect();
}

// Checks at the end

checkers::MemoryView StoreWorld::view(const engine::ServerBooks& books) const {
  return {.geometry = server_->geometry(),
          .hash_key = server_->hash_key(),
          .chunk = server_->memory().bytes(),
          .regions = books.regions,
          .mature_spaces = books.mature_spaces};
}

std::vector<checkers::Judgement> StoreWorld::judgements_at_rest(
    const checkers::MemoryView& memory) const {
  if (attacked_.is_any()) return {checkers::check_repaired(memory)};
  return {checkers::check_table(memory), checkers::check_collector(memory)};
}

// The live keys and their values that a GET would find.
std::map<std::string, std::string> StoreWorld::read_values(fabric::Host& host,
                                                           const checkers::MemoryView& view) const {
  std::map<std::string, std::string> contents = checkers::read_contents(view);
  if (!view.geometry.values_expire) return contents;
  std::erase_if(contents, [&](const auto& pair) {
    return engine::is_expired(std::as_bytes(std::span(pair.second)), host.wall_clock_ns());
  });
  for (auto& [key, value] : contents) value.erase(0, engine::expiry_bytes);
  return contents;
}

void StoreWorld::judge_memory(fabric::Host& host) {
  const engine::ServerBooks books = server_->books();
  const checkers::MemoryView view = this->view(books);
  for (const checkers::Judgement& judgement : judgements_at_rest(view)) {
    if (judgement.verdict == checkers::Verdict::violated) violations_.push_back(judgement);
  }
  const auto superblock = engine::parse_superblock(view.chunk, view.geometry.chunk_bytes());
  FALAFEL_ASSERT(superblock.has_value(), "{}", superblock.error().detail);
  checkers::History& history = histories_[superblock->incarnation];
  std::set<std::string> keys;
  for (const checkers::Operation& operation : history.operations()) keys.insert(operation.key);
  const auto contents = read_values(host, view);
  const auto reader = static_cast<std::uint32_t>(clients_.size());
  for (const std::string& key : keys) {
    const std::size_t read =
        history.call(next_call_time(), reader, checkers::OperationKind::get, key);
    times_[superblock->incarnation].push_back(
        {.call_ns = host.now_ns(), .return_ns = host.now_ns()});
    const auto found = contents.find(key);
    if (listener_ != nullptr) listener_->on_call(history.operations()[read]);
    const bool is_there = found != contents.end();
    history.complete(next_return_time(), read,
                     is_there ? checkers::Answer::found : checkers::Answer::not_found,
                     is_there ? std::string_view(found->second) : std::string_view());
    if (listener_ != nullptr) {
      listener_->on_return(history.operations()[read],
                           is_there ? Answer::found : Answer::not_found);
    }
  }
}

}  // namespace falafel::store_scenario
