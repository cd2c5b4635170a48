// The answers of all comparison stores. Their names are those of engine::Answer where the meaning
// is the same.
#pragma once

#include <cstdint>
#include <string_view>

namespace falafel::stores {

enum class Answer : std::uint8_t {
  found,            // GET: the value is in the result
  not_found,        // GET, DELETE: the key is not in the store
  stored,           // PUT
  deleted,          // DELETE
  invalid_key,      // the key is empty; nothing was changed
  value_too_large,  // PUT: key and value exceed the store's limit; nothing was changed
  out_of_memory,    // PUT: the store could not grow; nothing was changed
  table_full,       // PUT, DELETE: no slot could be freed for the key; nothing was changed
  busy,             // the operation gave up because of concurrent ones; nothing was changed
  unknown_outcome,  // PUT, DELETE: the change has happened, will happen, or never happens
  disconnected,     // the server is gone or does not answer; this operation changed nothing
};
std::string_view to_string(Answer answer);

}  // namespace falafel::stores
