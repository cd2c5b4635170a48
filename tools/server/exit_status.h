// Exit statuses of the store's commands. docs/store.md lists them; the numbers must not change.
#pragma once

#include "engine/client/results.h"
#include "falafel/open_error.h"

namespace falafel::server_program {

enum ExitStatus : int {
  success = 0,
  not_found = 1,         // get, del: the key is not in the store
  wrong_usage = 2,       // an option or a setting is invalid, also for this store
  no_server = 3,         // no server uses this name
  no_permission = 4,     // this user may not connect or serve there
  other_version = 5,     // the protocol versions differ
  name_taken = 6,        // serve: another server uses this name or address
  no_memory = 7,         // serve, get, del, keys: this machine is out of memory
  table_full = 8,        // set
  store_full = 9,        // set
  wrong_size = 10,       // the key or the value is too large, or the key is empty
  server_refused = 11,   // it accepts no more clients or does not respond
  connection_lost = 12,  // nothing was changed
  unknown_outcome = 13,  // set, del: the change may or may not have happened
  corrupted = 14,        // get, keys: a stored container fails its checksum
  no_input_output = 15,  // a file or stream could not be read or written
  timed_out = 16,        // the server did not answer in time; nothing was changed
};

constexpr ExitStatus status_of(engine::Answer answer) {
  switch (answer) {
    case engine::Answer::found:
    case engine::Answer::stored:
    case engine::Answer::deleted: return success;
    case engine::Answer::not_found: return not_found;
    case engine::Answer::invalid_key:
    case engine::Answer::value_too_large: return wrong_size;
    case engine::Answer::table_full: return table_full;
    case engine::Answer::out_of_memory: return store_full;
    case engine::Answer::corrupted: return corrupted;
    case engine::Answer::unknown_outcome: return unknown_outcome;
    case engine::Answer::disconnected: return connection_lost;
    case engine::Answer::timed_out: return timed_out;
    case engine::Answer::differs:
    case engine::Answer::not_a_cache: return wrong_usage;
  }
  return wrong_usage;
}

// For get, del and keys, this machine is out of memory, not the store.
constexpr ExitStatus status_of_reading(engine::Answer answer) {
  return answer == engine::Answer::out_of_memory ? no_memory : status_of(answer);
}

constexpr ExitStatus status_of(OpenProblem problem) {
  switch (problem) {
    case OpenProblem::invalid_options: return wrong_usage;
    case OpenProblem::no_server: return no_server;
    case OpenProblem::no_permission: return no_permission;
    case OpenProblem::other_version: return other_version;
    case OpenProblem::refused:
    case OpenProblem::unreachable: return server_refused;
    case OpenProblem::out_of_memory: return no_memory;
  }
  return wrong_usage;
}

}  // namespace falafel::server_program
