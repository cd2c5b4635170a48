#include "tools/scenarios/cluster/restart_watch.h"

#include <algorithm>

namespace falafel::cluster_scenario {

RestartWatch::RestartWatch(check::World& world)
    : settles_(world.sometimes("a server starts over its memory while a change settles")),
      reads_(world.sometimes("a server starts over its memory after keys were copied from it")),
      copies_(world.sometimes("a server starts over its memory after keys were copied to it")),
      carries_on_(world.sometimes("a change is done with copies of a process that has ended")),
      begins_anew_(world.sometimes("a change is done after an attempt whose copies were lost")) {}

RestartWatch::Attempt::Attempt(RestartWatch& watch, std::size_t change)
    : watch_(watch), change_(change) {
  watch_.attempts_.push_back(this);
}

RestartWatch::Attempt::~Attempt() {
  std::erase(watch_.attempts_, this);
  if (has_lost_copies_ && !is_done_) watch_.changes_with_lost_copies_.insert(change_);
}

void RestartWatch::Attempt::on_done() {
  is_done_ = true;
  watch_.carries_on_.reached_if(has_kept_copies_);
  watch_.begins_anew_.reached_if(watch_.changes_with_lost_copies_.contains(change_));
}

void RestartWatch::on_end_of_process(std::size_t server, Memory memory) {
  for (Attempt* const attempt : attempts_) {
    if (memory == Memory::stays) on_kept(*attempt, server);
    if (memory == Memory::is_lost && attempt->targets_.contains(server)) {
      attempt->has_lost_copies_ = true;
    }
  }
}

void RestartWatch::on_kept(Attempt& attempt, std::size_t server) const {
  const bool has_copies = attempt.targets_.contains(server);
  settles_.reached_if(attempt.settles_);
  reads_.reached_if(attempt.sources_.contains(server));
  copies_.reached_if(has_copies);
  attempt.has_kept_copies_ |= has_copies;
}

bool RestartWatch::has_copies(std::size_t server) const {
  return std::ranges::any_of(
      attempts_, [&](const Attempt* attempt) { return attempt->targets_.contains(server); });
}

}  // namespace falafel::cluster_scenario
