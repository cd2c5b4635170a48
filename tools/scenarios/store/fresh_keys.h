// Keys that are fresh after the last change of a hostile client: at some moment since then, no
// entry had the key, and neither an operation from before nor the server, which locks entries while
// it moves one, was left that could insert it. The client may
// have damaged what these keys were before (attacked_slots.h), but from that moment on, they are
// keys like any others, and their operations are judged in full.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkers/history.h"
#include "checkers/table_watch.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class FreshKeys {
 public:
  // The keys are those of the plans.
  explicit FreshKeys(const Scenario& scenario);

  // The entry in a slot has changed. `time`: of the last call or return of an operation.
  void on_changed(const checkers::TableWatch& table, std::uint64_t slot, bool by_hostile,
                  std::uint64_t time);
  // The next server may have other memory, or changes memory that nobody observes.
  void on_server_died() { has_server_died_ = true; }

  // Two entries have pointed to one container after an attack: each may have had any key since,
  // although nobody changed it. Not watched where the table grows.
  bool has_shared_container() const { return has_shared_container_; }

  // The operations on the key since it has been fresh, as the history of a key that is absent;
  // empty if it never is. An operation that was pending then may take effect later, or not.
  std::vector<checkers::Operation> operations_since(
      const std::string& key, std::span<const checkers::Operation> history) const;

 private:
  bool shares_container(const checkers::TableWatch& table, std::uint64_t slot) const;
  std::optional<std::uint64_t> fresh_since(const std::string& key,
                                           std::span<const checkers::Operation> history) const;

  bool is_watched_;
  bool is_judged_;
  engine::Geometry geometry_;
  bool has_server_died_ = false;
  bool has_shared_container_ = false;
  std::uint64_t last_attack_time_ = 0;
  // The times since the last attack at which no entry had the key.
  std::map<std::string, std::vector<std::uint64_t>> absent_at_;
};

}  // namespace falafel::store_scenario
