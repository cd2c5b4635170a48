// A hostile client: it connects, carries out the attacks of the plan one by one, and connects again
// if the server expels it. Between two attacks it receives messages. It answers the question of
// quiescence, and never gives a region back.
//
// A message that no client sends names the offender, so the server must expel it. If this client is
// still connected long after such a message, the run violates "hostile.not-expelled".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "checkers/judgement.h"
#include "engine/layout/control_message.h"
#include "engine/layout/entry.h"
#include "engine/server/server_inspection.h"
#include "fabric/fabric.h"
#include "tools/scenarios/store/raw_client.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class HostileParty {
 public:
  static constexpr std::uint64_t most_connections = 4;

  // A server that is stopped for good expels nobody. Any other must do so soon after the faults are
  // over.
  // `inspect`: the server, if there is one. The client would have to guess what it says.
  HostileParty(const Scenario& scenario, std::function<bool()> are_faults_over,
               std::function<bool()> is_server_stopped,
               std::function<engine::ServerInspection()> inspect);

  // The program of its host. After a crash of the host, it continues with the next attack.
  void run(fabric::Host& host, const fabric::Address& server);

  std::uint64_t connections() const { return connections_; }
  const std::optional<checkers::Judgement>& violation() const { return violation_; }

 private:
  struct Region {
    std::uint32_t number = 0;
    std::uint64_t incarnation = 0;
    std::uint32_t remote_key = 0;
  };
  // `broken`: the connection. `breach`: the attack was a message that no client sends.
  enum class Result : std::uint8_t { done, broken, breach };

  std::unique_ptr<RawClient> connect(fabric::Host& host, std::uint32_t receive_requests);
  void attack_all(fabric::Host& host);
  Result carry_out(fabric::Host& host, const PlannedAttack& attack);
  Result say(const PlannedAttack& attack);
  Result release_twice(fabric::Host& host);
  Result repeat_request();
  Result flood(const PlannedAttack& attack);
  Result take_regions(fabric::Host& host);
  Result flag_entry(const PlannedAttack& attack);
  Result empty_entry(const PlannedAttack& attack);
  Result flip_entry(const PlannedAttack& attack);
  Result point_entry(const PlannedAttack& attack);
  Result lie(fabric::Host& host, const PlannedAttack& attack);
  Result evade(fabric::Host& host, const PlannedAttack& attack);
  Result steal_release(fabric::Host& host, const PlannedAttack& attack);
  Result write_late(fabric::Host& host, const PlannedAttack& attack);
  Result break_chain(const PlannedAttack& attack);
  Result share_container(fabric::Host& host, const PlannedAttack& attack);
  Result use_all_credits(fabric::Host& host);
  // Returns whether the server has expelled a client. It may do so only for lack of credits.
  bool is_expelled();
  bool wait_until_handled(fabric::Host& host, std::uint64_t sent);

  void listen(fabric::Host& host);
  void note_grant(const engine::ControlMessage& message);
  bool has_region(fabric::Host& host);
  std::optional<std::uint64_t> read_word(fabric::MemoryAddress place);  // nullopt: broken
  std::uint64_t count_slots();
  fabric::MemoryAddress place_of(std::uint64_t slot);
  bool swap_entry(std::uint64_t slot, const std::function<engine::Entry(engine::Entry)>& alter);
  std::uint32_t reference_to_point_to(const PlannedAttack& attack);
  void wait_until_expelled(fabric::Host& host, const PlannedAttack& attack);

  const Scenario& scenario_;
  std::function<bool()> are_faults_over_;
  std::function<bool()> is_server_stopped_;
  std::function<engine::ServerInspection()> inspect_;
  fabric::Address server_;
  std::size_t next_attack_ = 0;
  std::uint64_t connections_ = 0;
  std::unique_ptr<RawClient> client_;
  std::vector<Region> regions_;  // of this connection
  std::optional<checkers::Judgement> violation_;
};

}  // namespace falafel::store_scenario
