// Tells which restarts of servers matter to the changes of a cluster: those while a change settles,
// and those of servers that keys have been copied from or to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "explorer/check/world.h"

namespace falafel::cluster_scenario {

// The fate of a server's memory when its process ends.
enum class Memory : std::uint8_t { stays, is_lost };

class RestartWatch {
 public:
  // An operator's attempt to make a change.
  class Attempt {
   public:
    Attempt(RestartWatch& watch, std::size_t change);
    ~Attempt();
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    void settle(bool settles) { settles_ = settles; }
    void read_at(std::size_t server) { sources_.insert(server); }
    void copied_to(std::size_t server) { targets_.insert(server); }
    void on_done();

   private:
    friend class RestartWatch;

    RestartWatch& watch_;
    const std::size_t change_;
    bool settles_ = false;
    std::set<std::size_t> sources_;
    std::set<std::size_t> targets_;
    bool has_kept_copies_ = false;  // of a process that has ended
    bool has_lost_copies_ = false;
    bool is_done_ = false;
  };

  explicit RestartWatch(check::World& world);

  void on_end_of_process(std::size_t server, Memory memory);
  // Returns whether the server has copies of an attempt that has not ended.
  bool has_copies(std::size_t server) const;

 private:
  void on_kept(Attempt& attempt, std::size_t server) const;

  check::Condition& settles_;
  check::Condition& reads_;
  check::Condition& copies_;
  check::Condition& carries_on_;
  check::Condition& begins_anew_;
  std::vector<Attempt*> attempts_;
  std::set<std::size_t> changes_with_lost_copies_;
};

}  // namespace falafel::cluster_scenario
