// One run of the scenario: its servers, and the clients that keep their keys at all of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "explorer/check/history.h"
#include "explorer/check/workload.h"
#include "explorer/check/world.h"
#include "fabric/fabric.h"
#include "stores/replicated/client.h"
#include "stores/replicated/options.h"
#include "stores/replicated/server.h"
#include "tools/scenarios/attempted_registers.h"
#include "tools/scenarios/attempted_registers_program.h"

namespace falafel::replicated_scenario {

using scenarios::AttemptedRegisters;
using scenarios::key_count;
using scenarios::key_of;

inline constexpr std::uint64_t server_count = 3;

class Run {
 public:
  // Both outlive the run.
  Run(check::World& world, const check::Plan<AttemptedRegisters>& plan);
  void execute();

 private:
  struct Place {
    std::uint32_t lives = 0;
    bool is_up = false;
    // Returns whether the server has lost nothing.
    bool is_intact() const { return lives == 1 && is_up; }
  };

  replicated::Options draw_options();
  void serve(fabric::Host& host, std::size_t number);
  void run_client(fabric::Host& host, std::uint32_t number);
  std::unique_ptr<replicated::Client> connect(fabric::Host& host, std::uint32_t number);
  void attempt(replicated::Client& client, std::uint32_t number,
               const AttemptedRegisters::Operation& operation);
  std::optional<AttemptedRegisters::Result> execute(replicated::Client& client,
                                                    const AttemptedRegisters::Operation& operation);
  bool has_lost_a_server() const;
  bool may_fail() const;
  void count(const replicated::Client& client);

  check::World& world_;
  const check::Plan<AttemptedRegisters>& plan_;
  check::History<AttemptedRegisters>& history_;
  check::Condition& has_read_after_loss_;
  check::Condition& has_written_back_;
  check::Condition& has_guessed_;
  check::Condition& has_withdrawn_;
  check::Condition& has_found_mark_;
  replicated::Options options_;
  std::array<Place, server_count> places_;
  // The first operation that failed, if no fault excuses it.
  std::optional<std::string> failed_;
};

}  // namespace falafel::replicated_scenario
