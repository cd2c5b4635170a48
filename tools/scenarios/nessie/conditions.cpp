#include "tools/scenarios/nessie/conditions.h"

namespace falafel::nessie_scenario {
namespace {

using nessie::Architecture;
using nessie::GiveUp;

void reached_if(check::Condition* condition, bool is_reached) {
  if (condition != nullptr) condition->reached_if(is_reached);
}

}  // namespace

Conditions::Conditions(check::World& world, const Kind& kind) {
  if (kind.variant == Variant::published) return;
  if (kind.architecture == Architecture::client_driven) {
    migrated_ = &world.sometimes("a client has moved an entry");
    lost_migration_ = &world.sometimes("a move has met another change of its slots");
    lost_swap_ = &world.sometimes("an operation has lost a compare-and-swap");
    invalid_entry_ = &world.sometimes("an operation has met an invalid entry");
  }
  if (kind.architecture != Architecture::server_driven) {
    watermarks_ = &world.sometimes("clients have polled on watermarks");
    changed_index_ = &world.sometimes("a reverse pass has found a change");
    changed_entry_ = &world.sometimes("a client has read an entry that was replaced meanwhile");
    deadline_ = &world.sometimes("an operation has taken longer than the expiration period");
  }
  if (kind.architecture != Architecture::client_driven) {
    timed_out_ = &world.sometimes("a response did not come in time");
    incomplete_response_ = &world.sometimes("a part of a response was there before the rest");
    incomplete_request_ = &world.sometimes("a part of a request was there before the rest");
    moved_ = &world.sometimes("a worker has moved an entry");
    waited_ = &world.sometimes("a worker has waited for a lock");
  }
}

void Conditions::note_watermarks() { reached_if(watermarks_, true); }

void Conditions::note(const nessie::OperationStatistics& statistics) {
  const auto gave_up = [&statistics](GiveUp reason) {
    return statistics.give_ups[static_cast<std::size_t>(reason)] > 0;
  };
  reached_if(migrated_, statistics.migrations > 0);
  reached_if(lost_migration_, statistics.lost_migrations > 0);
  reached_if(lost_swap_, gave_up(GiveUp::lost_swap));
  reached_if(invalid_entry_, gave_up(GiveUp::invalid_entry));
  reached_if(changed_index_, gave_up(GiveUp::changed_index));
  reached_if(changed_entry_, gave_up(GiveUp::changed_entry));
  reached_if(deadline_, gave_up(GiveUp::deadline));
  reached_if(timed_out_, statistics.timeouts > 0);
  reached_if(incomplete_response_, statistics.incomplete_looks > 0);
}

void Conditions::note(const nessie::ServiceStatistics& statistics) {
  reached_if(incomplete_request_, statistics.incomplete_looks > 0);
  reached_if(moved_, statistics.moves > 0);
  reached_if(waited_, statistics.lock_waits > 0);
}

}  // namespace falafel::nessie_scenario
