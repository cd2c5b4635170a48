// Buffers of the C interface, and the parts of them that a get may use.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/client/results.h"
#include "engine/client/value_buffer.h"
#include "falafel/c_status.h"
#include "falafel/falafel.h"
#include "falafel/store.h"

struct falafel_buffer {
  const falafel::Store* store = nullptr;
  falafel::engine::ValueBuffer memory;
};

namespace falafel {

// Returns nullopt if the part is not within a buffer of this store. `store` may be null.
inline std::optional<engine::ValueBuffer> buffer_of(const falafel_part& part, const Store* store) {
  if (part.buffer == nullptr || part.buffer->store != store) return std::nullopt;
  const engine::ValueBuffer& whole = part.buffer->memory;
  if (part.offset > whole.size_bytes() || part.bytes > whole.size_bytes() - part.offset) {
    return std::nullopt;
  }
  return whole.part(part.offset, part.bytes);
}

// `buffer` is that of the part.
inline falafel_status deliver_into(const engine::GetResult& result,
                                   const engine::ValueBuffer& buffer, falafel_part& part,
                                   std::size_t& value_bytes) {
  if (result.answer != engine::Answer::found) return status_of_reading(result.answer);
  value_bytes = result.place ? result.place->length_bytes : result.value.size();
  if (!result.place) return FALAFEL_BUFFER_TOO_SMALL;
  part.value = buffer.bytes().data() + result.place->offset;
  return FALAFEL_OK;
}

}  // namespace falafel
