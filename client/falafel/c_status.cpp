#include "falafel/c_status.h"

namespace falafel {

falafel_status status_of(engine::Answer answer) {
  switch (answer) {
    case engine::Answer::found:
    case engine::Answer::stored:
    case engine::Answer::deleted: return FALAFEL_OK;
    case engine::Answer::not_found: return FALAFEL_NOT_FOUND;
    case engine::Answer::invalid_key: return FALAFEL_INVALID;
    case engine::Answer::value_too_large: return FALAFEL_VALUE_TOO_LARGE;
    case engine::Answer::table_full: return FALAFEL_TABLE_FULL;
    case engine::Answer::out_of_memory: return FALAFEL_STORE_FULL;
    case engine::Answer::corrupted: return FALAFEL_CORRUPTED;
    case engine::Answer::unknown_outcome: return FALAFEL_UNKNOWN_OUTCOME;
    case engine::Answer::disconnected: return FALAFEL_DISCONNECTED;
    case engine::Answer::timed_out: return FALAFEL_TIMED_OUT;
    case engine::Answer::not_a_cache: return FALAFEL_NOT_A_CACHE;
    case engine::Answer::differs: return FALAFEL_DIFFERS;
  }
  return FALAFEL_INVALID;
}

falafel_status status_of(const engine::SetResult& result) {
  return result.host_lacks_memory ? FALAFEL_OUT_OF_MEMORY : status_of(result.answer);
}

falafel_status status_of_reading(engine::Answer answer) {
  return answer == engine::Answer::out_of_memory ? FALAFEL_OUT_OF_MEMORY : status_of(answer);
}

falafel_status status_of(OpenProblem problem) {
  switch (problem) {
    case OpenProblem::invalid_options: return FALAFEL_INVALID;
    case OpenProblem::no_server: return FALAFEL_NO_SERVER;
    case OpenProblem::no_permission: return FALAFEL_NO_PERMISSION;
    case OpenProblem::other_version: return FALAFEL_OTHER_VERSION;
    case OpenProblem::refused: return FALAFEL_REFUSED;
    case OpenProblem::out_of_memory: return FALAFEL_OUT_OF_MEMORY;
    case OpenProblem::unreachable: return FALAFEL_UNREACHABLE;
  }
  return FALAFEL_INVALID;
}

}  // namespace falafel

const char* falafel_status_text(int status) {
  switch (status) {
    case FALAFEL_OK: return "ok";
    case FALAFEL_NOT_FOUND: return "not found";
    case FALAFEL_INVALID: return "invalid argument";
    case FALAFEL_NO_SERVER: return "no server uses this name";
    case FALAFEL_NO_PERMISSION: return "no permission";
    case FALAFEL_OTHER_VERSION: return "the server speaks a different protocol version";
    case FALAFEL_REFUSED: return "the server accepts no more clients";
    case FALAFEL_UNREACHABLE: return "the server does not answer";
    case FALAFEL_OUT_OF_MEMORY: return "this process is out of memory";
    case FALAFEL_TABLE_FULL: return "the store's table is full";
    case FALAFEL_STORE_FULL: return "the store's memory is full";
    case FALAFEL_VALUE_TOO_LARGE: return "the value is too large";
    case FALAFEL_CORRUPTED: return "corrupted";
    case FALAFEL_UNKNOWN_OUTCOME: return "unknown outcome";
    case FALAFEL_DISCONNECTED: return "disconnected";
    case FALAFEL_TIMED_OUT: return "the server did not answer in time";
    case FALAFEL_BUFFER_TOO_SMALL: return "the value is longer than the buffer";
    case FALAFEL_NOT_A_CACHE: return "the store is not a cache";
    case FALAFEL_DIFFERS: return "the key does not have the expected value";
  }
  return "unknown status";
}
