#include "falafel/c_conversions.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace falafel {

void write_message(std::string_view text, char* message, std::size_t message_bytes) {
  if (message == nullptr || message_bytes == 0) return;
  const std::size_t length = std::min(text.size(), message_bytes - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

falafel_status copy_value(std::span<const std::byte> value, void** copy, std::size_t* copy_bytes) {
  void* const memory = std::malloc(std::max<std::size_t>(value.size(), 1));
  if (memory == nullptr) return FALAFEL_OUT_OF_MEMORY;
  std::copy_n(value.data(), value.size(), static_cast<std::byte*>(memory));
  *copy = memory;
  *copy_bytes = value.size();
  return FALAFEL_OK;
}

falafel_status copy_text(std::string_view text, char** copy) {
  auto* const memory = static_cast<char*>(std::malloc(text.size() + 1));
  if (memory == nullptr) return FALAFEL_OUT_OF_MEMORY;
  write_message(text, memory, text.size() + 1);
  *copy = memory;
  return FALAFEL_OK;
}

}  // namespace falafel
