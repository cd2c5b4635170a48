#include "tools/benchmarks/store/board.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "fabric/assert.h"

namespace falafel::store_benchmark {

void SharedText::set(std::string_view text) {
  const std::string_view fitting = text.substr(0, characters_.size() - 1);
  *std::ranges::copy(fitting, characters_.begin()).out = '\0';
}

namespace {

// The parts of the clients follow the board.
static_assert(sizeof(Board) % alignof(ClientPart) == 0);
static_assert(std::is_trivially_destructible_v<Board> &&
              std::is_trivially_destructible_v<ClientPart>);

std::size_t size_of_board(std::size_t clients) {
  return sizeof(Board) + clients * sizeof(ClientPart);
}

}  // namespace

void UnmapBoard::operator()(Board* board) const {
  munmap(board, size_of_board(board->clients.size()));
}

SharedBoard make_shared_board(std::size_t clients) {
  const std::size_t size_bytes = size_of_board(clients);
  void* const memory =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FALAFEL_ASSERT(memory != MAP_FAILED, "cannot allocate {} bytes of memory for the board",
                 size_bytes);
  SharedBoard board(new (memory) Board);
  auto* const parts =
      reinterpret_cast<ClientPart*>(static_cast<std::byte*>(memory) + sizeof(Board));
  std::uninitialized_value_construct_n(parts, clients);
  board->clients = {parts, clients};
  return board;
}

}  // namespace falafel::store_benchmark
