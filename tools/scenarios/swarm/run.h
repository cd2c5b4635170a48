// One run of the scenario: its nodes, and the clients that keep their keys at all memory nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "fabric/fabric.h"
#include "stores/swarm/client.h"
#include "stores/swarm/node.h"
#include "stores/swarm/options.h"
#include "tools/scenarios/attempted_registers.h"
#include "tools/scenarios/attempted_registers_program.h"

namespace falafel::swarm_scenario {

using scenarios::AttemptedRegisters;
using scenarios::key_count;
using scenarios::key_of;

inline constexpr std::size_t memory_nodes = 3;

class Run {
 public:
  // Both outlive the run.
  Run(check::World& world, const check::Plan<AttemptedRegisters>& plan);
  void execute();

 private:
  struct Place {
    std::uint32_t lives = 0;
    bool is_up = false;
    std::shared_ptr<fabric::MemoryBlock> memory;
    // Returns whether the node has lost nothing.
    bool is_intact() const { return lives == 1 && is_up; }
  };
  struct Conditions {
    explicit Conditions(check::World& world);
    void count(const swarm::Statistics& statistics) const;

    check::Condition& has_read_after_loss;
    check::Condition& has_read_in_place;
    check::Condition& has_read_out_of_place;
    check::Condition& has_written_back;
    check::Condition& has_guessed;
    check::Condition& has_withdrawn;
    check::Condition& has_found_lock;
    check::Condition& has_returned_first_guess;
    check::Condition& has_lost_insert;
  };

  swarm::Options draw_options();
  void serve(fabric::Host& host, std::size_t number);
  void run_client(fabric::Host& host, std::uint32_t number);
  std::unique_ptr<swarm::Client> connect(fabric::Host& host, std::uint32_t number);
  void attempt(swarm::Client& client, std::uint32_t number,
               const AttemptedRegisters::Operation& operation);
  std::optional<AttemptedRegisters::Result> execute(swarm::Client& client,
                                                    const AttemptedRegisters::Operation& operation);
  std::size_t intact_memory_nodes() const;
  bool is_index_intact() const;
  bool may_fail() const;
  void judge_locks(std::uint64_t locked);
  void judge_memory();

  check::World& world_;
  const check::Plan<AttemptedRegisters>& plan_;
  check::History<AttemptedRegisters>& history_;
  Conditions conditions_;
  swarm::Options options_;
  std::vector<Place> places_;
  // The first operation that failed, if no fault excuses it.
  std::optional<std::string> failed_;
};

}  // namespace falafel::swarm_scenario
